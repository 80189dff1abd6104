/**
 * Classifies an SMTP reply: temporary or permanent, and its cause (docs/delivery.md#R1,
 * docs/delivery.md#R3). The rules apply in this order:
 *
 * 1. The first digit of the basic code decides between temporary and permanent (RFC 5321 §4.2.1).
 * 2. In some steps only this installation can be the cause.
 * 3. Some enhanced codes have the same meaning everywhere (RFC 3463, RFC 7372).
 * 4. Known texts, then "no such recipient", the other enhanced codes, and the basic code decide.
 */

import type { Unsendable } from "./envelope.ts";
import { replyText, type Reply } from "./reply.ts";
import type { ReplyClass, SmtpStep } from "./reply-classes.ts";
import {
  GREYLISTING,
  KNOWN_TEXTS,
  UNKNOWN_RECIPIENT,
  UNKNOWN_RECIPIENT_LATE,
} from "./reply-texts.ts";

type NegativeReply = {
  step: SmtpStep;
  /** Basic reply code; every code outside 500–599 counts as temporary. */
  code: number;
  /** Enhanced status code `x.y.z`; if null, the text is searched for one. */
  enhanced: string | null;
  text: string;
};

/** `retryAfterMs` is present only if the reply names a time; 1 minute to 24 hours. */
type Refusal =
  | { kind: "deferred"; class: ReplyClass; retryAfterMs?: number }
  | { kind: "bounced"; class: ReplyClass; retryAfterMs?: never };

/**
 * Classifies a negative reply. Only a permanent one can be `no_such_recipient`
 * (docs/delivery.md#R2).
 */
