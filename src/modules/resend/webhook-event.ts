/**
 * The events of webhooks that were made through /resend, in the form of Resend. Such a webhook names the
 * events of Resend; NAMES says by which of ours it gets them.
 */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError, type FieldError, validationError } from "../../lib/errors.ts";
import { readStoredTags } from "../../lib/stored-tags.ts";
import { mailboxText } from "../../protocols/mime/mailbox.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import { getContact } from "../contacts/service.ts";
import type { Event } from "../events/model.ts";
import type { ReceivedRow } from "../inbound-routes/record.ts";
import { shownContact, shownReceived } from "./views.ts";

const NAMES: ReadonlyMap<string, string> = new Map([
  ["email.sent", "email.sent"],
  ["email.delivered", "email.delivered"],
  ["email.bounced", "email.bounced"],
  ["email.complained", "email.complained"],
  ["email.opened", "email.opened"],
  ["email.clicked", "email.clicked"],
  ["email.failed", "email.failed"],
  ["email.suppressed", "email.suppressed"],
  ["email.received", "email.received"],
  ["contact.subscribed", "contact.updated"],
  ["contact.unsubscribed", "contact.updated"],
]);
const RESEND_EVENTS: readonly string[] = [...new Set(NAMES.values())];

/** The name of our event in Resend; null if it has none there. */
export const resendEventName = (name: string): string | null => NAMES.get(name) ?? null;

/** Throws 422 for an event that webhooks in the form of Resend cannot get. */
export function ensureResendEvents(events: readonly string[]): void {
  const errors = events.flatMap((event, i): FieldError[] => {
    if (RESEND_EVENTS.includes(event)) return [];
    const message = `is not supported; the events are ${RESEND_EVENTS.join(", ")}`;
    return [{ field: `events.${i}`, code: "invalid_value", message }];
  });
  if (errors.length > 0) throw validationError(errors);
}

/** The body of the request with an event. A test of a webhook has a name of ours and no data. */
export function resendEvent(app: App, projectSeq: number, event: Event) {
  const type = resendEventName(event.name) ?? event.name;
  return { type, created_at: event.createdAt, data: dataOf(app, projectSeq, { type, event }) };
}

type Named = { type: string; event: Event };

function dataOf(app: App, projectSeq: number, { type, event }: Named): object {
  if (type === "email.received") return receivedData(app, projectSeq, event);
  if (type === "contact.updated") return contactData(app, projectSeq, event);
  if (!type.startsWith("email.")) return {};
  return { ...mailData(app, projectSeq, event), ...detailsOf(type, event) };
}

/** The members that an event of this type has beside those of its mail. */
function detailsOf(type: string, { data, createdAt }: Event): object {
  const reason = textOf(data?.["reason"]);
  switch (type) {
    case "email.bounced":
      return { bounce: { message: reason, ...bounceKind(textOf(data?.["class"])) } };
    case "email.clicked": {
      // Neither the address nor the program of the person is stored.
      const link = textOf(data?.["url"]);
      return { click: { ipAddress: "", link, timestamp: createdAt, userAgent: "" } };
    }
    case "email.failed":
      return { failed: { reason } };
    case "email.suppressed":
      return { suppressed: { message: reason, type: "OnAccountSuppressionList" } };
    default:
      return {};
  }
}

/** The types and subtypes of bounces, which Resend has from Amazon SES, by the class of the reply. */
function bounceKind(replyClass: string): { type: string; subType: string } {
  if (replyClass === "") return { type: "Undetermined", subType: "Undetermined" };
  if (replyClass === "no_such_recipient") return { type: "Permanent", subType: "General" };
  if (replyClass === "mailbox_full") return { type: "Transient", subType: "MailboxFull" };
  if (replyClass === "content") return { type: "Transient", subType: "ContentRejected" };
  return { type: "Transient", subType: "General" };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

type MailRow = {
  id: string;
  groupId: string | null;
  to: string | null;
  subject: string;
  templateId: string | null;
  tags: string | null;
  createdAt: number;
  address: string;
  name: string | null;
  messageId: string | null;
  campaignId: string | null;
};

const findMail = statement<MailRow, [string, number]>(`
  SELECT mail.id, mail.group_id AS groupId, mail.to_address AS "to", mail.subject,
         mail.template_id AS templateId, mail.tags, mail.created_at AS createdAt,
         messages.from_address AS address, messages.from_name AS name,
         messages.message_id AS messageId,
         (SELECT id FROM campaigns WHERE campaigns.seq = mail.campaign_seq) AS campaignId
  FROM emails AS mail CROSS JOIN messages ON messages.seq = mail.message_seq
  WHERE mail.id = +? AND mail.project_seq = +?`);

/**
 * The mail of an event. A copy has the id of the first mail of its message, which the answer to the
 * request named, and its own recipient.
 */
function mailData(app: App, projectSeq: number, { emailId, createdAt }: Event): object {
  const mail = emailId === null ? null : findMail(app).get(emailId, projectSeq);
  if (mail === null) return { ...NO_MAIL, email_id: emailId ?? "", created_at: createdAt };
  const { id, groupId, to, subject, templateId, tags, address, name, campaignId } = mail;
  const first = groupId ?? id;
  return {
    email_id: first,
    message_id: mail.messageId ?? messageIdOf(first, address),
    created_at: isoTime(mail.createdAt),
    from: mailboxText({ address, name }),
    to: to === null ? [] : [to],
    subject,
    ...(campaignId === null ? {} : { broadcast_id: campaignId }),
    ...(templateId === null ? {} : { template_id: templateId }),
    ...(tags === null ? {} : { tags: readStoredTags(tags) }),
  };
}

/** A mail that was removed meanwhile. */
const NO_MAIL = { message_id: "", from: "", to: [], subject: "" };

const findReceived = statement<
  Pick<ReceivedRow, "id" | "receivedAt" | "content">,
  [string, number]
>(
  `SELECT id, received_at AS receivedAt, content FROM received_mails
   WHERE id = +? AND project_seq = +? AND state = 'RECEIVED'`,
);

function receivedData(app: App, projectSeq: number, { data, createdAt }: Event): object {
  const id = textOf(data?.["id"]);
  const row = findReceived(app).get(id, projectSeq);
  if (row === null) {
    const lists = { bcc: [], cc: [], received_for: [], attachments: [] };
    return { ...NO_MAIL, ...lists, email_id: id, created_at: createdAt };
  }
  const { id: email_id, reply_to: _replyTo, attachments, ...shown } = shownReceived(row);
  return { email_id, ...shown, attachments: attachments.map(({ size: _size, ...file }) => file) };
}

function contactData(app: App, projectSeq: number, { contactId, createdAt }: Event): object {
  try {
    const contact = getContact(app, projectSeq, contactId ?? "");
    return { ...shownContact(contact), updated_at: isoTime(contact.updatedAt) };
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 404) throw error;
    return { id: contactId ?? "", email: "", created_at: createdAt };
  }
}
