/**
 * Reports that arrive before the outcome of the attempt is recorded, or after an attempt of which it is
 * unknown whether the mail was accepted (docs/delivery.md#S5).
 */

import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { INVARIANTS } from "../../../src/cli/check/invariants.ts";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import type { Step } from "../../../src/protocols/smtp/conversation.ts";
import { relayTransport } from "../../../src/outbox/transports/relay.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { manualClock } from "../../support/clock.ts";
import { waitUntil } from "../../support/eventually.ts";
import { startScript } from "../../support/smtp-script.ts";
import { ACCEPTED, DEFERRED } from "../../support/transport.ts";
import {
  BOB,
  bounceApp,
  type BounceApp,
  complaint,
  returnPathOf,
  UNKNOWN_USER,
} from "./reports.ts";

const DAY = 24 * 60 * 60_000;

const dot = (code: number | null): Step => ({
  step: "dot",
  command: ".",
  code,
  enhanced: null,
  text: "",
  ms: 1,
});
const endedWith = (code: number | null): Outcome => ({
  ...DEFERRED,
  kind: "deferred",
  class: code === null ? "infrastructure" : "temporary",
  conversations: [
    { host: "mx.test", address: null, port: 25, tls: null, reused: false, steps: [dot(code)] },
  ],
});
/** The connection was lost after the final dot. */
const UNKNOWN = endedWith(null);
const REFUSED_LATER = endedWith(451);
const FAILED: Outcome = { kind: "failed", class: "content", reason: "no", conversations: [] };

let t: BounceApp;
// The first mail of a process loads and compiles what all use.
beforeAll(async () => {
  t = await bounceApp();
  await t.sent();
  await t.close();
});
beforeEach(async () => {
  t = await bounceApp();
});
afterEach(async () => {
  const violated = INVARIANTS.filter(
    ({ violations }) => t.db.sqlite.query(violations).get() !== null,
  );
  await t.close();
  expect(violated.map(({ name }) => name)).toEqual([]);
});

const namesOf = (id: string) => t.eventsOf(id).map(({ name }) => name);
const report = async (id: string, raw = UNKNOWN_USER) =>
  (await t.post(raw, returnPathOf(id))).at("data");
const queuedMails = () =>
  t.db.sqlite.query("SELECT sum(queued_mails) AS n FROM project_usage").get();

function accept(): Promise<string> {
  const mail = { to: BOB, from: "hello@acme.test", subject: "s", body: "b", subscribed: true };
  return t.create("/v1/send", mail, "data.emails.0.email");
}

/** Posts reports while the mail is under way, and then ends its attempt. Returns the answers. */
async function reportDuringAttempt(raws: readonly string[], outcome: Outcome) {
  t.transport.answer = null;
  const id = await accept();
  const delivered = t.deliver();
  await waitUntil(() => t.transport.open().length === 1);
  const answers: unknown[] = [];
  for (const raw of raws) answers.push(await report(id, raw));
  const before = await t.email(id);
  for (const mail of t.transport.open()) mail.end(outcome);
  await delivered;
  return { id, answers, before };
}

describe("a bounce that arrives while its mail is under way", () => {
  test("is stored, and is applied together with the acceptance", async () => {
    const { id, answers, before } = await reportDuringAttempt([UNKNOWN_USER], ACCEPTED);
    expect(answers).toEqual([
      { matched: true, kind: "bounce", email: id, effect: "stored", suppressed: null },
    ]);
    expect(before).toMatchObject({ status: "SENDING", reports: [{ kind: "BOUNCE" }] });
    expect(await t.email(id)).toMatchObject({
      status: "BOUNCED",
      lastError: "550 5.1.1 User unknown",
      reports: [{ class: "no_such_recipient" }],
    });
    expect(t.eventsOf(id)).toMatchObject([
      { name: "email.sent" },
      { name: "email.bounced", data: { class: "no_such_recipient", reportedBy: "dsn" } },
    ]);
    expect(await t.suppressions()).toMatchObject([{ email: BOB, reason: "HARD_BOUNCE" }]);
    expect(await report(id)).toMatchObject({ matched: true, effect: "none" });
  });

  test("counts once, although it arrives twice", async () => {
    const { id, answers } = await reportDuringAttempt([UNKNOWN_USER, UNKNOWN_USER], ACCEPTED);
    expect(answers).toMatchObject([{ effect: "stored" }, { effect: "none" }]);
    expect(namesOf(id)).toEqual(["email.sent", "email.bounced"]);
  });

  test("ends it, although the connection was lost after the final dot", async () => {
    const { id } = await reportDuringAttempt([UNKNOWN_USER], UNKNOWN);
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED" });
    expect(namesOf(id)).toEqual(["email.sent", "email.bounced"]);
    expect(queuedMails()).toEqual({ n: 0 });
  });

  test("does not end it if the server refused it for now, but is applied when one accepts it", async () => {
    const { id } = await reportDuringAttempt([UNKNOWN_USER], REFUSED_LATER);
    expect(await t.email(id)).toMatchObject({ status: "QUEUED", reports: [{ kind: "BOUNCE" }] });
    expect(await t.suppressions()).toEqual([]);
    t.transport.answer = ACCEPTED;
    t.clock.advance(DAY);
    await t.deliver();
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED" });
    expect(namesOf(id)).toEqual(["email.sent", "email.bounced"]);
  });

  test("leaves a mail that was refused as it is", async () => {
    const refusal: Outcome = { ...FAILED, kind: "bounced" };
    const { id } = await reportDuringAttempt([UNKNOWN_USER], refusal);
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED", lastError: "no" });
    expect(namesOf(id)).toEqual(["email.bounced"]);
  });

  test("is applied after a restart, if the process ended before the outcome was recorded", async () => {
    const id = await accept();
    t.db.sqlite.run("UPDATE emails SET status = 'SENDING', attempts = 1, next_at = 1");
    expect(await report(id)).toMatchObject({ effect: "stored" });
    await t.deliver();
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED" });
    expect([namesOf(id), t.transport.handed.length, queuedMails()]).toEqual([
      ["email.sent", "email.bounced"],
      0,
      { n: 0 },
    ]);
    t.db.sqlite.run("UPDATE emails SET attempts = 0");
  });
});

