/** Decides how the delivery of a mail to a host ends, by the reply to one of its steps. */

import type { Conversation, Step } from "./conversation.ts";
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

/** Null if the answer is the expected one, so that the next command follows. */
export function findProblem(step: DecisiveStep, answer: Reply | Fault): Delivery | null {
  return isExpected(step, answer) ? null : problemOf(step, answer);
}

export function problemOf(step: DecisiveStep, answer: Reply | Fault): Delivery {
  return isRefusal(answer)
    ? { kind: "refused", step, reply: answer }
    : { kind: "broken", failure: { step, cause: answer }, isUnknown: step === "dot" };
}

/** After an unexpected reply it is not clear to which command the next replies belong. */
export function endsSession(answer: Reply): boolean {
  return !isRefusal(answer) || answer.code === SERVICE_CLOSING;
}

export function isRefusal(answer: Reply | Fault): answer is Reply {
  return answer.kind === "reply" && answer.code >= 400;
}

export function isExpected(step: DecisiveStep, answer: Reply | Fault): answer is Reply {
  if (answer.kind !== "reply") return false;
  return step === "data" ? answer.code === 354 : answer.code >= 200 && answer.code < 300;
}

/** The end of the delivery of a mail to one host, with the reply. */
export type HostResult = {
  delivery: Delivery;
  /** Two if a stale session was replaced, none if the pool was closed first. */
  conversations: Conversation[];
};

export function joined(first: HostResult, second: HostResult): HostResult {
  return { ...second, conversations: [...first.conversations, ...second.conversations] };
}

/**
 * True if a reused session failed at its first command. A timeout does not count, because it has
 * used up the time of a second try.
 */
export function isStale({ delivery, conversations }: HostResult): boolean {
  if (conversations[0]?.reused !== true) return false;
  if (delivery.kind === "refused") {
    return delivery.step === "mail" && delivery.reply.code === SERVICE_CLOSING;
  }
  if (delivery.kind !== "broken") return false;
  return delivery.failure.step === "mail" && delivery.failure.cause.kind !== "timeout";
}

export function unopened(failure: Failure, conversations: Conversation[]): HostResult {
  return { delivery: { kind: "unopened", failure }, conversations };
}

/** The result of a mail whose session ended before the mail began. */
export function endedBefore(conversation: Conversation, cause: Fault): HostResult {
  const { message: text } = cause;
  const step: Step = { step: "mail", command: null, code: null, enhanced: null, text, ms: 0 };
  return {
    delivery: { kind: "broken", failure: { step: "mail", cause }, isUnknown: false },
    conversations: [{ ...conversation, reused: true, steps: [step] }],
  };
}
