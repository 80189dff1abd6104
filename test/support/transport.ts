/** A transport for tests: the test decides the outcome of each mail. */

import type { Outcome, Transport } from "../../src/outbox/outcome.ts";
import { type Dispatch, transactWhenAllowed } from "../../src/protocols/smtp/dispatch.ts";

export type HandedMail = {
  dispatch: Dispatch;
  /** Ends the attempt with this outcome. */
  end(outcome: Outcome): void;
  /** Rejects the promise of `send`, which no correct transport does. */
  fail(error: Error): void;
};

export type TestTransport = Transport & {
  /** Adds the mail to `handed`; `send` calls it as soon as the mail may leave. */
  hand(dispatch: Dispatch): Promise<Outcome>;
  /** All mails that the transport received, oldest first. */
  handed: HandedMail[];
  /** Returns the mails that have no outcome yet. */
  open(): HandedMail[];
  /** Outcome of all mails from now on; null if each mail waits for the test to end it. */
  answer: Outcome | null;
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
  options: { concurrency?: number; answer?: Outcome } = {},
): TestTransport {
  const handed: HandedMail[] = [];
  const open = new Set<HandedMail>();
  return {
    name: "relay",
    concurrency: options.concurrency ?? 20,
    handed,
    open: () => [...open],
    answer: options.answer ?? null,
    send(dispatch) {
      return transactWhenAllowed(dispatch, () => this.hand(dispatch));
    },
    hand(dispatch) {
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
      const mail: HandedMail = {
        dispatch,
        end(outcome) {
          open.delete(mail);
          resolve(outcome);
        },
        fail(error) {
          open.delete(mail);
          reject(error);
        },
      };
      handed.push(mail);
      open.add(mail);
      if (this.answer !== null) mail.end(this.answer);
      return promise;
    },
    close: () => Promise.resolve(),
  };
}
