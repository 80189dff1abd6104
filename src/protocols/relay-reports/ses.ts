/**
 * Amazon SES: notifications of an identity (`notificationType`) and events of a configuration set
 * (`eventType`), which come within a message of SNS. The header of the mail is part of both, if the
 * operator includes it; its Message-ID is ours, although SES replaces it on the wire.
 * https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html
 */

import type { ReplyClass } from "../smtp/reply-classes.ts";
import {
  addressIn,
  type BounceClass,
  bracketed,
  entryOf,
  headerAt,
  listAt,
  type MailClues,
  type RelayReport,
  statusIn,
  textAt,
  timeAt,
} from "./report.ts";

/** SES accepts at most this many recipients of a mail. */
const MAX_RECIPIENTS = 50;

const known = (found: ReplyClass, isCertain = false): BounceClass => ({ class: found, isCertain });

/** Types and subtypes of bounces. Resend passes them on. */
const BOUNCES: Readonly<Record<string, BounceClass>> = {
  "Permanent/General": known("no_such_recipient"),
  "Permanent/NoEmail": known("no_such_recipient"),
  "Permanent/Suppressed": known("no_such_recipient", true),
  "Permanent/OnAccountSuppressionList": known("policy", true),
  "Permanent/UnsubscribedRecipient": known("policy", true),
  "Transient/General": known("temporary"),
  "Transient/MailboxFull": known("mailbox_full"),
  "Transient/MessageTooLarge": known("content"),
  "Transient/ContentRejected": known("content"),
  "Transient/AttachmentRejected": known("content"),
};

const UNKNOWN_BOUNCES: Readonly<Record<string, BounceClass>> = {
  Permanent: known("policy"),
  Transient: known("temporary"),
};

/** The class of a bounce by the type and the subtype that SES gives it. */
export function readSesBounce(type: string | null, subType: string | null): BounceClass {
  return (
    entryOf(BOUNCES, `${type}/${subType}`) ??
    entryOf(UNKNOWN_BOUNCES, type ?? "") ??
    known("policy")
  );
}

/** The diagnosis without the name of its protocol. */
const words = (diagnostic: string | null): string =>
  (diagnostic ?? "").replace(/^(?:smtp|x-[\w-]{1,40}); ?/i, "");

export function readSesEvent(event: unknown): RelayReport[] {
  const type = textAt(event, "eventType") ?? textAt(event, "notificationType");
  const fields = listAt(event, "mail", "headers");
  const messageId =
    headerAt(fields, "message-id") ?? textAt(event, "mail", "commonHeaders", "messageId");
  const clues: MailClues = {
    emailId: headerAt(fields, "x-mailstead-id"),
    messageId: bracketed(messageId),
    recipient: addressIn(textAt(event, "mail", "destination", 0)),
  };
  switch (type) {
    case "Bounce":
      return readBounces(event, clues);
    case "Complaint":
      return readComplaints(event, clues);
    case "Delivery":
      return recipientsOf(listAt(event, "delivery", "recipients"), clues).map((each) => ({
        ...each,
        kind: "delivery",
      }));
    case "Open":
    case "Click": {
      const name = type === "Open" ? "open" : "click";
      return [
        {
          ...clues,
          kind: name,
          url: textAt(event, "click", "link"),
          at: timeAt(event, name, "timestamp"),
          userAgent: textAt(event, name, "userAgent"),
          isMachine: false,
        },
      ];
    }
    case "Reject":
      return [bounced(clues, known("content", true), textAt(event, "reject", "reason"))];
    case "Rendering Failure":
      return [bounced(clues, known("content", true), textAt(event, "failure", "errorMessage"))];
    case "Subscription":
      return [{ ...clues, kind: "unsubscribe" }];
    default:
      return [{ ...clues, kind: type === "DeliveryDelay" ? "delay" : "other" }];
  }
}

function readBounces(event: unknown, clues: MailClues): RelayReport[] {
  const [type, subType] = [
    textAt(event, "bounce", "bounceType"),
    textAt(event, "bounce", "bounceSubType"),
  ];
  const found = readSesBounce(type, subType);
  return listAt(event, "bounce", "bouncedRecipients")
    .slice(0, MAX_RECIPIENTS)
    .map((each) => ({
      ...clues,
      recipient: addressIn(textAt(each, "emailAddress")) ?? clues.recipient,
      kind: "bounce",
      ...found,
      status: statusIn(textAt(each, "status")),
      words: words(textAt(each, "diagnosticCode")) || joinedType(type, subType),
    }));
}

const joinedType = (type: string | null, subType: string | null): string =>
  [type, subType].filter((part) => part !== null).join(": ");

/** SES lists every recipient at the domain that may have complained; ours has one recipient. */
function readComplaints(event: unknown, clues: MailClues): RelayReport[] {
  const recipients = recipientsOf(
    listAt(event, "complaint", "complainedRecipients").map((each) => textAt(each, "emailAddress")),
    clues,
  );
  if (textAt(event, "complaint", "complaintSubType") === "OnAccountSuppressionList") {
    const reason = "The address is on the suppression list of the account, after a complaint.";
    return recipients.map((each) => bounced(each, known("policy", true), reason));
  }
  const feedbackType = textAt(event, "complaint", "complaintFeedbackType") ?? "abuse";
  return recipients.map((each) => ({ ...each, kind: "complaint", feedbackType }));
}

function bounced(clues: MailClues, found: BounceClass, reason: string | null): RelayReport {
  return { ...clues, kind: "bounce", ...found, status: null, words: reason ?? "" };
}

function recipientsOf(addresses: readonly unknown[], clues: MailClues): MailClues[] {
  const found = addresses
    .slice(0, MAX_RECIPIENTS)
    .flatMap((address) => (typeof address === "string" ? [address] : []));
  return found.length === 0
    ? [clues]
    : found.map((address) => ({ ...clues, recipient: addressIn(address) }));
}
