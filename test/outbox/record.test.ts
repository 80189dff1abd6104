import { compactJson } from "../../src/protocols/smtp/conversation.ts";
import { describe, expect, test } from "bun:test";
import { createUsageCounter } from "../../src/db/usage-counter.ts";
import type { Writer } from "../../src/db/writer.ts";
import type { Verdict } from "../../src/outbox/outcome.ts";
import type { LeasedMail } from "../../src/outbox/lane/rows.ts";
import { type Busy, deferWithoutSlot } from "../../src/outbox/outcome.ts";
import type { Conversation } from "../../src/protocols/smtp/conversation.ts";
import { createRecordOutcome } from "../../src/outbox/record.ts";
import { createEventLog } from "../../src/events/log.ts";
import { createBounceSuppression } from "../../src/outbox/bounce-suppression.ts";
import { addSuppression } from "../../src/modules/suppressions.ts";
import { bareApp } from "../support/bare-app.ts";
import { type MailOptions, openOutbox } from "../support/outbox.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = 1_000_000;
const STARTED = NOW - 250;

const conversation: Conversation = {
  host: "relay.test",
  address: "127.0.0.1",
  port: 587,
  tls: null,
  reused: true,
  steps: [
    {
      step: "rcpt",
      command: "RCPT TO:<b@example.net>",
      code: 451,
      enhanced: "4.7.1",
      text: "Later",
      ms: 3,
    },
  ],
};
const conversations = [conversation];

const ACCEPTED: Verdict = {
  kind: "accepted",
  class: "accepted",
  reason: "taken",
  final: false,
  conversations,
};
const DEFERRED: Verdict = {
  kind: "deferred",
  class: "greylisted",
  reason: "451 Later",
  conversations,
};

const BUSY: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 60_000,
  waitList: "mx.test",
  reason: "its site asked for a pause",
};

function settled(verdict: Verdict, options: MailOptions & { now?: number } = {}) {
  const outbox = openOutbox();
  const { settle } = settling(outbox);
  const mail = outbox.addLeased(options);
  const isOurs = settle(mail, verdict, options.now);
  return { outbox, mail, isOurs, row: outbox.row(mail.seq), attempts: outbox.attemptsOf(mail.seq) };
}

/** Without a transaction, so that each statement commits by itself. */
const AT_ONCE: Pick<Writer, "afterCommit" | "tally"> = {
  afterCommit: (effect) => effect(),
  tally: (apply) => ({ add: apply, pending: () => 0 }),
};

/** A `settle` without jitter. */
function settling(outbox: ReturnType<typeof openOutbox>) {
  const { db } = outbox;
  const app = bareApp(db);
  const usage = createUsageCounter(db, AT_ONCE);
  const events = createEventLog({ db, writer: AT_ONCE, usage });
  const settle = createRecordOutcome({
    db,
    usage,
    random: () => 0.5,
    recordEvent: events.record,
    suppressBounced: createBounceSuppression({
      db,
      limits: { bounces: 3, withinDays: 30, forDays: 30 },
      suppress: (...args) => addSuppression(app, ...args),
    }),
    applyReports: () => {},
  });
  return {
    settle: (mail: LeasedMail, verdict: Verdict, now = NOW) =>
      settle({ mail, verdict, subject: null, startedAt: STARTED, durationMs: 250, now }),
  };
}

function eventsOf(outbox: ReturnType<typeof openOutbox>) {
  return outbox.events().map(({ name, data }) => ({ name, data: JSON.parse(data ?? "null") }));
}

const NOTHING = { nextAt: null, sentAt: null, deliveredAt: null, bouncedAt: null, lastError: null };

