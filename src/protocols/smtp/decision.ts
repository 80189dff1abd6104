/** How the delivery of a mail to a host ends: what a reply to one of its steps decides. */

import type { Dialogue } from "./dialogue.ts";
import type { Unsendable } from "./envelope.ts";
import type { Failure, Fault } from "./failure.ts";
import type { Reply } from "./reply.ts";

/** The steps whose replies decide the outcome of a mail. */
export type DecisiveStep = "mail" | "rcpt" | "data" | "dot";

/**
 * - accepted: 2xx to the final dot.
 * - refused: 4xx or 5xx; the session stays open unless the code is 421.
 * - unsendable: nothing was sent, because this server can never accept this mail.
 * - broken: the session failed before the final reply. `isUnknown` is true if the final dot was
 *   sent, so the mail may have arrived (docs/delivery.md#S5); otherwise it has not.
 * - unopened: there was no session that could take the mail.
 */
export type Delivery =
  | { kind: "accepted"; reply: Reply }
  | { kind: "refused"; step: DecisiveStep; reply: Reply }
  | Unsendable
  | { kind: "broken"; failure: Failure; isUnknown: boolean }
  | { kind: "unopened"; failure: Failure };

/** Reason if the connection broke after the final dot: the mail is not retried at once. */
export const UNKNOWN_END = "the mail was sent, but it is unknown whether it was accepted";

/** The server closes the session and answers no further command (RFC 5321 §3.8). */
export const SERVICE_CLOSING = 421;

/** Returns null if the answer is the expected one, so that the next command follows. */
export function findProblem(
  dialogue: Dialogue,
  step: DecisiveStep,
  answer: Reply | Fault,
): Delivery | null {
  return isExpected(step, answer) ? null : problemOf(dialogue, step, answer);
}

export function problemOf(dialogue: Dialogue, step: DecisiveStep, answer: Reply | Fault): Delivery {
  const isRefusal = answer.kind === "reply" && answer.code >= 400;
  // After an unexpected reply it is not clear to which command the next replies belong.
  if (!isRefusal || answer.code === SERVICE_CLOSING) dialogue.wire.close();
  return isRefusal
    ? { kind: "refused", step, reply: answer }
    : { kind: "broken", failure: { step, cause: answer }, isUnknown: step === "dot" };
}

export function isExpected(step: DecisiveStep, answer: Reply | Fault): answer is Reply {
  if (answer.kind !== "reply") return false;
  return step === "data" ? answer.code === 354 : answer.code >= 200 && answer.code < 300;
}
