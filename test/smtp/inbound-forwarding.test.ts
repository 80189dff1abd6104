/** Forwarding by inbound routes: envelope, message, bounces of forwarded mail, loops. */

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type InboundApp, inboundApp, mail } from "../modules/inbound-routes/inbound-app.ts";
import { addDomain } from "../support/app.ts";
import { listAt, valueAt } from "../support/json.ts";

const DAY_MS = 24 * 3_600_000;
const HEAD = [
  "From: Ada <ada@example.net>",
  "To: team@in.acme.test",
  "Subject: Question",
  "Message-ID: <one@example.net>",
];
const TO = "team@in.acme.test";
const TARGET = "bob@example.org";

let t: InboundApp;
beforeAll(async () => {
  t = await inboundApp();
  await t.start();
  await t.route(TO, TARGET);
});
beforeEach(() => void t.transport.handed.splice(0));
afterAll(() => t.close());

/** Sends a message, and returns the one mail that left. */
async function forward(message: string | Uint8Array, { from = "ada@example.net", to = TO } = {}) {
  const { dot } = await t.submit(message, { from, to: [to] });
  expect(dot).toBe("250 2.0.0 Ok: received");
  await t.deliver();
  expect(t.transport.handed).toHaveLength(1);
  const [handed] = t.transport.handed.splice(0);
  if (handed === undefined) throw new Error("nothing left");
  const { envelope, isEightBit, message: bytes } = handed.object;
  return { envelope, isEightBit, message: Buffer.from(bytes).toString("latin1") };
}