describe("the verdict of an attempt sets state, attempt and event:", () => {
  test("accepted by the next hop: the mail is SENT", () => {
    const { outbox, mail, isOurs, row, attempts } = settled(ACCEPTED);
    expect(isOurs).toBe(true);
    expect(row).toEqual({ ...NOTHING, status: "SENT", attempts: 1, sentAt: NOW });
    expect(attempts).toEqual([
      {
        number: 1,
        startedAt: STARTED,
        durationMs: 250,
        outcome: "accepted",
        class: "accepted",
        reason: null,
        conversations: compactJson(conversations),
      },
    ]);
    expect(outbox.events()).toEqual([
      {
        name: "email.sent",
        contactSeq: mail.contactSeq,
        emailSeq: mail.seq,
        data: null,
        createdAt: NOW,
      },
    ]);
  });

  test("accepted by the recipient's own server: the mail is DELIVERED", () => {
    const { outbox, row } = settled({ ...ACCEPTED, final: true });
    expect(row).toMatchObject({ status: "DELIVERED", sentAt: NOW, deliveredAt: NOW, nextAt: null });
    expect(eventsOf(outbox).map(({ name }) => name)).toEqual(["email.sent", "email.delivered"]);
  });

  test("deferred: the mail is QUEUED for its next attempt, without an event", () => {
    const { outbox, row, attempts } = settled(DEFERRED, { createdAt: NOW });
    expect(row).toEqual({
      ...NOTHING,
      status: "QUEUED",
      attempts: 1,
      nextAt: NOW + 5 * MINUTE,
      lastError: "451 Later",
    });
    expect(attempts).toMatchObject([
      { outcome: "deferred", class: "greylisted", reason: "451 Later" },
    ]);
    expect(outbox.events()).toEqual([]);
  });

  test("deferred again: the delay depends on the number of the attempt", () => {
    const { row } = settled(DEFERRED, { attempts: 4, createdAt: NOW });
    expect(row.nextAt).toBe(NOW + 60 * MINUTE);
  });

  test("not attempted: the mail is QUEUED in its wait list, without attempt or event", () => {
    const { outbox, mail, isOurs, row, attempts } = settled(deferWithoutSlot(BUSY), {
      attempts: 3,
      createdAt: NOW,
    });
    expect(isOurs).toBe(true);
    const line = outbox.db.sqlite.query("SELECT line FROM emails").get();
    expect(line).toEqual({ line: "mx.test" });
    expect(row).toEqual({ ...NOTHING, status: "QUEUED", attempts: 2, nextAt: mail.dueAt });
    expect([attempts, outbox.events()]).toEqual([[], []]);
  });

  test("not attempted, after the clock was set back: the mail is due now", () => {
    const outbox = openOutbox();
    const mail = { ...outbox.addLeased({ createdAt: NOW + DAY }), dueAt: NOW + DAY };
    settling(outbox).settle(mail, deferWithoutSlot(BUSY));
    expect(outbox.row(mail.seq)).toMatchObject({ status: "QUEUED", nextAt: NOW });
  });

  test("not attempted, without a wait list: the mail is QUEUED for the time of the transport", () => {
    const { row } = settled(deferWithoutSlot({ ...BUSY, waitList: null }), { createdAt: NOW });
    expect(row).toEqual({ ...NOTHING, status: "QUEUED", attempts: 0, nextAt: NOW + 60_000 });
  });

  test("not attempted, after the lifetime: the mail is BOUNCED with 4.4.7, without an attempt", () => {
    const { outbox, row, attempts } = settled(deferWithoutSlot(BUSY), {
      now: NOW + 4 * DAY + 1,
      createdAt: NOW,
    });
    expect(row).toMatchObject({ status: "BOUNCED", attempts: 0, nextAt: null });
    expect(row.lastError).toStartWith("4.4.7 The delivery time expired");
    expect(attempts).toEqual([]);
    expect(eventsOf(outbox).map(({ name }) => name)).toEqual(["email.bounced"]);
    expect(outbox.suppressed()).toEqual([]);
  });

  test("not attempted, after the lease was lost: nothing is written", () => {
    const outbox = openOutbox();
    const mail = outbox.addLeased();
    outbox.db.sqlite.run("UPDATE emails SET attempts = 9");
    expect(settling(outbox).settle(mail, deferWithoutSlot(BUSY))).toBe(false);
    expect(outbox.row(mail.seq)).toMatchObject({ status: "SENDING", attempts: 9 });
  });

  test("deferred until the time that the reply named", () => {
    const { row } = settled({ ...DEFERRED, retryAfterMs: 10 * MINUTE }, { createdAt: NOW });
    expect(row.nextAt).toBe(NOW + 11 * MINUTE);
  });

  test("bounced: the mail is BOUNCED, with class and reason in the event", () => {
    const reason = "550 5.7.1 Spam";
    const { outbox, row, attempts } = settled({
      kind: "bounced",
      class: "content",
      reason,
      conversations,
    });
    expect(row).toEqual({
      ...NOTHING,
      status: "BOUNCED",
      attempts: 1,
      bouncedAt: NOW,
      lastError: reason,
    });
    expect(attempts).toMatchObject([{ outcome: "bounced", class: "content", reason }]);
    expect(eventsOf(outbox)).toEqual([
      { name: "email.bounced", data: { class: "content", reason } },
    ]);
  });

  test("failed: the mail is FAILED", () => {
    const { outbox, row, attempts } = settled({
      kind: "failed",
      class: "content",
      reason: "It cannot be rendered",
      conversations: [],
    });
    expect(row).toEqual({
      ...NOTHING,
      status: "FAILED",
      attempts: 1,
      lastError: "It cannot be rendered",
    });
    expect(attempts).toMatchObject([{ outcome: "failed", conversations: "[]" }]);
    expect(eventsOf(outbox)).toEqual([
      { name: "email.failed", data: { class: "content", reason: "It cannot be rendered" } },
    ]);
  });

  test("suppressed meanwhile: the mail is SUPPRESSED, without an attempt", () => {
    const { outbox, row, attempts } = settled({ kind: "suppressed", reason: "COMPLAINT" });
    expect(row).toEqual({ ...NOTHING, status: "SUPPRESSED", attempts: 1, lastError: "COMPLAINT" });
    expect(attempts).toEqual([]);
    expect(eventsOf(outbox)).toEqual([{ name: "email.suppressed", data: { reason: "COMPLAINT" } }]);
  });

  test("cancelled: the mail is CANCELLED with an event, without attempt", () => {
    const { outbox, row, attempts } = settled({ kind: "cancelled", reason: "Not subscribed" });
    expect(row).toEqual({
      ...NOTHING,
      status: "CANCELLED",
      attempts: 1,
      lastError: "Not subscribed",
    });
    expect(attempts).toEqual([]);
    expect(eventsOf(outbox)).toEqual([
      { name: "email.cancelled", data: { reason: "Not subscribed" } },
    ]);
  });

  test("accepted by capture: the first message is stored byte for byte", () => {
    const outbox = openOutbox();
    const { settle } = settling(outbox);
    const mail = outbox.addLeased();
    const captured = Buffer.from("Subject: a\r\n\r\nb\xff\0\r\n", "latin1");
    settle(mail, { ...ACCEPTED, captured });
    const kept = outbox.db.sqlite
      .query<{ raw: Uint8Array }, [number]>("SELECT raw FROM captured_messages WHERE email_seq = ?")
      .get(mail.seq);
    expect(Buffer.from(kept?.raw ?? "")).toEqual(captured);
  });

  test("accepted: the error of the previous attempt is cleared", () => {
    const outbox = openOutbox();
    const { settle } = settling(outbox);
    const mail = outbox.addLeased({ createdAt: NOW });
    settle(mail, DEFERRED);
    outbox.db.sqlite.run("UPDATE emails SET status = 'SENDING', attempts = 2");
    settle(outbox.loaded(mail.seq), ACCEPTED);
    expect(outbox.row(mail.seq)).toMatchObject({ status: "SENT", lastError: null, nextAt: null });
    expect(outbox.attemptsOf(mail.seq).map(({ number }) => number)).toEqual([1, 2]);
  });

  test("deferred with a very long reason: the reason is cut", () => {
    const { row, attempts } = settled(
      { ...DEFERRED, reason: "x".repeat(5000) },
      { createdAt: NOW },
    );
    expect(row.lastError).toHaveLength(1000);
    expect(attempts[0]?.reason).toHaveLength(1000);
  });
});

