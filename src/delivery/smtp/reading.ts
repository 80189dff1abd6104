/** What a server's replies mean for a mail (delivery rule R1), whoever the server is. Pure. */

import type { ReplyClass, SmtpStep } from "../../mail/reply-classes.ts";
import { classifyReply } from "../../mail/replies.ts";
import type { Unsendable } from "./envelope.ts";
import { replyText, type Reply } from "./reply.ts";

export type Reading =
  | { kind: "deferred"; class: ReplyClass; retryAfterMs?: number }
  | { kind: "bounced"; class: ReplyClass };

/** The first digit decides between later and never (RFC 5321 §4.2.1). */
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

/** Too large or beyond ASCII for the server is its verdict (S4); an address that is none is ours. */
export function readUnsendable({ step, code, enhanced, message }: Unsendable): {
  kind: "bounced" | "failed";
  class: ReplyClass;
} {
  if (code === 501) return { kind: "failed", class: "content" };
  return { kind: "bounced", class: classifyReply({ step, code, enhanced, text: message }).class };
}

/** After the final dot the mail may have arrived: never at once again (delivery rule S5). */
export const UNKNOWN_END = "the mail was sent, whether it was taken is unknown";
