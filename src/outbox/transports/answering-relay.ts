/** Finds, in the stored attempts of a mail, the relay that a mail must keep to. */

import { statement } from "../../db/statement.ts";
import {
  type Conversation,
  readConversations,
  type Step,
} from "../../protocols/smtp/conversation.ts";

export const findAttempts = statement<{ conversations: string }, [number]>(
  "SELECT conversations FROM attempts WHERE email_seq = +? ORDER BY seq DESC",
);

/** The relay of the latest attempt that it has answered, or in which it may have accepted the mail. */
export function readAnsweringRelay(
  attempts: readonly { conversations: string }[],
): Pick<Conversation, "host" | "port"> | null {
  for (const { conversations } of attempts) {
    const last = readConversations(conversations).at(-1);
    if (last?.steps.some(isAnswer) === true) return last;
  }
  return null;
}

/** After the final dot, the relay may have accepted the mail even if its reply is missing. */
function isAnswer({ step, code }: Step): boolean {
  if (step === "dot") return true;
  return (step === "mail" || step === "rcpt" || step === "data") && code !== null && code >= 400;
}