export function classifyReply(reply: NegativeReply): Refusal {
  const parsed = parse(reply);
  if (parsed.permanent) return { kind: "bounced", class: classOf(parsed) ?? "policy" };
  const retryAfterMs = retryHint(parsed.text);
  const found = classOf(parsed) ?? "temporary";
  return { kind: "deferred", class: found, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
}

/** Classifies a negative reply of a relay or an MX to a mail. */
export function readReply(step: SmtpStep, reply: Reply): Refusal {
  const { code, enhanced } = reply;
  return classifyReply({ step, code, enhanced, text: replyText(reply) });
}

/**
 * A mail that is too large or not ASCII bounces, because the server cannot accept it
 * (docs/delivery.md#S4). An invalid address fails on this side.
 */
export function readUnsendable({ step, code, enhanced, message }: Unsendable): {
  kind: "bounced" | "failed";
  class: ReplyClass;
} {
  if (code === 501) return { kind: "failed", class: "content" };
  return { kind: "bounced", class: classifyReply({ step, code, enhanced, text: message }).class };
}

type Parsed = {
  step: SmtpStep;
  code: number;
  permanent: boolean;
  /** First part of the enhanced code; null if there is no code. */
  series: number | null;
  /** Subject and detail of the enhanced code: `1.1` of `5.1.1`; empty if there is no code. */
  detail: string;
  text: string;
};

function parse({ step, code, enhanced, text }: NegativeReply): Parsed {
  const [, series, subject, detail] = CODE.exec(enhanced ?? codeInText(text)) ?? [];
  return {
    step,
    code,
    permanent: code >= 500 && code <= 599,
    series: series === undefined ? null : Number(series),
    detail: series === undefined ? "" : `${Number(subject)}.${Number(detail)}`,
    text: bareText(text),
  };
}

const CODE = /^\s*([245])\.(\d{1,3})\.(\d{1,3})\s*$/;

/** Finds an enhanced code in the text: at its start, or in the form of qmail, `(#5.1.1)`. */
function codeInText(text: string): string {
  return /(?:^\s*|#)([245]\.\d{1,3}\.\d{1,3})(?![.\d])/.exec(text)?.[1] ?? "";
}

const LONGEST_TEXT = 2_048;

/** Removes addresses, codes and line breaks, so that a mailbox named "spam" does not match. */
function bareText(text: string): string {
  return text
    .slice(0, LONGEST_TEXT)
    .replace(/<[^<>]{0,320}>|[^\s<>@]{1,64}@[^\s<>@]{1,255}/g, " ")
    .replace(/\b[245]\d\d-|\b[245]\.\d{1,3}\.\d{1,3}\b(?!\.)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function classOf(reply: Parsed): ReplyClass | null {
  if (OUR_STEPS.has(reply.step)) return "infrastructure";
  return (
    UNAMBIGUOUS.get(reply.detail) ?? textClass(reply) ?? detailClass(reply) ?? codeClass(reply)
  );
}

/**
 * Steps in which a refusal is not about recipient or message, but about our connection or log-in.
 */
const OUR_STEPS: ReadonlySet<SmtpStep> = new Set(["connect", "tls", "starttls", "auth"]);

/** Codes of RFC 3463 and RFC 7372, of Gmail (7.30–40) and of Microsoft (7.508–515). */
const UNAMBIGUOUS: ReadonlyMap<string, ReplyClass> = new Map<string, ReplyClass>([
  ["2.2", "mailbox_full"],
  ["2.3", "content"],
  ["3.4", "content"],
  ["7.20", "authentication"],
  ["7.21", "authentication"],
  ["7.22", "authentication"],
  ["7.23", "authentication"],
  ["7.24", "authentication"],
  ["7.25", "infrastructure"],
  ["7.26", "authentication"],
  ["7.27", "authentication"],
  // This is "mail flood detected" in the registry and a rate limit at Gmail.
  ["7.28", "rate_limited"],
  ["7.29", "authentication"],
  ["7.30", "authentication"],
  ["7.32", "authentication"],
  ["7.40", "authentication"],
  ["7.508", "rate_limited"],
  ["7.509", "authentication"],
  ["7.512", "content"],
  ["7.515", "authentication"],
]);

function textClass(reply: Parsed): ReplyClass | null {
  if (!reply.permanent && GREYLISTING.test(reply.text)) return "greylisted";
  const known = KNOWN_TEXTS.find(({ pattern }) => pattern.test(reply.text))?.class ?? null;
  const isVague = known === "content" || known === "policy";
  return isVague && namesNoRecipient(reply) ? null : known;
}

function detailClass(reply: Parsed): ReplyClass | null {
  if (namesNoRecipient(reply) || saysNoRecipient(reply)) return "no_such_recipient";
  const [subject, number = 0] = reply.detail.split(".").map(Number);
  if (subject === 1 && (number === 7 || number === 8)) return "infrastructure";
  if (reply.detail === "4.5" || reply.detail === "5.3") return "rate_limited";
  if (subject === 5 && number > 0 && reply.permanent) return "infrastructure";
  if (subject === 6) return "content";
  return subject === 7 ? securityClass(number, reply.permanent) : null;
}

/** Classifies X.7.x: log-in codes of RFC 4954, codes of Microsoft from 500 on, and the others. */
function securityClass(number: number, permanent: boolean): ReplyClass | null {
  if (number >= 8 && number <= 14) return "infrastructure";
  if (number >= 500 && number <= 699 && !permanent) return "rate_limited";
  if ((number >= 501 && number <= 503) || number === 511) return "reputation";
  if ((number >= 606 && number <= 649) || (number >= 700 && number <= 799)) return "reputation";
  return permanent ? "policy" : null;
}

/** The only enhanced codes that say that the address does not exist (docs/delivery.md#R1). */
const NO_RECIPIENT_CODES: ReadonlySet<string> = new Set([
  "1.1",
  "1.2",
  "1.3",
  "1.6",
  "1.10",
  "2.1",
]);

/** Steps whose replies concern the recipient; a mail has only one (docs/delivery.md#S6). */
const RECIPIENT_STEPS: ReadonlySet<SmtpStep> = new Set(["rcpt", "data", "dot"]);

function namesNoRecipient({ step, permanent, series, detail }: Parsed): boolean {
  return permanent && series === 5 && RECIPIENT_STEPS.has(step) && NO_RECIPIENT_CODES.has(detail);
}

/** No code, or "other or undefined" (RFC 3463 §3), which has no information: the text decides. */
const UNDEFINED: ReadonlySet<string> = new Set(["", "0.0", "1.0", "2.0", "5.0"]);

function saysNoRecipient({ step, code, series, detail, text }: Parsed): boolean {
  if (series === 4 || !UNDEFINED.has(detail)) return false;
  if (step === "rcpt") {
    return (code === 550 || code === 551 || code === 553) && UNKNOWN_RECIPIENT.test(text);
  }
  const isAtEnd = step === "data" || step === "dot";
  return isAtEnd && (code === 552 || code === 554) && UNKNOWN_RECIPIENT_LATE.test(text);
}

/** Classifies by the basic code if nothing else decided (RFC 5321 §4.2.3, RFC 4954 §6). */
function codeClass({ code, text }: Parsed): ReplyClass | null {
  if (code === 552) return UNKNOWN_RECIPIENT.test(text) ? null : "mailbox_full";
  if (code >= 500 && code <= 504) return "infrastructure";
  if (code === 530 || code === 534 || code === 535 || code === 538) return "infrastructure";
  return null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const HINT =
  /(?:again|back|retry|retried|resend|gr[ea]y-?\s?list(?:ed|ing)?|wait|delayed|deferred)[^.;!?]{0,40}?\b(\d{1,2}:\d{2}:\d{2}|\d{1,6} ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b(?:(?:,| and)? \d{1,6} ?(?:secs?|seconds?|mins?|minutes?)\b)*)/i;

/** Reads the delay that a reply asks for, such as "in 300 seconds" or "in 00:04:59"; or null. */
function retryHint(text: string): number | null {
  const span = HINT.exec(text)?.[1];
  if (span === undefined) return null;
  const ms = span.includes(":") ? clockMs(span) : unitsMs(span);
  return Math.min(Math.max(ms, MINUTE_MS), DAY_MS);
}

function clockMs(span: string): number {
  return span.split(":").reduce((total, part) => total * 60 + Number(part), 0) * 1_000;
}

function unitsMs(span: string): number {
  let total = 0;
  for (const [, amount, unit] of span.matchAll(/(\d{1,6}) ?([smh])/gi)) {
    const seconds = unit?.toLowerCase() === "h" ? 3_600 : unit?.toLowerCase() === "m" ? 60 : 1;
    total += Number(amount) * seconds;
  }
  return total * 1_000;
}