describe("suppression", () => {
  test.each([
    ["no_such_recipient", ["b@example.net"]],
    ["mailbox_full", []],
    ["content", []],
    ["policy", []],
    ["reputation", []],
    ["authentication", []],
    ["infrastructure", []],
    ["temporary", []],
  ] as const)("after a bounce of class %s: %j", (kind, expected) => {
    const bounced: Verdict = { kind: "bounced", class: kind, reason: "No", conversations };
    expect(settled(bounced, { to: "b@example.net" }).outbox.suppressed()).toEqual([...expected]);
  });

  test("does not happen after a deferral, not even after the last one", () => {
    const deferred: Verdict = { ...DEFERRED, class: "mailbox_full" };
    const early = settled(deferred, { createdAt: NOW });
    const late = settled(deferred, { createdAt: NOW - 4 * DAY });
    expect([...early.outbox.suppressed(), ...late.outbox.suppressed()]).toEqual([]);
  });
});

describe("at the end of the lifetime", () => {
  test("a deferral becomes the final bounce 4.4.7", () => {
    const { outbox, row, attempts } = settled(DEFERRED, { attempts: 12, createdAt: NOW - 4 * DAY });
    const reason = "4.4.7 The delivery time expired; the last attempt: 451 Later";
    expect(row).toEqual({
      ...NOTHING,
      status: "BOUNCED",
      attempts: 12,
      bouncedAt: NOW,
      lastError: reason,
    });
    expect(attempts).toMatchObject([
      { number: 12, outcome: "bounced", class: "greylisted", reason },
    ]);
    expect(JSON.parse(attempts[0]?.conversations ?? "")).toEqual(conversations);
    expect(eventsOf(outbox)).toEqual([
      { name: "email.bounced", data: { class: "greylisted", reason } },
    ]);
  });

  test("campaign mail has one day from its first attempt, transactional mail four days from acceptance", () => {
    const createdAt = NOW - DAY;
    expect(settled(DEFERRED, { priority: 0, createdAt }).row.status).toBe("QUEUED");
    // Its first attempt was late, so its lifetime began late.
    expect(settled(DEFERRED, { priority: 1, createdAt }).row.status).toBe("QUEUED");
    const outbox = openOutbox();
    const { settle } = settling(outbox);
    const first = outbox.addLeased({ priority: 1, createdAt });
    settle(first, DEFERRED);
    const again = () => {
      outbox.db.sqlite.run("UPDATE emails SET status = 'SENDING', attempts = 2");
      return outbox.loaded(first.seq);
    };
    settle(again(), DEFERRED, STARTED + DAY - 1);
    expect(outbox.row(first.seq).status).toBe("QUEUED");
    settle(again(), DEFERRED, STARTED + DAY);
    expect(outbox.row(first.seq).status).toBe("BOUNCED");
  });
});

