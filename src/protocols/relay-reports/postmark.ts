/**
 * Postmark: one event for each request. The metadata of the mail come back with every event.
 * https://postmarkapp.com/developer/webhooks/webhooks-overview
 */

import type { ReplyClass } from "../smtp/reply-classes.ts";
import { entryOf, type MailClues, type RelayReport, textAt, timeAt, valueAt } from "./report.ts";

/** Types of bounces after which the mail was not delivered. */
const BOUNCES: Readonly<Record<string, ReplyClass>> = {
  HardBounce: "no_such_recipient",
  BadEmailAddress: "no_such_recipient",
  SoftBounce: "temporary",
  Unknown: "temporary",
  DnsError: "infrastructure",
  Undeliverable: "temporary",
  SpamNotification: "content",
  VirusNotification: "content",
  TemplateRenderingFailed: "content",
  Blocked: "reputation",
  ISPBlock: "reputation",
  DMARCPolicy: "authentication",
  SMTPApiError: "policy",
  ManuallyDeactivated: "policy",
  InboundError: "policy",
};

/** No attempt was made to deliver these. */
const UNTRIED: ReadonlySet<string> = new Set(["ManuallyDeactivated", "TemplateRenderingFailed"]);

export function readPostmarkEvent(event: unknown): RelayReport[] {
  const clues = {
    emailId: textAt(event, "Metadata", "mailstead-id"),
    messageId: null,
    recipient: textAt(event, "Recipient") ?? textAt(event, "Email"),
  };
  switch (textAt(event, "RecordType")) {
    case "Delivery":
      return [{ ...clues, kind: "delivery" }];
    case "Bounce":
      return [readBounce(event, clues)];
    case "SpamComplaint":
      return [{ ...clues, kind: "complaint", feedbackType: "abuse" }];
    case "Open":
      return [{ ...clues, kind: "open", url: null, ...circumstances(event) }];
    case "Click":
      return [
        { ...clues, kind: "click", url: textAt(event, "OriginalLink"), ...circumstances(event) },
      ];
    case "SubscriptionChange": {
      // A bounce and a complaint have events of their own.
      const isOwnWish =
        valueAt(event, "SuppressSending") === true &&
        textAt(event, "SuppressionReason") === "ManualSuppression";
      return [{ ...clues, kind: isOwnWish ? "unsubscribe" : "other" }];
    }
    default:
      return [{ ...clues, kind: "other" }];
  }
}

function readBounce(event: unknown, clues: MailClues): RelayReport {
  const type = textAt(event, "Type") ?? "";
  if (type === "SpamComplaint") return { ...clues, kind: "complaint", feedbackType: "abuse" };
  if (type === "Unsubscribe") return { ...clues, kind: "unsubscribe" };
  const found = entryOf(BOUNCES, type);
  // Automatic replies, challenges, changes of the address, and mail that Postmark tries again.
  if (found === undefined) return { ...clues, kind: "delay" };
  return {
    ...clues,
    kind: "bounce",
    class: found,
    isCertain: UNTRIED.has(type),
    status: null,
    words: textAt(event, "Details") ?? textAt(event, "Description") ?? type,
  };
}

function circumstances(event: unknown) {
  return {
    at: timeAt(event, "ReceivedAt"),
    userAgent: textAt(event, "UserAgent"),
    isMachine: false,
  };
}
