/**
 * The recipients of a request, each of whom gets a mail with a record of its own. Without `cc` and
 * `bcc`, each mail names its recipient alone. With one of them, the mails are copies of one message: all
 * show the same To and Cc, and an address that is named twice gets one copy.
 */

import type { FieldError } from "../../lib/errors.ts";
import type { Mailbox } from "../../protocols/mime/mailbox.ts";
import type { VisibleRecipients } from "../../protocols/mime/visible-recipients.ts";
import { mailboxesOf } from "./mailboxes.ts";
import type { SendInput } from "./model.ts";

/** Most recipients of one message, of all three fields together. */
export const MOST_COPIES = 50;

const FIELDS = ["to", "cc", "bcc"] as const;

/** `path`: where the request names the address, such as `to` or `cc.1`. */
export type Recipient = Mailbox & { field: (typeof FIELDS)[number]; path: string };

/** Whether the mails of a request are copies of one message. */
export const isOneMessage = ({ cc, bcc }: Pick<SendInput, "cc" | "bcc">): boolean =>
  countOf(cc) + countOf(bcc) > 0;

export function recipientsOf(input: SendInput): Recipient[] {
  const all = FIELDS.flatMap((field) => {
    const given = input[field];
    const pathOf = (position: number) => (Array.isArray(given) ? `${field}.${position}` : field);
    return mailboxesOf(given).map((mailbox, i) => ({ ...mailbox, field, path: pathOf(i) }));
  });
  if (!isOneMessage(input)) return all;
  const firsts = new Map<string, Recipient>();
  for (const each of all) if (!firsts.has(each.address)) firsts.set(each.address, each);
  return [...firsts.values()];
}

/** The To and Cc of all copies; null for a request whose mails name their recipient alone. */
export function visibleRecipients(input: SendInput): VisibleRecipients | null {
  if (!isOneMessage(input)) return null;
  const recipients = recipientsOf(input);
  const mailboxes = (field: Recipient["field"]) =>
    recipients
      .filter((each) => each.field === field)
      .map(({ name, address }) => ({ name, address }));
  return { to: mailboxes("to"), cc: mailboxes("cc") };
}

/** The error of a message to too many. The values are not validated yet and may have any content. */
export function copiesErrors(value: Readonly<Record<string, unknown>>): FieldError[] {
  const count = FIELDS.reduce((sum, field) => sum + countOf(value[field]), 0);
  const field = countOf(value["cc"]) > 0 ? "cc" : "bcc";
  if (countOf(value[field]) === 0 || count <= MOST_COPIES) return [];
  const message = `must be at most ${MOST_COPIES} addresses, together with those of to, cc and bcc`;
  return [{ field, message, code: "too_big" }];
}

function countOf(given: unknown): number {
  if (given === undefined || given === null) return 0;
  return Array.isArray(given) ? given.length : 1;
}
