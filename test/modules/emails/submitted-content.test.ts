/** The content of mails that were submitted over SMTP: it is read from the stored message. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAt, valueAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { sendRaw } from "../../support/smtp-client.ts";
import { submissionApp } from "../../support/submission.ts";

let server: Awaited<ReturnType<typeof submissionApp>>;
beforeAll(async () => {
  server = await submissionApp();
  // The first message that is read starts the thread that parses them.
  await read(await submit("Content-Type: text/plain\r\n\r\nFirst"), "checks");
});
afterAll(() => server.close());

const HEADER =
  "From: Ada <ada@acme.test>\r\nTo: Bob <bob@example.com>\r\nSubject: Hello\r\n" +
  "MIME-Version: 1.0\r\n";

/** Submits a message and returns the id of its mail. */
async function submit(message: string): Promise<string> {
  const client = await server.signIn();
  const reply = await sendRaw(client, HEADER + message, { to: ["bob@example.com"] });
  client.end();
  expect(reply).toStartWith("250 ");
  return reply.slice(-36);
}

const read = (id: string, part: string) => server.call("GET", `/emails/${id}/${part}`);

test("a message with files has its parts, and its inline images in the preview", async () => {
  const id = await submit(
    'Content-Type: multipart/related; boundary="b"\r\n\r\n' +
      "--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" +
      '<p>Hi <img src="cid:logo"><a href="https://a.test/">a</a></p>\r\n' +
      "--b\r\nContent-Type: image/png\r\nContent-ID: <logo>\r\nContent-Disposition: inline\r\n" +
      "Content-Transfer-Encoding: base64\r\n\r\ncG5n\r\n" +
      "--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n" +
      "a,b\r\n--b--\r\n",
  );
  const content = await read(id, "content");
  expect(content.at("data")).toMatchObject({
    subject: "Hello",
    isMarketing: false,
    usesCurrentData: false,
  });
  expect(content.text("data.html")).toContain('<p>Hi <img src="cid:logo">');
  const files = listAt(content.body, "data.attachments");
  expect(files.map((file) => valueAt(file, "contentType"))).toEqual(["image/png", "text/csv"]);
  expect(files.map((file) => valueAt(file, "filename"))).toContain("a.csv");
  const preview = String((await read(id, "preview")).body);
  expect(preview).toContain('<img src="data:image/png;base64,cG5n">');
  expect(preview).toContain('href="https://a.test/" target="_blank"');
  expect(String((await read(id, "source")).body)).toContain("Content-ID: <logo>");
  expect((await read(id, "checks")).at("data.urls")).toEqual(["https://a.test/"]);
});

test("a message without HTML is previewed as text", async () => {
  const id = await submit("Content-Type: text/plain\r\n\r\nHi <b>Bob</b>");
  const preview = await read(id, "preview");
  expect(preview.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(preview.headers.get("content-security-policy")).toStartWith("sandbox ");
  expect(String(preview.body).trim()).toBe("Hi <b>Bob</b>");
});

test("a message that was purged has no content", async () => {
  const id = await submit("Content-Type: text/plain\r\n\r\nGone");
  server.db.sqlite.run("DELETE FROM message_pieces");
  server.db.sqlite.run("UPDATE messages SET digest = 'purged ' || seq");
  for (const part of ["content", "preview", "source", "checks"]) {
    expectError(await read(id, part), { status: 404, code: "CONTENT_PURGED" });
  }
});
