/**
 * Reads messages that mail servers send about earlier mail (RFC 3464, RFC 6522, RFC 6533). A pure
 * function: bytes in, findings out. It takes linear time, has limits, and never throws.
 *
 * 1. `mime/read-parts.ts` splits the message.
 * 2. A delivery status, as a part of its own or as text, is a standard report (delivery-status.ts).
 * 3. Otherwise `automatic.ts` recognises what is never a bounce.
 * 4. Otherwise the table of non-standard bounces is tried (text-report.ts, text-rules.ts).
 * 5. `classify.ts` maps each recipient to a class of SMTP replies; `original.ts` finds the mail.
 */

import { valueOf } from "../mime/read-fields.ts";
import {
  decodeWords,
  leavesOf,
  type MessagePart,
  plainOfHtml,
  readMessage,
  textOfPart,
} from "../mime/read-parts.ts";
import { type AutomaticKind, automaticKind } from "./automatic.ts";
import { diagnose, type Diagnosis } from "./classify.ts";
import {
  type DeliveryStatus,
  type DsnAction,
  parseDeliveryStatus,
  type RecipientStatus,
} from "./delivery-status.ts";
import { type OriginalMail, originalOf } from "./original.ts";
import {
  isBounceSubject,
  isFromMailServer,
  isFromMailSystem,
  readTextReport,
} from "./text-report.ts";

/** The finding of a report about one recipient. */
export type RecipientFinding = Diagnosis & {
  action: DsnAction;
  /** The address that the reporting server used; null if it names none. */
  recipient: string | null;
  /** The address to which the mail was sent, if the report names it. */
  originalRecipient: string | null;
  remoteMta: string | null;
};

export type DsnReport =
  | {
      kind: "delivery";
      /** `standard`, or the kind of server in the table of rules. */
      form: string;
      envelopeId: string | null;
      reportingMta: string | null;
      findings: readonly RecipientFinding[];
      original: OriginalMail;
      /** The part of the report about the failure; bounded. */
      excerpt: string;
    }
  | { kind: "automatic"; what: AutomaticKind }
  | { kind: "unknown" };

const MAX_TEXT = 64 * 1024;
const MAX_EXCERPT = 4_000;

export function readDsn(message: MessagePart): DsnReport {
  const leaves = leavesOf(message);
  const standard = standardReport(leaves);
  const original = () => originalOf(message);
  if (standard !== null) {
    const { status, excerpt } = standard;
    const { envelopeId, reportingMta } = status;
    const sender = senderOf(message);
    const findings = status.recipients.map((recipient) => findingOf(recipient, sender));
    return {
      kind: "delivery",
      form: "standard",
      envelopeId,
      reportingMta,
      findings: withText(findings, leaves),
      original: original(),
      excerpt: excerptOf(excerpt),
    };
  }
  const subject = decodeWords(valueOf(message.fields, "subject") ?? "");
  const text = readableText(leaves);
  const isFromServer = isFromMailServer(message.fields);
  const hasBounceSubject = isBounceSubject(subject);
  const attached = isFromServer && hasBounceSubject ? attachedReport(leaves) : null;
  if (attached !== null) return attached;
  const report = readTextReport(message.fields, subject, text);
  const what = automaticKind({
    message,
    subject,
    text,
    isFromMailSystem: isFromMailSystem(message.fields),
    hasBounceSubject,
    isReport: isFromServer && report !== null,
  });
  if (what !== null) return { kind: "automatic", what };
  if (report === null) return { kind: "unknown" };
  return {
    kind: "delivery",
    form: report.rule,
    envelopeId: null,
    reportingMta: null,
    findings: report.findings.map((each) => ({
      ...each,
      originalRecipient: null,
      remoteMta: null,
    })),
    original: original(),
    excerpt: excerptOf(report.excerpt),
  };
}

/** A standard report that a gateway attached to a message of its own. */
function attachedReport(leaves: readonly MessagePart[]): DsnReport | null {
  const part = leaves.find(({ type }) => type === "message/rfc822");
  if (part === undefined) return null;
  const message = readMessage(Buffer.from(part.body.replace(/^\s+/, ""), "latin1"));
  if (!message.type.startsWith("multipart/report")) return null;
  const report = standardReport(leavesOf(message)) === null ? null : readDsn(message);
  return report?.kind === "delivery" ? report : null;
}

/** The delivery status in a part of its own, or in a text part, as some servers send it. */
function standardReport(
  leaves: readonly MessagePart[],
): { status: DeliveryStatus; excerpt: string } | null {
  const own = leaves.filter(({ type }) => STATUS_TYPES.has(type));
  const candidates = own.length > 0 ? own : leaves.filter(isStatusText);
  for (const part of candidates) {
    const text = textOfPart(part);
    const status = parseDeliveryStatus(text);
    if (status !== null) return { status, excerpt: text };
  }
  return null;
}

const STATUS_TYPES: ReadonlySet<string> = new Set([
  "message/delivery-status",
  "message/global-delivery-status",
  "message/xdelivery-status",
]);

/** A text part that begins with the fields of a delivery status. */
function isStatusText(part: MessagePart): boolean {
  if (part.type !== "text/plain") return false;
  const opening = textOfPart(part, 4_000);
  return (
    /^\s*(?:reporting-mta|original-envelope-id|final-recipient)[ \t]*:/i.test(opening) &&
    /^final-recipient[ \t]*:/im.test(opening) &&
    /^(?:action|status)[ \t]*:/im.test(opening)
  );
}

/** The address to which a report goes is the one of the mail's sender (RFC 3464 §2). */
function senderOf({ fields }: MessagePart): string | null {
  const to = (valueOf(fields, "to") ?? "").slice(0, 1_000);
  return /[^\s<>"(),;:@]{1,64}@[^\s<>"(),;:@]{1,255}/.exec(to)?.[0] ?? null;
}

function findingOf(status: RecipientStatus, sender: string | null): RecipientFinding {
  const { action, diagnostic, remoteMta, originalRecipient, finalRecipient } = status;
  return {
    ...diagnose(status.status, diagnostic?.text ?? "", { recipient: finalRecipient, sender }),
    action,
    recipient: finalRecipient,
    originalRecipient,
    remoteMta,
  };
}

/**
 * A report without a diagnostic says the reason only in its text, which is read if there is one
 * recipient and the status is "other or undefined" (RFC 3463 §3).
 */
function withText(
  findings: readonly RecipientFinding[],
  leaves: readonly MessagePart[],
): RecipientFinding[] {
  const [only] = findings;
  const isVague = only?.text === "" && (only.status === null || only.status.endsWith(".0"));
  if (findings.length !== 1 || only === undefined || !isVague) return [...findings];
  const words = readableText(leaves).slice(0, 4_000);
  const reason = diagnose(only.status, words, { recipient: only.recipient });
  return [{ ...only, ...reason, isPermanent: only.isPermanent && reason.isPermanent }];
}

function readableText(leaves: readonly MessagePart[]): string {
  const plain = leaves.filter(({ type }) => type === "text/plain").map((part) => textOfPart(part));
  const joined = plain.join("\n").slice(0, MAX_TEXT);
  if (joined.trim() !== "") return joined;
  const html = leaves.filter(({ type }) => type === "text/html").map((part) => textOfPart(part));
  return plainOfHtml(html.join("\n").slice(0, 4 * MAX_TEXT)).slice(0, MAX_TEXT);
}

/** Bounded text without control characters except line ends. */
export function excerptOf(text: string): string {
  return text
    .slice(0, MAX_EXCERPT)
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .toWellFormed()
    .trim();
}