describe("a bounce about a mail that waits for its next attempt", () => {
  test("proves that it was accepted if that was unknown: it is not sent again", async () => {
    t.transport.answer = UNKNOWN;
    const id = await t.sent();
    expect(await t.email(id)).toMatchObject({ status: "QUEUED" });
    expect(await report(id)).toMatchObject({ effect: "bounced", suppressed: "HARD_BOUNCE" });
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED", nextAttemptAt: null });
    expect(namesOf(id)).toEqual(["email.sent", "email.bounced"]);
    t.clock.advance(DAY);
    await t.deliver();
    expect([t.transport.handed.length, queuedMails()]).toEqual([1, { n: 0 }]);
  });

  test("proves the same of a real session that was lost after the final dot, and not before", async () => {
    const server = await startScript({ script: [{ dot: "close" }, { data: "close" }] });
    const relay = { host: "127.0.0.1", port: server.port, tls: "none" } as const;
    const clock = manualClock();
    const transport = relayTransport({ relay, hostname: "sender.test", clock, log: silentLog });
    t.transport.start = transport.start;
    const afterDot = await t.sent("after@example.net");
    const beforeDot = await t.sent("before@example.net");
    const effects: unknown[] = [];
    for (const id of [afterDot, beforeDot]) {
      effects.push((await t.post(UNKNOWN_USER, returnPathOf(id))).at("data.effect"));
    }
    await transport.close();
    await server.close();
    expect(effects).toEqual(["bounced", "none"]);
  });

  test("proves the same if the outcome was lost with the process", async () => {
    const id = await accept();
    t.db.sqlite.run("UPDATE emails SET attempts = 1");
    expect(await report(id)).toMatchObject({ effect: "bounced" });
  });

  test("changes nothing if no attempt can have been accepted", async () => {
    const untried = await accept();
    expect(await report(untried)).toMatchObject({ matched: true, effect: "none" });
    t.transport.answer = REFUSED_LATER;
    const refused = await t.sent();
    expect(await report(refused)).toMatchObject({ matched: true, effect: "none" });
    expect(await t.email(refused)).toMatchObject({ status: "QUEUED", reports: [] });
  });

  test("suppresses the address if the next attempt failed meanwhile; the mail stays FAILED", async () => {
    t.transport.answer = UNKNOWN;
    const id = await t.sent();
    t.transport.answer = FAILED;
    t.clock.advance(DAY);
    await t.deliver();
    expect(await report(id)).toMatchObject({ effect: "stored", suppressed: "HARD_BOUNCE" });
    expect(await t.email(id)).toMatchObject({ status: "FAILED", reports: [{ kind: "BOUNCE" }] });
    expect(await report(id)).toMatchObject({ effect: "none" });
  });
});

describe("a complaint", () => {
  test("about a mail under way unsubscribes at once; the status changes with the outcome", async () => {
    const { id, answers, before } = await reportDuringAttempt(
      [complaint("fraud"), complaint("fraud")],
      ACCEPTED,
    );
    expect(answers).toMatchObject([
      { effect: "complained", suppressed: "COMPLAINT" },
      { effect: "none" },
    ]);
    expect(before).toMatchObject({ status: "SENDING", complainedAt: null });
    expect(await t.email(id)).toMatchObject({ status: "COMPLAINED" });
    expect(namesOf(id)).toEqual(["contact.unsubscribed", "email.sent", "email.complained"]);
    expect(t.eventsOf(id).at(-1)?.data).toEqual({ feedbackType: "fraud", reportedBy: "arf" });
  });

  test("about a mail of which it was unknown whether it was accepted proves that it was", async () => {
    t.transport.answer = UNKNOWN;
    const id = await t.sent();
    expect(await report(id, complaint())).toMatchObject({ effect: "complained" });
    expect(await t.email(id)).toMatchObject({ status: "COMPLAINED" });
    expect(namesOf(id)).toEqual(["email.sent", "email.complained", "contact.unsubscribed"]);
  });

  test("and a bounce of a mail under way are both stored; the bounce decides the status", async () => {
    const { id } = await reportDuringAttempt([complaint(), UNKNOWN_USER], ACCEPTED);
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED" });
    expect(namesOf(id)).toEqual(["contact.unsubscribed", "email.sent", "email.bounced"]);
  });
});
