/** Classifies the replies of a relay or an MX to a mail (docs/delivery.md#R1). Pure functions. */

import type { ReplyClass, SmtpStep } from "./reply-classes.ts";
import { classifyReply } from "./classify-reply.ts";
import type { Unsendable } from "./envelope.ts";
import { replyText, type Reply } from "./reply.ts";

type Reading =
  | { kind: "deferred"; class: ReplyClass; retryAfterMs?: number }
  | { kind: "bounced"; class: ReplyClass };

/** The first digit decides between temporary and permanent (RFC 5321 §4.2.1). */
export function readReply(step: SmtpStep, reply: Reply): Reading {
  const { code, enhanced } = reply;
  const verdict = classifyReply({ step, code, enhanced, text: replyText(reply) });
  if (code >= 500) return { kind: "bounced", class: verdict.class };
  const { retryAfterMs } = verdict;
  return {
    kind: "deferred",
    class: verdict.class,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/**
 * A mail that is too large or not ASCII bounces, because the server cannot accept it
 * (docs/delivery.md#S4). An invalid address fails on this side.
 */
export function readUnsendable({ step, code, enhanced, message }: Unsendable): {
  kind: "bounced" | "failed";
  class: ReplyClass;
} {
  if (code === 501) return { kind: "failed", class: "content" };
  return { kind: "bounced", class: classifyReply({ step, code, enhanced, text: message }).class };
}

/**
 * Reason if the connection broke after the final dot: not retried at once (docs/delivery.md#S5).
 */
export const UNKNOWN_END = "the mail was sent, but it is unknown whether it was accepted";
