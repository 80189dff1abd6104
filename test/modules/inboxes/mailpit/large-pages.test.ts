/** The pages of MailHog's list, whose answers contain complete messages. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAt, stringAt, valueAt } from "../../../support/json.ts";
import { inboxParts } from "../../../support/inbox-parts.ts";
import { basic, mailpitApp } from "../../../support/mailpit.ts";

const MIB = 1024 * 1024;

let server: Awaited<ReturnType<typeof mailpitApp>>;
beforeAll(async () => {
  server = await mailpitApp();
  const line = `${"0123456789abcdef".repeat(60)}\n`;
  const mail = (number: number, bytes: number) =>
    `From: ada@example.com\nSubject: ${number}\n\n${line.repeat(Math.floor(bytes / line.length))}`;
  // The list begins with the newest.
  await server.deliver(mail(4, MIB / 2));
  await server.deliver(mail(3, 9 * MIB));
  for (const number of [2, 1]) await server.deliver(mail(number, MIB / 2));
});
afterAll(() => server.close());

test("a page has messages of 8 MiB in all, and the next one starts after them", async () => {
  const subjects: string[][] = [];
  for (let start = 0; start < 4;) {
    const { body } = await server.mailpit("GET", `/api/v2/messages?start=${start}`);
    const items = listAt(body, "items");
    subjects.push(items.map((item) => stringAt(item, "Content.Headers.Subject.0")));
    expect(valueAt(body, "count")).toBe(items.length);
    start += items.length;
  }
  expect(subjects).toEqual([["1", "2"], ["3"], ["4"]]);
});

test("a deeply nested message is not repeated for each of its levels", async () => {
  const boundary = (level: number) => `level-${level}`;
  const text = `${"0123456789abcdef".repeat(4)}\n`.repeat(2_000);
  let content = `Content-Type: text/plain\n\n${text}`;
  for (let level = 29; level >= 0; level--) {
    const type = `Content-Type: multipart/mixed; boundary="${boundary(level)}"`;
    content = `${type}\n\n--${boundary(level)}\n${content}\n--${boundary(level)}--\n`;
  }
  const id = await server.deliver(`From: ada@example.com\nSubject: nested\n${content}`);
  const { body } = await server.mailpit("GET", `/api/v1/messages/${id}`);
  expect(JSON.stringify(body).length).toBeLessThan(4 * text.length);
  expect(stringAt(body, "MIME.Parts.0.MIME.Parts.0.Headers.Content-Type.0")).toContain(boundary(2));
});

test("a list without a limit has all messages, in the order of their arrival", async () => {
  const { inboxes } = inboxParts(server.app.app);
  const insert = server.db.sqlite.prepare(`
    INSERT INTO inbox_messages (id, inbox_seq, state, received_at, size, stored_bytes, envelope, username,
                                subject, is_read)
    VALUES (?, ?, 'PARSED', 0, 0, 0, '{}', '', ?, ?)`);
  const many = await server.app.app.writer.write(() => {
    const { seq } = inboxes.create(server.project.seq, { name: "many" })();
    for (let i = 0; i < 450; i++) insert.run(`many-${i}`, seq, `${i}`, i % 3 === 0 ? 1 : 0);
    return inboxes.get(server.project.seq, "many");
  });
  const authorization = basic(many.name, inboxes.passwordOf(many));
  const list = async (parameters: string) =>
    (await server.mailpit("GET", `/api/v1/messages?${parameters}`, { headers: { authorization } }))
      .body;
  const subjects = (body: unknown) =>
    listAt(body, "messages").map((message) => stringAt(message, "Subject"));
  const newestFirst = Array.from({ length: 450 }, (_, i) => `${449 - i}`);
  const all = await list("limit=0");
  const numbers = { total: 450, unread: 300, messages_count: 450, messages_unread: 300 };
  expect(all).toMatchObject({ ...numbers, count: 450, start: 0, tags: [] });
  expect(subjects(all)).toEqual(newestFirst);
  const page = await list("start=440&limit=20");
  expect([subjects(page), valueAt(page, "count")]).toEqual([newestFirst.slice(440), 10]);
  expect(await list("start=500")).toMatchObject({ total: 450, count: 0, messages: [] });
});
