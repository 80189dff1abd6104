/** X-Mailstead-Tags and X-Mailstead-Scheduled-At of submitted messages. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sendRaw } from "../support/smtp-client.ts";
import { submissionApp } from "../support/submission.ts";

let server: Awaited<ReturnType<typeof submissionApp>>;
beforeAll(async () => {
  server = await submissionApp();
});
afterAll(() => server.close());

async function submit(...fields: string[]): Promise<string> {
  const client = await server.signIn();
  const head = ["From: a@acme.test", "Subject: S", ...fields].join("\r\n");
  const reply = await sendRaw(client, `${head}\r\n\r\nHi`, { to: ["bob@example.com"] });
  client.end();
  return reply;
}

const record = async (reply: string) =>
  (await server.call("GET", `/emails/${reply.slice(-36)}`)).at("data");

describe("a submitted message", () => {
  test("has the tags and the time of its header, which does not go on", async () => {
    const at = new Date(server.clock.now() + 60_000).toISOString();
    const reply = await submit(
      "X-Mailstead-Tags: order=1001; kind = Größe L ;",
      `X-Mailstead-Scheduled-At: ${at}`,
    );
    expect(await record(reply)).toMatchObject({
      status: "QUEUED",
      scheduledAt: at,
      nextAttemptAt: at,
      tags: { order: "1001", kind: "Größe L" },
    });
    server.clock.advance(60_000);
    const [raw = ""] = await server.sent(1);
    expect(raw).not.toContain("X-Mailstead-Tags");
    expect(raw).not.toContain("1001");
  });

  test.each([
    "X-Mailstead-Tags: order",
    "X-Mailstead-Tags: a b=c",
    "X-Mailstead-Tags: a=",
    "X-Mailstead-Tags: a=1; a=2",
    `X-Mailstead-Tags: ${Array.from({ length: 11 }, (_, i) => `t${i}=x`).join("; ")}`,
    "X-Mailstead-Scheduled-At: tomorrow",
    "X-Mailstead-Scheduled-At: 2001-01-01T00:00:00Z",
    "X-Mailstead-Scheduled-At: 2199-01-01T00:00:00Z",
  ])("is refused with %s", async (field) => {
    const before = server.countRows("emails");
    expect(await submit(field)).toStartWith(
      `550 5.6.0 ${field.slice(0, field.indexOf(":"))} must be`,
    );
    expect(server.countRows("emails")).toBe(before);
  });
});
