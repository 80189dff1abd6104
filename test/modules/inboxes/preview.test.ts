/** GET …/preview and the support of mail programs in …/checks. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type InboxApp, inboxApp } from "../../support/inbox.ts";
import { listAt } from "../../support/json.ts";

const MESSAGE = "/inboxes/default/messages/latest";
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let t: InboxApp;
beforeAll(async () => {
  t = await inboxApp();
});
afterAll(() => t.close());

async function preview(query: string) {
  const { headers, body } = await t.call("GET", `${MESSAGE}/preview?${query}`);
  return { policy: headers.get("content-security-policy") ?? "", body: String(body) };
}

test("the preview has its inline images, and no script and no address of the key", async () => {
  await t.mail({
    html: '<script>x</script><img src="cid:logo"><img src="cid:missing"><img src="https://a.example/b.png">',
    attachments: [
      { cid: "logo", filename: "logo.png", content: Buffer.from(PIXEL, "base64") },
      { cid: "page", filename: "page.html", content: "<p>" },
    ],
  });
  const { policy, body } = await preview("");
  expect(body).toContain(`<img src="data:image/png;base64,${PIXEL}">`);
  expect(body).toContain('src="cid:missing"');
  expect(body).not.toContain("<script");
  expect(policy).toContain("sandbox allow-popups");
  expect(policy).toContain("img-src data:;");
  expect((await preview("images=true")).policy).toContain("img-src data: https: http:;");
  expect((await preview("part=text")).body).not.toContain("<img");
});

test("a dark preview inverts a mail, unless it has styles for dark themes", async () => {
  await t.mail({ html: "<p>Hello</p>" });
  expect((await preview("dark=true")).body).toContain("invert(");
  expect((await preview("")).body).not.toContain("invert(");
  await t.mail({
    html: "<style>@media (prefers-color-scheme: dark) { p { color: #fff } }</style><p>",
  });
  expect((await preview("dark=true")).body).not.toContain("invert(");
});

test("the checks say which features not all mail programs support", async () => {
  await t.mail({ html: '<p style="display:grid">Hello</p>' });
  const { body } = await t.call("GET", `${MESSAGE}/checks`);
  expect(listAt(body, "data.features")).toContainEqual(
    expect.objectContaining({ slug: "css-display-grid", uses: 1 }),
  );
});
