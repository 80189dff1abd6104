/** POST /v1/bounces: which mail a report is about, and what it changes. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { INVARIANTS } from "../../../src/cli/check/invariants.ts";
import { MESSAGE_ID } from "../../protocols/dsn/corpus/build.ts";
import { expectError } from "../../support/refusal.ts";
import {
  BOB,
  bounceApp,
  type BounceApp,
  bounceOf,
  complaint,
  FULL,
  returning,
  returnPathOf,
  UNKNOWN_USER,
  vacation,
} from "./reports.ts";
import { isReportAddress } from "../../../src/modules/bounces/bounces.ts";

let t: BounceApp;
beforeAll(async () => {
  t = await bounceApp();
});
afterAll(async () => {
  const violated = INVARIANTS.filter(
    ({ violations }) => t.db.sqlite.query(violations).get() !== null,
  );
  await t.close();
  expect(violated.map(({ name }) => name)).toEqual([]);
});

let count = 0;
const nextAddress = () => `user${++count}@example.net`;
const to = (address: string, raw: string) => raw.replaceAll(BOB, address);

describe("a bounce that arrives later", () => {
  test("changes the mail, records an event and suppresses the address with its cause", async () => {
    const address = nextAddress();
    const id = await t.sent(address);
    const answer = await t.post(to(address, UNKNOWN_USER), returnPathOf(id));
    expect([answer.status, answer.at("data")]).toEqual([
      200,
      { matched: true, kind: "bounce", email: id, effect: "bounced", suppressed: "HARD_BOUNCE" },
    ]);
    expect(await t.email(id)).toMatchObject({
      status: "BOUNCED",
      bouncedAt: "2026-03-02T10:00:00.000Z",
      lastError: "550 5.1.1 User unknown",
      reports: [
        {
          kind: "BOUNCE",
          receivedAt: "2026-03-02T10:00:00.000Z",
          form: "standard",
          class: "no_such_recipient",
          statusCode: "5.1.1",
          reason: "550 5.1.1 User unknown",
          reportingMta: "mx.example.net",
          excerpt: expect.stringContaining("Diagnostic-Code: smtp; 550 5.1.1 User unknown"),
        },
      ],
    });
    expect(t.eventsOf(id)).toMatchObject([
      { name: "email.sent" },
      {
        name: "email.bounced",
        data: { class: "no_such_recipient", reason: "550 5.1.1 User unknown", reportedBy: "dsn" },
      },
    ]);
    expect((await t.call("GET", `/suppressions?email=${address}`)).at("data.items")).toEqual([
      {
        email: address,
        reason: "HARD_BOUNCE",
        createdAt: "2026-03-02T10:00:00.000Z",
        expiresAt: null,
        cause: {
          emailId: id,
          reportedAt: "2026-03-02T10:00:00.000Z",
          reason: "550 5.1.1 User unknown",
        },
      },
    ]);
  });

  test("after a change of address suppresses the address of the mail", async () => {
    const address = nextAddress();
    const moved = nextAddress();
    const id = await t.sent(address);
    const contact = (await t.call("GET", `/emails/${id}`)).text("data.contactId");
    await t.call("PATCH", `/contacts/${contact}`, { email: moved });
    const answer = await t.post(to(address, UNKNOWN_USER), returnPathOf(id));
    expect(answer.at("data.suppressed")).toBe("HARD_BOUNCE");
    expect((await t.call("GET", `/suppressions?email=${address}`)).at("data.total")).toBe(1);
    expect((await t.call("GET", `/suppressions?email=${moved}`)).at("data.total")).toBe(0);
  });

  test("counts once, however often and in whatever words it arrives", async () => {
    const id = await t.sent(nextAddress());
    const path = returnPathOf(id);
    await t.post(UNKNOWN_USER, path);
    const events = t.countRows("events");
    for (const raw of [UNKNOWN_USER, FULL, UNKNOWN_USER]) {
      expect((await t.post(raw, path)).at("data")).toMatchObject({ matched: true, effect: "none" });
    }
    expect(t.countRows("events")).toBe(events);
  });

  test.each([
    ["reputation", bounceOf("smtp; 554 5.7.1 blocked using zen.spamhaus.org", { status: "5.7.1" })],
    ["content", bounceOf("smtp; 550 5.7.1 message looks like spam", { status: "5.7.1" })],
    ["authentication", bounceOf("smtp; 550 5.7.26 unauthenticated", { status: "5.7.26" })],
  ])("of the class %s suppresses nobody", async (expected, raw) => {
    const address = nextAddress();
    const id = await t.sent(address);
    const answer = await t.post(raw, returnPathOf(id));
    expect(answer.at("data")).toMatchObject({ effect: "bounced", suppressed: null });
    expect(t.eventsOf(id).at(-1)?.data).toMatchObject({ class: expected });
    expect((await t.call("GET", `/suppressions?email=${address}`)).at("data.items")).toEqual([]);
  });

  test("a delay, a confirmation, a vacation note and other mail change nothing", async () => {
    const id = await t.sent(nextAddress());
    const before = t.countRows("events");
    const kinds: unknown[] = [];
    const raws = [
      bounceOf("smtp; 451 4.7.1 later", { action: "delayed", status: "4.7.1" }),
      bounceOf("smtp; 250 ok", { action: "delivered", status: "2.0.0" }),
      vacation(),
      "From: a@b.test\r\nSubject: Hello\r\n\r\nText",
    ];
    for (const raw of raws) kinds.push((await t.post(raw, returnPathOf(id))).at("data.kind"));
    expect(kinds).toEqual(["delay", "delivery", "automatic", "unknown"]);
    expect([t.countRows("events"), await t.email(id)]).toMatchObject([
      before,
      { status: "SENT", reports: [] },
    ]);
  });

  test("of another recipient of the report is not taken for this mail", async () => {
    const address = nextAddress();
    const id = await t.sent(address);
    const groups = [
      ["Final-Recipient: rfc822;gone@example.net", "Action: failed", "Status: 5.1.1"],
      [`Final-Recipient: rfc822;${address.toUpperCase()}`, "Action: delivered", "Status: 2.0.0"],
    ];
    const answer = await t.post(bounceOf("", { groups }), returnPathOf(id));
    expect(answer.at("data")).toMatchObject({ kind: "delivery", effect: "none" });
  });

  test("of all addresses to which the mail was forwarded is a bounce of the mail", async () => {
    const id = await t.sent(nextAddress());
    const groups = ["x", "y"].map((name) => [
      `Final-Recipient: rfc822;${name}@elsewhere.example`,
      "Action: failed",
      "Status: 5.1.1",
    ]);
    const answer = await t.post(bounceOf("", { groups }), returnPathOf(id));
    expect(answer.at("data.effect")).toBe("bounced");
  });

  test("of a contact that was deleted stores nothing personal", async () => {
    const address = nextAddress();
    const id = await t.sent(address);
    const contact = (await t.call("GET", `/emails/${id}`)).text("data.contactId");
    await t.call("DELETE", `/contacts/${contact}`);
    await t.post(to(address, UNKNOWN_USER), returnPathOf(id));
    expect(await t.email(id)).toMatchObject({
      status: "BOUNCED",
      lastError: null,
      reports: [{ class: "no_such_recipient", reason: "", excerpt: "" }],
    });
  });

  test("is forgotten with its contact", async () => {
    const id = await t.sent(nextAddress());
    await t.post(UNKNOWN_USER, returnPathOf(id));
    const contact = (await t.call("GET", `/emails/${id}`)).text("data.contactId");
    await t.call("DELETE", `/contacts/${contact}`);
    expect(await t.email(id)).toMatchObject({ reports: [{ reason: "", excerpt: "" }] });
  });
});

describe("the mail is found by", () => {
  const header = (id: string) => [`Message-ID: <${id}@acme.test>`, "Subject: Your order"];

  test("its signed address in the header of the report, in any case", async () => {
    const id = await t.sent(nextAddress());
    const raw = UNKNOWN_USER.replace(
      "To: b+token@bounce.shop.example",
      `Delivered-To: ${returnPathOf(id).toUpperCase()}\r\nTo: postmaster@acme.test`,
    );
    expect((await t.post(raw, null)).at("data")).toMatchObject({ email: id, effect: "bounced" });
  });

  test("its Message-ID", async () => {
    const id = await t.sent(nextAddress());
    expect((await t.post(returning(header(id)), null)).at("data.email")).toBe(id);
  });

  test("its ENVID", async () => {
    const id = await t.sent(nextAddress());
    const general = ["Reporting-MTA: dns; a", `Original-Envelope-Id: ${id}`];
    const raw = bounceOf("smtp; 550 5.1.1 no", { general });
    expect((await t.post(raw, "bounces@acme.test")).at("data.email")).toBe(id);
  });

  test("the Message-ID of a submitted message, with its recipient", async () => {
    const ids = [await t.sent(nextAddress()), await t.sent(nextAddress())];
    const messageId = "<own-id@shop.example>";
    // Over SMTP, both mails would share one message.
    t.db.sqlite.run(
      `UPDATE messages SET message_id = ?
       WHERE seq = (SELECT message_seq FROM emails WHERE id = ?)`,
      [messageId, ids[0] ?? ""],
    );
    const raw = returning([`Message-ID: ${messageId}`]);
    expect((await t.post(raw, null)).at("data.matched")).toBe(false);
    const answer = await t.post(to(`user${count}@example.net`, raw), null);
    expect(answer.at("data")).toMatchObject({ email: ids[1], effect: "bounced" });
    expect(await t.email(ids[0] ?? "")).toMatchObject({ status: "SENT" });
    t.db.sqlite.run("UPDATE messages SET message_id = NULL");
  });

  test("our header", async () => {
    const id = await t.sent(nextAddress());
    const raw = returning([`X-Mailstead-ID: ${id}`, "Message-ID: <rewritten@relay.example>"]);
    expect((await t.post(raw, null)).at("data.email")).toBe(id);
  });

  test("nothing else: a Message-ID with another domain, or of nobody", async () => {
    const id = await t.sent(nextAddress());
    for (const messageId of [`<${id}@evil.test>`, MESSAGE_ID, "<no id>"]) {
      const answer = await t.post(returning([`Message-ID: ${messageId}`]), null);
      expect(answer.at("data")).toEqual({
        matched: false,
        kind: "bounce",
        email: null,
        effect: "none",
        suppressed: null,
      });
    }
  });

  test("no forged return path, although the report names the mail", async () => {
    const id = await t.sent(nextAddress());
    const path = returnPathOf(id);
    const forged = `${path.slice(0, 40)}${path[40] === "a" ? "b" : "a"}${path.slice(41)}`;
    const answer = await t.post(returning(header(id)), forged);
    expect(answer.at("data")).toMatchObject({ matched: false, email: null });
    expect(await t.email(id)).toMatchObject({ status: "SENT" });
  });

  test("no key of another project", async () => {
    const other = await t.makeProject("other");
    const id = await t.sent(nextAddress());
    for (const [raw, recipient] of [
      [UNKNOWN_USER, returnPathOf(id)],
      [returning(header(id)), null],
    ] as const) {
      const answer = await t.post(raw, recipient, { key: other.secretKey });
      expect(answer.at("data")).toMatchObject({ matched: false, email: null, effect: "none" });
    }
    expect(await t.email(id)).toMatchObject({ status: "SENT" });
  });
});

describe("a complaint", () => {
  test("unsubscribes the contact and suppresses the address, once", async () => {
    const address = nextAddress();
    const id = await t.sent(address);
    const path = returnPathOf(id);
    expect((await t.post(complaint(), path)).at("data")).toEqual({
      matched: true,
      kind: "complaint",
      email: id,
      effect: "complained",
      suppressed: "COMPLAINT",
    });
    expect((await t.post(complaint(), path)).at("data.effect")).toBe("none");
    expect(await t.email(id)).toMatchObject({
      status: "COMPLAINED",
      complainedAt: "2026-03-02T10:00:00.000Z",
      reports: [{ kind: "COMPLAINT", form: "ARF", reportingMta: "Feedback/1.0" }],
    });
    expect(t.eventsOf(id).map(({ name }) => name)).toEqual([
      "email.sent",
      "email.complained",
      "contact.unsubscribed",
    ]);
    const contact = (await t.call("GET", `/emails/${id}`)).text("data.contactId");
    expect((await t.call("GET", `/contacts/${contact}`)).at("subscribed")).toBe(false);
    expect((await t.call("GET", `/suppressions?email=${address}`)).at("data.items")).toMatchObject([
      { reason: "COMPLAINT", cause: { emailId: id, reportedAt: "2026-03-02T10:00:00.000Z" } },
    ]);
  });

  test("after a change of address suppresses the address of the mail, and unsubscribes its contact", async () => {
    const address = nextAddress();
    const moved = nextAddress();
    const id = await t.sent(address);
    const contact = (await t.call("GET", `/emails/${id}`)).text("data.contactId");
    await t.call("PATCH", `/contacts/${contact}`, { email: moved });
    const holder = await t.create("/contacts", { email: address, subscribed: true }, "id");
    const answer = await t.post(complaint(), returnPathOf(id));
    expect(answer.at("data")).toMatchObject({ effect: "complained", suppressed: "COMPLAINT" });
    expect((await t.call("GET", `/contacts/${contact}`)).at("subscribed")).toBe(true);
    expect((await t.call("GET", `/contacts/${holder}`)).at("subscribed")).toBe(false);
    expect((await t.call("GET", `/suppressions?email=${address}`)).at("data.total")).toBe(1);
    expect((await t.call("GET", `/suppressions?email=${moved}`)).at("data.total")).toBe(0);
  });

  test("that says it is no spam, or reports a failed authentication, changes nothing", async () => {
    const id = await t.sent(nextAddress());
    for (const type of ["not-spam", "auth-failure", "dmarc"]) {
      const answer = await t.post(complaint(type), returnPathOf(id));
      expect(answer.at("data")).toMatchObject({ kind: "complaint", effect: "none" });
    }
    expect(await t.email(id)).toMatchObject({ status: "SENT", reports: [] });
  });

  test("about a mail that bounced keeps its status", async () => {
    const id = await t.sent(nextAddress());
    await t.post(UNKNOWN_USER, returnPathOf(id));
    expect((await t.post(complaint(), returnPathOf(id))).at("data.effect")).toBe("complained");
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED", complainedAt: null });
  });
});

describe("the request", () => {
  test("needs a message", async () => {
    expectError(await t.post("", null), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["", "required"]],
    });
  });

  test("may have 25 MiB and no more", async () => {
    const id = await t.sent(nextAddress());
    const filler = "x".repeat(76).concat("\r\n").repeat(330_000);
    const large = `${UNKNOWN_USER}${filler}`;
    expect((await t.post(large, returnPathOf(id))).at("data.effect")).toBe("bounced");
    expectError(await t.post(`${large}${filler}`, null), {
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    });
  });
});

test("a report address is a signed return path of a mail of the last 30 days", async () => {
  const DAY = 24 * 60 * 60_000;
  const id = await t.sent(nextAddress());
  const path = returnPathOf(id);
  const isAccepted = (address: string) => isReportAddress(t.app.app, address);
  expect(isAccepted(path)).toBe(true);
  expect(isAccepted(path.toUpperCase())).toBe(true);
  for (const address of ["", "postmaster@acme.test", "b+abc@bounce.acme.test", `a${path}`]) {
    expect(isAccepted(address)).toBe(false);
  }
  // The signature is that of the mail; the host must be the one of its domain.
  const { secretKey: key } = await t.makeProject("elsewhere");
  const other = await t.sent(nextAddress(), { key, from: "hello@elsewhere.test" });
  const [local = ""] = path.split("@");
  expect(isAccepted(`${local}@bounce.elsewhere.test`)).toBe(false);
  expect(isAccepted(returnPathOf(other))).toBe(false);
  expect(isAccepted(returnPathOf(other, "bounce.elsewhere.test"))).toBe(true);
  // The time in an id can be a millisecond later than the clock, if many were made at that time.
  const acceptedAt = parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  t.clock.advance(acceptedAt + 30 * DAY - t.clock.now());
  expect(isAccepted(path)).toBe(true);
  t.clock.advance(1);
  expect(isAccepted(path)).toBe(false);
});
