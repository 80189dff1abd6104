/**
 * The mailboxes in To and Cc, if there are more than the recipient of the mail. They are stored as
 * two lines of text, those of To and of Cc, each with mailboxes that commas separate.
 */

import { type Mailbox, mailboxText, parseMailbox, splitMailboxes } from "./mailbox.ts";

export type VisibleRecipients = { to: readonly Mailbox[]; cc: readonly Mailbox[] };

export const writeVisible = ({ to, cc }: VisibleRecipients): string =>
  [to, cc].map((mailboxes) => mailboxes.map(mailboxText).join(", ")).join("\n");

export function readVisible(text: string): VisibleRecipients {
  const [to = "", cc = ""] = text.split("\n");
  return { to: mailboxesIn(to), cc: mailboxesIn(cc) };
}

function mailboxesIn(line: string): Mailbox[] {
  if (line === "") return [];
  return splitMailboxes(line).map((text) => {
    const parsed = parseMailbox(text);
    if (!parsed.ok) throw new Error(`a stored mailbox cannot be read: ${parsed.reason}`);
    return parsed.mailbox;
  });
}
