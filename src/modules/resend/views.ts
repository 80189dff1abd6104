/** Contacts and received mails as Resend shows them, in answers and in the events of webhooks. */

import { isoTime } from "../../lib/clock.ts";
import { mailboxText } from "../../protocols/mime/mailbox.ts";
import { parseData } from "../contacts/data.ts";
import type { ContactRow } from "../contacts/service.ts";
import { receivedContent, type ReceivedRow } from "../inbound-routes/record.ts";
import { shownAttachment } from "./attachments.ts";

/** The keys of the contact's data with the parts of the name. */
export const [FIRST_NAME, LAST_NAME] = ["firstName", "lastName"] as const;

export function shownContact(row: ContactRow) {
  const data = parseData(row.data);
  return {
    id: row.id,
    email: row.email,
    first_name: textOf(data[FIRST_NAME]),
    last_name: textOf(data[LAST_NAME]),
    created_at: isoTime(row.createdAt),
    unsubscribed: !row.isSubscribed,
  };
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

export function shownReceived(row: Pick<ReceivedRow, "id" | "receivedAt" | "content">) {
  const { to, addressees, from, fromName, subject, messageId, parts } = receivedContent(row);
  const { to: shownTo = to, cc = [], replyTo = [] } = addressees ?? {};
  return {
    id: row.id,
    to: shownTo,
    from: from === null ? "" : mailboxText({ address: from, name: fromName }),
    created_at: isoTime(row.receivedAt),
    subject,
    bcc: [],
    cc,
    reply_to: replyTo,
    received_for: to,
    message_id: messageId ?? "",
    attachments: parts.map(shownAttachment),
  };
}
