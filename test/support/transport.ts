/** A transport for tests: the test decides the outcome of each mail. */

import {
  deferWithoutSlot,
  type Outcome,
  type Outgoing,
  type Transport,
  WITHDRAWN,
} from "../../src/outbox/outcome.ts";
import type { Pace } from "../../src/outbox/pace.ts";
import type { MailObject } from "../../src/protocols/smtp/stream.ts";

export type HandedMail = {
  object: MailObject;
  /** Ends the attempt with this outcome. */
  end(outcome: Outcome): void;
  /** Ends it with an error, which no correct transport does. */
  fail(error: Error): void;
};

export type TestTransport = Transport & {
  /** All mails whose transaction began, oldest first. */
  handed: HandedMail[];
  /** Returns the mails that have no outcome yet. */
  open(): HandedMail[];
  /** Outcome of all mails from now on; null if each mail waits for the test to end it. */
  answer: Outcome | ((object: MailObject) => Outcome) | null;
};

export const ACCEPTED: Outcome = {
  kind: "accepted",
  class: "accepted",
  reason: "taken",
  final: false,
  conversations: [],
};

export const DEFERRED: Outcome = {
  kind: "deferred",
  class: "temporary",
  reason: "451 later",
  conversations: [],
};

export function testTransport(
  options: { concurrency?: number; answer?: Outcome; pace?: Pace | undefined } = {},
): TestTransport {
  const { concurrency = 20, pace } = options;
  const handed: HandedMail[] = [];
  const open = new Set<HandedMail>();
  /** The mails that wait for their turn or for the pace. */
  let waiting: Outgoing[] = [];

  function begin(mail: Outgoing, endTask: () => void): void {
    if (mail.begin?.() === false) {
      endTask();
      return mail.end(deferWithoutSlot(WITHDRAWN));
    }
    const leave = (end: () => void) => {
      if (!open.delete(handedMail)) return;
      endTask();
      end();
      beginNext();
    };
    const handedMail: HandedMail = {
      object: mail,
      end: (outcome) => leave(() => mail.end(outcome)),
      fail: (error) => leave(() => mail.fail(error)),
    };
    handed.push(handedMail);
    open.add(handedMail);
    const { answer } = transport;
    if (answer !== null) handedMail.end(typeof answer === "function" ? answer(mail) : answer);
  }

  function beginNext(): void {
    if (open.size >= concurrency || pace !== undefined) return;
    const next = waiting.find(({ isUrgent }) => isUrgent === true) ?? waiting[0];
    if (next === undefined) return;
    take(next);
    begin(next, () => {});
  }

  /** False if the mail was withdrawn meanwhile. */
  function take(mail: Outgoing): boolean {
    const isWaiting = waiting.includes(mail);
    waiting = waiting.filter((each) => each !== mail);
    return isWaiting;
  }

  /** As many mails as there are may wait for the pace. */
  function beginWhenAllowed(mail: Outgoing, allowed: Pace): void {
    const urgency = mail.isUrgent === true ? 1 : 0;
    allowed((ended) => (take(mail) ? begin(mail, ended) : ended()), urgency);
  }

  const transport: TestTransport = {
    name: "relay",
    concurrency,
    handed,
    open: () => [...open],
    answer: options.answer ?? null,
    start(mail) {
      mail.waitsFor = "turn";
      waiting.push(mail);
      if (pace === undefined) beginNext();
      else beginWhenAllowed(mail, pace);
    },
    withdrawWaiting() {
      for (const mail of waiting.splice(0)) mail.end(deferWithoutSlot(WITHDRAWN));
    },
    close: () => Promise.resolve(),
  };
  return transport;
}
