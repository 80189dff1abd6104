import { expect, test } from "bun:test";
import { deferred, LaneMail } from "../../src/outbox/lane/mail.ts";
import { deferWithoutSlot, WITHDRAWN } from "../../src/outbox/outcome.ts";
import { mailRow } from "../support/compose.ts";

test("a mail whose look-up throws before its transaction ends once, and is not sent", () => {
  const calls: string[] = [];
  const row = {
    ...mailRow({ campaignSeq: 1 }),
    seq: 1,
    attempts: 1,
    dueAt: 0,
    slot: null,
    busy: null,
    priority: 1,
    projectSeq: 1,
    isProjectEnabled: true,
    isTest: false,
    contactSeq: 1,
    isSubscribed: true,
    topicSeq: null,
    isInTopic: true,
    pausedUntil: null,
    suppression: null,
    envelopeFrom: null,
  };
  const events = {
    begins(): boolean {
      throw new Error("the campaign cannot be read");
    },
    isReady: () => {},
    ended: () => void calls.push("ended"),
    failed(mail: LaneMail, error: unknown) {
      calls.push(String(error));
      mail.end(deferred("a defect"));
    },
  };
  const mail = new LaneMail(row, { events, now: 0, elapsedMs: 0 });
  expect(mail.begin()).toBe(false);
  // The pool withdraws a mail that does not begin.
  mail.end(deferWithoutSlot(WITHDRAWN));
  expect(calls).toEqual(["Error: the campaign cannot be read", "ended"]);
  expect(mail.verdict).toEqual(deferred("a defect"));
});
