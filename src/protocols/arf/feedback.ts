/**
 * Reads complaints: reports in the Abuse Reporting Format (RFC 5965), and the forms of Microsoft's
 * Junk Mail Reporting Program and of Yahoo, which are not complete. A pure function that never
 * throws: a message in, findings out.
 */

import { excerptOf } from "../dsn/report.ts";
import { type OriginalMail, originalOf } from "../dsn/original.ts";
import { type ReadField, readFields, valueOf } from "../mime/read-fields.ts";
import { leavesOf, type MessagePart, textOfPart } from "../mime/read-parts.ts";

type Complaint = {
  kind: "complaint";
  form: "ARF" | "JMRP" | "Yahoo";
  /** The value of Feedback-Type, such as abuse or fraud; `not-spam` is no complaint. */
  feedbackType: string;
  /** The program that wrote the report; null if it is not named. */
  userAgent: string | null;
  /** The recipients who complained, if they are named; at most 20. */
  recipients: readonly string[];
  /** The ENVID of the mail; null if it is not named. */
  envelopeId: string | null;
  original: OriginalMail;
  excerpt: string;
};

const MAX_RECIPIENTS = 20;

/** Returns null if the message is not a complaint. */
export function readComplaint(message: MessagePart): Complaint | null {
  const leaves = leavesOf(message);
  const part = leaves.find(({ type }) => type === "message/feedback-report");
  if (part !== undefined) return ofFeedbackReport(message, part);
  return junkReport(message, leaves);
}

function ofFeedbackReport(message: MessagePart, part: MessagePart): Complaint {
  const text = textOfPart(part, 32 * 1024);
  const fields = readFields(text);
  const from = valueOf(message.fields, "from") ?? "";
  return {
    kind: "complaint",
    form: /@(?:\S{1,100}\.)?(?:yahoo|aol)\.|yahoo!? feedback/i.test(from) ? "Yahoo" : "ARF",
    feedbackType: (valueOf(fields, "feedback-type") ?? "abuse").toLowerCase().slice(0, 100),
    userAgent: valueOf(fields, "user-agent")?.slice(0, 200) ?? null,
    recipients: recipientsOf(fields),
    envelopeId: valueOf(fields, "original-envelope-id")?.slice(0, 200) ?? null,
    original: originalOf(message),
    excerpt: excerptOf(text),
  };
}

function recipientsOf(fields: readonly ReadField[]): string[] {
  return fields
    .filter(({ name }) => name === "original-rcpt-to" || name === "removal-recipient")
    .map(({ value }) =>
      value
        .replace(/^[\w-]{1,20};/, "")
        .replace(/[<>]/g, "")
        .trim(),
    )
    .filter((value) => value.includes("@") && value.length <= 320)
    .slice(0, MAX_RECIPIENTS);
}

/**
 * The Junk Mail Reporting Program attaches the message without a feedback report. The address of the
 * recipient is in the field X-HmXmrOriginalRecipient of the message.
 */
function junkReport(message: MessagePart, leaves: readonly MessagePart[]): Complaint | null {
  const from = valueOf(message.fields, "from") ?? "";
  const attached = leaves.find(({ type }) => type === "message/rfc822");
  if (attached === undefined) return null;
  const fields = readFields(textOfPart(attached).slice(0, 128 * 1024));
  const recipient = valueOf(fields, "x-hmxmroriginalrecipient");
  const isMicrosoft = /staff@hotmail\.com|@(?:jmrp|report)\S{0,60}\.(?:outlook|microsoft)\.com/i;
  if (!isMicrosoft.test(from) || (recipient === null && !isJunkSubject(message))) return null;
  return {
    kind: "complaint",
    form: "JMRP",
    feedbackType: "abuse",
    userAgent: null,
    recipients: recipient === null ? [] : [recipient.replace(/[<>]/g, "").slice(0, 320)],
    envelopeId: null,
    original: originalOf(message),
    excerpt: excerptOf(`From: ${from}\n${valueOf(message.fields, "subject") ?? ""}`),
  };
}

function isJunkSubject({ fields }: MessagePart): boolean {
  return /complaint about message from|junk|abuse report/i.test(valueOf(fields, "subject") ?? "");
}
