/** A way out of the house whose outcomes the test decides, one mail at a time. */

import type { Dispatch, Outcome, Transport } from "../../src/delivery/outcome.ts";

export type Handed = {
  dispatch: Dispatch;
  end(outcome: Outcome): void;
  /** What no transport may do: the promise is rejected. */
  fail(error: Error): void;
};

export type TestTransport = Transport & {
  /** What `send` does when the mail's turn has come. */
  hand(dispatch: Dispatch): Promise<Outcome>;
  /** All mails that were handed over, oldest first. */
  handed: Handed[];
  /** Those whose outcome is open. */
  open(): Handed[];
  /** What every mail ends in from now on, without being asked; null: each waits for the test. */
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
  const handed: Handed[] = [];
  const open = new Set<Handed>();
  return {
    name: "relay",
    concurrency: options.concurrency ?? 20,
    handed,
    open: () => [...open],
    answer: options.answer ?? null,
    send(dispatch) {
      const hand = () => this.hand(dispatch);
      return dispatch.leave === undefined ? hand() : dispatch.leave(hand);
    },
    hand(dispatch) {
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
      const mail: Handed = {
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