describe("a lease that was lost", () => {
  test.each([
    ["the mail was leased again", "UPDATE emails SET attempts = 2"],
    ["the lease was returned", "UPDATE emails SET status = 'QUEUED'"],
    ["the outcome was stored already", "UPDATE emails SET status = 'SENT', next_at = NULL"],
  ])("writes nothing: %s", (_, meanwhile) => {
    for (const verdict of [ACCEPTED, DEFERRED] satisfies Verdict[]) {
      const outbox = openOutbox();
      const { settle } = settling(outbox);
      const mail = outbox.addLeased();
      outbox.db.sqlite.run(meanwhile);
      const before = outbox.row(mail.seq);
      expect(settle(mail, verdict)).toBe(false);
      expect(outbox.row(mail.seq)).toEqual(before);
      expect(outbox.attemptsOf(mail.seq)).toEqual([]);
      expect(outbox.events()).toEqual([]);
      expect(outbox.suppressed()).toEqual([]);
    }
  });
});

test("a mail whose contact changed while it was under way has its outcome with the present contact", () => {
  const outbox = openOutbox();
  const { settle } = settling(outbox);
  const mail = outbox.addLeased({ createdAt: NOW });
  const other = outbox.addLeased().contactSeq;
  outbox.db.sqlite.run("UPDATE emails SET contact_seq = ? WHERE seq = ?", [other, mail.seq]);
  expect(settle(mail, { kind: "failed", class: "content", reason: "No", conversations })).toBe(
    true,
  );
  expect(outbox.row(mail.seq)).toMatchObject({ status: "FAILED", lastError: "No" });
  expect(outbox.attemptsOf(mail.seq)).toMatchObject([{ reason: "No" }]);
  expect(outbox.events()).toMatchObject([{ name: "email.failed", contactSeq: other }]);
});

describe("a contact that was deleted while its mail was under way", () => {
  const reason = "550 5.1.1 <b@example.net> is unknown";
  const verdicts: [string, Verdict][] = [
    ["accepted", { ...ACCEPTED, captured: Buffer.from("To: b@example.net\r\n\r\n") }],
    ["deferred", { ...DEFERRED, reason }],
    ["bounced", { kind: "bounced", class: "content", reason, conversations }],
    ["failed", { kind: "failed", class: "content", reason, conversations }],
    ["suppressed", { kind: "suppressed", reason }],
    ["cancelled", { kind: "cancelled", reason }],
  ];

  test.each(verdicts)("the outcome is stored without personal data: %s", (kind, verdict) => {
    const outbox = openOutbox();
    const { settle } = settling(outbox);
    const mail = outbox.addLeased({ to: "b@example.net", createdAt: NOW });
    outbox.deleteContact(mail.contactSeq);
    expect(settle(mail, verdict)).toBe(true);
    expect(outbox.row(mail.seq).status).not.toBe("SENDING");
    expect(outbox.attemptsOf(mail.seq)).toHaveLength("conversations" in verdict ? 1 : 0);
    for (const event of outbox.events()) expect(event.contactSeq).toBeNull();
    const everything = ["emails", "attempts", "events", "captured_messages"].map((table) =>
      outbox.db.sqlite.query(`SELECT * FROM ${table}`).all(),
    );
    expect(JSON.stringify(everything)).not.toContain("b@example.net");
    expect(kind).toBe(verdict.kind);
  });

  test("an address that does not exist is still suppressed", () => {
    const outbox = openOutbox();
    const { settle } = settling(outbox);
    const mail = outbox.addLeased({ to: "b@example.net" });
    outbox.deleteContact(mail.contactSeq);
    settle(mail, { kind: "bounced", class: "no_such_recipient", reason, conversations });
    expect(outbox.suppressed()).toEqual(["b@example.net"]);
  });
});