describe("a forwarded mail", () => {
  test("has the message unchanged below two fields, and a sender of the route's domain", async () => {
    const raw = mail(HEAD, "  Hello\t \n.\n..two dots");
    const stuffed = raw.replaceAll("\r\n.", "\r\n..");
    const { envelope, isEightBit, message } = await forward(stuffed);
    expect(envelope.to).toBe(TARGET);
    expect(envelope.from).toMatch(
      /^SRS0=[a-z2-7]{9,}=[a-z2-7]{2}=example\.net=ada@in\.acme\.test$/,
    );
    expect(isEightBit).toBe(false);
    const [delivered = "", received = "", by = "", recipient = "", date = ""] =
      message.split("\r\n");
    expect(delivered).toBe("Delivered-To: team@in.acme.test");
    expect(received).toBe("Received: from mx.example.net ([127.0.0.1])");
    expect(by).toMatch(/^\tby sender\.test with ESMTP id \S+$/);
    expect(recipient).toBe("\tfor <team@in.acme.test>;");
    expect(date).toMatch(/^\t\w{3}, \d{2} \w{3} \d{4} [\d:]{8} \+0000$/);
    const trace = [delivered, received, by, recipient, date, ""].join("\r\n");
    expect(message.slice(trace.length)).toBe(raw);
  });

  test("is a record with attempts, and named by the event", async () => {
    await forward(mail(HEAD));
    const data = t.received().at(-1);
    const [id = ""] = listAt(data, "forwarded").map(String);
    expect(await t.email(id)).toMatchObject({
      to: TARGET,
      from: "ada@example.net",
      subject: "Question",
      status: "SENT",
      contactId: null,
    });
    expect(t.eventsOf(id).map(({ name }) => name)).toEqual(["email.sent"]);
  });

  test("is not signed, although From has a domain with keys", async () => {
    await addDomain(t.app, t.project.seq, "keys.test");
    const { message } = await forward(mail(["From: boss@keys.test", ...HEAD.slice(1)]));
    expect(message).not.toContain("DKIM-Signature");
    await t.sent("x@example.net", { from: "hello@keys.test" });
    const [own] = t.transport.handed;
    expect(Buffer.from(own?.object.message ?? []).toString()).toContain("DKIM-Signature");
  });

  test("with 8-bit text needs a server that takes it", async () => {
    const { isEightBit, message } = await forward(Buffer.from(mail(HEAD, "Grüße"), "latin1"));
    expect(isEightBit).toBe(true);
    expect(message).toContain("\r\n\r\nGrüße\r\n");
  });

  test("of several MiB is the same octet for octet", async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i} `.padEnd(60, "x"));
    const raw = mail(HEAD, lines.join("\n"));
    const { message } = await forward(raw);
    expect(message.endsWith(raw)).toBe(true);
    expect(message.length - raw.length).toBeLessThan(400);
  });

  test("keeps the null sender", async () => {
    const { envelope } = await forward(mail(HEAD), { from: "" });
    expect(envelope).toEqual({ from: "", to: TARGET });
  });

  test("to a suppressed address does not leave", async () => {
    await t.route("s@in.acme.test", "suppressed@example.org");
    await t.call("POST", "/suppressions", { email: "suppressed@example.org" });
    await t.submit(mail(HEAD), { to: ["s@in.acme.test"] });
    await t.deliver();
    const [id = ""] = listAt(t.received().at(-1), "forwarded").map(String);
    expect(await t.email(id)).toMatchObject({ status: "SUPPRESSED" });
    expect(t.transport.handed).toEqual([]);
  });

  test("for two routes that forward to the same address leaves once", async () => {
    await t.route("*@in.acme.test", TARGET);
    const { dot } = await t.submit(mail(HEAD), { to: [TO, "other@in.acme.test"] });
    expect(dot).toBe("250 2.0.0 Ok: received");
    await t.deliver();
    expect(t.transport.handed.map(({ object }) => object.envelope.to)).toEqual([TARGET]);
  });
});

describe("a bounce of forwarded mail", () => {
  const BOUNCE = mail(
    ["From: MAILER-DAEMON@example.org", "Subject: Undelivered", "Auto-Submitted: auto-replied"],
    "bob does not exist",
  );

  test("goes back to the original sender, and is no event", async () => {
    const { envelope } = await forward(mail(HEAD));
    const before = t.received().length;
    const returned = await forward(BOUNCE, { from: "", to: envelope.from });
    expect(returned.envelope).toEqual({ from: "", to: "ada@example.net" });
    expect(returned.message.endsWith(BOUNCE)).toBe(true);
    expect(returned.message).toStartWith("Received: ");
    expect(t.received()).toHaveLength(before);
  });

  test("goes back by way of the first forwarder, if there were two", async () => {
    const first = "SRS0=HHH=TT=example.net=ada@first.example";
    const { envelope } = await forward(mail(HEAD), { from: first });
    expect(envelope.from).toMatch(
      /^SRS1=[a-z2-7]{9,}=first\.example==HHH=TT=example\.net=ada@in\.acme\.test$/,
    );
    const returned = await forward(BOUNCE, { from: "", to: envelope.from });
    expect(returned.envelope).toEqual({ from: "", to: first });
  });

  test("goes back to an address five times, and to those of other mails then", async () => {
    const { envelope } = await forward(mail(HEAD));
    const other = await forward(mail(HEAD));
    for (let i = 0; i < 5; i++) await forward(BOUNCE, { from: "", to: envelope.from });
    expect((await t.submit(BOUNCE, { from: "", to: [envelope.from] })).rcpt).toEqual([
      "550 5.1.1 No such address here",
    ]);
    const returned = await forward(BOUNCE, { from: "", to: other.envelope.from });
    expect(returned.envelope.to).toBe("ada@example.net");
    const [last] = listAt((await t.call("GET", "/received-mails?limit=1")).body, "data.items");
    expect(valueAt(last, "inReplyTo")).toBeString();
  });

  test("is refused at the host of another project, although its address has a valid hash", async () => {
    const { project } = await t.makeProject("other");
    t.db.sqlite.run(
      `INSERT INTO inbound_routes (id, project_seq, address, domain, created_at)
       VALUES ('r', ?, 'team@in.other.test', 'in.other.test', 0)`,
      [project.seq],
    );
    const { envelope } = await forward(mail(HEAD));
    const moved = envelope.from.replace("@in.acme.test", "@in.other.test");
    const { rcpt } = await t.submit(BOUNCE, { from: "", to: [moved] });
    expect(rcpt).toEqual(["550 5.1.1 No such address here"]);
    expect((await t.submit(mail(HEAD), { to: ["team@in.other.test"] })).dot).toStartWith("250 ");
  });

  test("is refused if it is no bounce, forged, for another domain or too late", async () => {
    const { envelope } = await forward(mail(HEAD));
    const replyTo = async (to: string, from = "") =>
      (await t.submit(BOUNCE, { from, to: [to] })).rcpt;
    const none = ["550 5.1.1 No such address here"];
    expect(await replyTo(envelope.from, "spam@example.com")).toEqual([
      "550 5.7.1 Only bounces are received for this address",
    ]);
    expect(await replyTo(envelope.from.replace("=ada@", "=eve@"))).toEqual(none);
    expect(await replyTo(envelope.from.replace("@in.acme.test", "@acme.test"))).toEqual(none);
    t.clock.advance(31 * DAY_MS);
    expect(await replyTo(envelope.from)).toEqual(none);
  });
});

test("a message that comes back is refused, so a loop ends", async () => {
  const { message } = await forward(mail(HEAD));
  const again = await t.submit(message, { to: [TO] });
  expect(again.dot).toBe("554 5.4.6 The message is in a loop of mail servers");
  await t.deliver();
  expect(t.transport.handed).toEqual([]);
});

test("the storage holds no piece of a message that was refused", async () => {
  const pieces = t.countRows("message_pieces");
  const large = mail(
    ["Delivered-To: team@in.acme.test", ...HEAD],
    `${"x".repeat(900)}\n`.repeat(2_500),
  );
  expect((await t.submit(large, { to: [TO] })).dot).toStartWith("554 5.4.6 ");
  expect(t.countRows("message_pieces")).toBe(pieces);
});

test("a full queue puts the sender off, and nothing is kept", async () => {
  const full = await inboundApp({ config: { quotaQueuedMails: 1, requireVerifiedDomain: true } });
  await full.start();
  await full.route(TO, TARGET);
  full.transport.answer = null;
  const submitted = () => full.submit(mail(HEAD), { to: [TO] });
  expect((await submitted()).dot).toStartWith("250 ");
  expect((await submitted()).dot).toBe(
    "452 4.3.1 A quota of the recipient is reached, try again later",
  );
  expect([full.countRows("received_mails"), full.countRows("emails")]).toEqual([1, 1]);
  expect(valueAt(full.received()[0], "subject")).toBe("Question");
  for (const open of full.transport.open()) {
    open.end({ kind: "accepted", class: "accepted", reason: "", final: false, conversations: [] });
  }
  await full.close();
});

test("a storage quota that is reached during the copy puts the sender off, and nothing is kept", async () => {
  const full = await inboundApp({ config: { quotaStorage: 16 } });
  await full.start();
  await full.route(TO, TARGET);
  full.db.sqlite.run("UPDATE project_usage SET stored_bytes = ?", [14 * 1024 * 1024]);
  const before = [full.countRows("messages"), full.countRows("message_pieces")];
  // The message fits into the share of received mail. The first piece of its copy reaches the quota,
  // because its text is random, and the second one is refused.
  const body = randomBytes(1_000_000).toString("base64").replace(/.{76}/g, "$&\n");
  expect((await full.submit(mail(HEAD, body), { to: [TO] })).dot).toBe(
    "452 4.3.1 A quota of the recipient is reached, try again later",
  );
  const after = [full.countRows("messages"), full.countRows("message_pieces")];
  expect(after).toEqual(before);
  expect([full.countRows("received_mails"), full.countRows("received_pieces")]).toEqual([0, 0]);
  full.db.sqlite.run("UPDATE project_usage SET stored_bytes = 0");
  expect((await full.submit(mail(HEAD, body), { to: [TO] })).dot).toStartWith("250 ");
  await full.close();
});
