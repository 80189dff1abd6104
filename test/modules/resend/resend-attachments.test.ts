/** The files of mail that was sent, in the interface of Resend (docs/resend.md). */

import { beforeEach, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const mail = { from: "a@acme.test", to: "ada@example.com", subject: "Hi", html: "<p>Hi</p>" };

test("the files of a mail are listed, and each has a link that needs no key", async () => {
  const csv = { filename: "a.csv", content: Buffer.from("a,b").toString("base64") };
  const logo = { filename: "l.gif", content: "R0lG", content_id: "logo" };
  const id = (await t.call("POST", "/resend/emails", { ...mail, attachments: [csv, logo] })).text(
    "id",
  );
  const path = `/resend/emails/${id}/attachments`;
  const { body } = await t.call("GET", path);
  const shown = (each: object) => ({
    id: expect.any(String),
    size: 3,
    download_url: expect.any(String),
    expires_at: expect.any(String),
    ...each,
  });
  const [, first] = listAt(body, "data");
  expect(body).toEqual({
    object: "list",
    has_more: false,
    data: [
      shown({
        filename: "l.gif",
        content_type: "image/gif",
        content_disposition: "inline",
        content_id: "logo",
      }),
      shown({ filename: "a.csv", content_type: "text/csv", content_disposition: "attachment" }),
    ],
  });
  const one = await t.call("GET", `${path}/${stringAt(first, "id")}`);
  expect(one.body).toMatchObject({ object: "attachment", filename: "a.csv", size: 3 });
  const link = new URL(one.text("download_url")).pathname;
  const { body: content } = await t.call("GET", link, undefined, { key: null });
  expect(content).toBe("a,b");
  expect((await t.call("GET", `${path}/none`)).status).toBe(404);
  expect((await t.call("GET", "/resend/emails/none/attachments")).status).toBe(404);
});
