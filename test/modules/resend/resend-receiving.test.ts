/** Received mail in the interface of Resend (docs/resend.md). */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { type InboundApp, inboundApp, mail } from "../inbound-routes/inbound-app.ts";

const TO = "support@in.acme.test";
const PIXEL = Buffer.from("GIF89a").toString("base64");
const MESSAGE = mail(
  [
    "From: =?utf-8?q?Ad=C3=A9?= <ada@example.net>",
    "To: Support <support@in.acme.test>",
    "Cc: bob@example.net",
    "Reply-To: replies@example.net",
    "Message-ID: <1@example.net>",
    "Subject: A question",
    "X-Note: first",
    "X-Note: second",
    "MIME-Version: 1.0",
    "Content-Type: multipart/mixed; boundary=b",
  ],
  [
    ["text/html", '<img src="cid:logo">'],
    ["text/csv; name=a.csv", "a,b", "Content-Disposition: attachment; filename=a.csv"],
    [
      "image/gif; name=l.gif",
      PIXEL,
      "Content-Transfer-Encoding: base64",
      "Content-ID: <logo>",
      "Content-Disposition: inline",
    ],
  ]
    .map(([type, body, ...lines]) =>
      ["--b", `Content-Type: ${type}`, ...lines, "", body, ""].join("\n"),
    )
    .concat("--b--")
    .join(""),
);

let t: InboundApp;
let ids: string[] = [];
beforeAll(async () => {
  t = await inboundApp();
  await t.start();
  await t.route(TO);
  for (const message of [MESSAGE, mail(["From: bob@example.net", "Subject: Later"])]) {
    await t.submit(message, { to: [TO] });
  }
  ids = listAt((await list()).body, "data").map((each) => stringAt(each, "id"));
});
afterAll(() => t.close());

const list = (query = "") => t.call("GET", `/resend/emails/receiving${query}`);
const read = (path: string) => t.call("GET", `/resend/emails/receiving/${ids[1]}${path}`);

const CSV = { filename: "a.csv", content_type: "text/csv", size: 3 };
const GIF = { filename: "l.gif", content_type: "image/gif", content_id: "logo", size: 6 };

test("the list has the mails, newest first, and takes limit and after", async () => {
  const { body } = await list("?limit=1");
  expect(body).toMatchObject({ object: "list", has_more: true, data: [{ subject: "Later" }] });
  const next = (await list(`?limit=1&after=${ids[0]}`)).body;
  expect(next).toEqual({
    object: "list",
    has_more: false,
    data: [
      {
        id: ids[1],
        to: ["Support <support@in.acme.test>"],
        from: "Adé <ada@example.net>",
        created_at: expect.any(String),
        subject: "A question",
        bcc: [],
        cc: ["bob@example.net"],
        reply_to: ["replies@example.net"],
        received_for: [TO],
        message_id: "<1@example.net>",
        attachments: [
          { id: expect.any(String), ...CSV, content_disposition: "attachment", content_id: null },
          { id: expect.any(String), ...GIF, content_disposition: "inline" },
        ],
      },
    ],
  });
});

test("a mail has its texts and header, and its images in the HTML unless cid is asked for", async () => {
  const { body } = await read("");
  expect(body).toMatchObject({
    object: "email",
    id: ids[1],
    html: `<img src="data:image/gif;base64,${PIXEL}">`,
    headers: { subject: "A question", "x-note": "first" },
    raw: { expires_at: new Date(t.clock.now() + 3_600_000).toISOString() },
  });
  expect((await read("?html_format=cid")).at("html")).toBe('<img src="cid:logo">');
  expect((await read("?html_format=file")).status).toBe(422);
});

/** The answer to a link of an answer, without a key. */
async function follow(answer: unknown, path: string) {
  const url = new URL(stringAt(answer, path));
  const { status, body, headers } = await t.call("GET", url.pathname, undefined, { key: null });
  return { status, body, type: headers.get("content-type") };
}

test("links to the files and to the message need no key, and expire after an hour", async () => {
  const { body } = await read("/attachments");
  expect(body).toMatchObject({ object: "list", has_more: false, data: [CSV, GIF] });
  const id = stringAt(listAt(body, "data")[0], "id");
  const one = (await read(`/attachments/${id}`)).body;
  expect(one).toEqual({
    object: "attachment",
    id,
    ...CSV,
    content_disposition: "attachment",
    download_url: expect.any(String),
    expires_at: expect.any(String),
  });
  expect(await follow(one, "download_url")).toMatchObject({ status: 200, body: "a,b" });
  const whole = (await read("")).body;
  expect(await follow(whole, "raw.download_url")).toEqual({
    status: 200,
    body: expect.stringContaining("X-Note: second"),
    type: "message/rfc822",
  });
  t.clock.advance(3_600_000);
  expect((await follow(one, "download_url")).status).toBe(404);
});

test.each([
  ["GET", "/resend/emails/receiving/none", 404],
  ["GET", "/resend/emails/receiving/none/attachments", 404],
  ["GET", "/resend/downloads/bm9uZQ", 404],
  ["GET", "/resend/emails/receiving?after=none", 422],
])("%s %s is answered with %d", async (method, path, status) => {
  const answer = await t.call(method, path);
  expect([answer.status, answer.at("statusCode")]).toEqual([status, status]);
});

test("the files of a mail are listed in pages, and one that it does not have is not found", async () => {
  const [first, second] = listAt((await read("/attachments")).body, "data").map((each) =>
    stringAt(each, "id"),
  );
  const page = async (query: string) => {
    const { body } = await read(`/attachments?${query}`);
    return [valueAt(body, "has_more"), listAt(body, "data").map((each) => valueAt(each, "id"))];
  };
  expect(await page("limit=1")).toEqual([true, [first]]);
  expect(await page(`after=${first}`)).toEqual([false, [second]]);
  expect(await page(`before=${second}`)).toEqual([false, [first]]);
  expect((await read("/attachments?before=none")).status).toBe(422);
  expect((await read("/attachments/none")).status).toBe(404);
});
