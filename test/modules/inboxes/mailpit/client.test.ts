/** The published client `mailpit-api`, with all its calls, against Mailpit's interface of `dev`. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { MailpitClient } from "mailpit-api";
import { mailpitApp } from "../../../support/mailpit.ts";
import { inboxParts } from "../../../support/inbox-parts.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";

let server: Awaited<ReturnType<typeof mailpitApp>>;
let client: MailpitClient;
beforeAll(async () => {
  server = await mailpitApp({
    config: { port: 0 },
    fetchGuarded: async () => ({
      status: 200,
      headers: new Headers(),
      body: new Uint8Array(),
      isTruncated: false,
    }),
  });
  const port = await server.app.listen();
  const { name } = server.inbox;
  const password = inboxParts(server.app.app).inboxes.passwordOf(server.inbox);
  client = new MailpitClient(`http://127.0.0.1:${port}`, { auth: { username: name, password } });
});
afterAll(() => server.close());

async function send(): Promise<string> {
  const { ID } = await client.sendMessage({
    From: { Email: "a@example.com", Name: "Ann" },
    To: [{ Email: "b@example.com" }],
    Subject: "Hi there",
    Text: "text",
    HTML: `<a href="https://example.com">x</a><dialog></dialog><img src="cid:i">`,
    Tags: ["one"],
    Attachments: [{ Content: PNG, Filename: "a.png", ContentID: "i" }],
  });
  return ID;
}

test("sends, lists, searches, waits and reads", async () => {
  await client.deleteMessages();
  const id = await send();
  expect((await client.listMessages(0, 10)).messages[0]?.ID).toBe(id);
  expect((await client.searchMessages({ query: "to:b@example.com" })).messages_count).toBe(1);
  expect((await client.waitForMessage({ query: "subject:hi" })).ID).toBe(id);
  expect((await client.waitForMessages({ query: "subject:hi", count: 1 })).count).toBe(1);
  const message = await client.getMessageSummary();
  expect(message.Inline[0]?.ContentID).toBe("i");
  expect((await client.getMessageHeaders(id))["Subject"]).toEqual(["Hi there"]);
  expect(await client.getMessageSource()).toContain("Subject: Hi there");
  const partId = message.Inline[0]?.PartID ?? "";
  expect((await client.getMessageAttachment(id, partId)).type).toBe("image/png");
  expect((await client.getAttachmentThumbnail(id, partId)).type).toBe("image/jpeg");
  const shown = message.HTML.replace("cid:i", `/api/v1/message/${id}/part/${partId}`);
  expect(await client.renderMessageHTML()).toBe(shown);
  expect(await client.renderMessageHTML(id, 1)).toContain(`rel="noreferrer noopener"`);
  expect(await client.renderMessageText()).toBe("text");
});

test("changes state and tags, and deletes", async () => {
  const id = await send();
  expect(await client.setReadStatus({ IDs: [id], Read: true })).toBe("ok");
  expect(await client.setReadStatus({ Search: "subject:hi", Read: false }, { tz: "UTC" })).toBe(
    "ok",
  );
  expect(await client.setTags({ IDs: [id], Tags: ["two"] })).toBe("ok");
  expect(await client.renameTag("two", "three")).toBe("ok");
  expect(await client.getTags()).toContain("three");
  expect(await client.deleteTag("three")).toBe("ok");
  expect(await client.deleteMessages({ IDs: [id] })).toBe("ok");
  expect(await client.deleteMessagesBySearch({ query: "subject:hi" })).toBe("ok");
  expect((await client.listMessages()).total).toBe(0);
});

test("reads state and settings, checks messages, and sets chaos", async () => {
  const id = await send();
  expect((await client.getInfo()).Messages).toBe(1);
  expect((await client.getConfiguration()).ChaosEnabled).toBe(true);
  expect((await client.htmlCheck(id)).Warnings.length).toBeGreaterThan(0);
  expect((await client.linkCheck(id, true)).Errors).toBe(0);
  const sender = { ErrorCode: 451, Probability: 5 };
  expect((await client.setChaosTriggers({ Sender: sender })).Sender).toEqual(sender);
  expect((await client.getChaosTriggers()).Sender).toEqual(sender);
  await client.setChaosTriggers();
  expect(await failureOf(client.spamAssassinCheck(id))).toContain(" 404 ");
  const release = client.releaseMessage(id, { To: ["x@example.com"] });
  expect(await failureOf(release)).toContain(" 400 ");
});

const failureOf = (call: Promise<unknown>): Promise<string> =>
  call.then(() => "it succeeded", String);
