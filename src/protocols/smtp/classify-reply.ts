/**
 * Classifies an SMTP reply: temporary or permanent, of whom the server speaks, and the cause
 * (docs/delivery.md#R1, docs/delivery.md#R3). These decide, in this order:
 *
 * 1. The first digit of the basic code: temporary or permanent (RFC 5321 §4.2.1).
 * 2. The step: at some, only this installation can be the cause.
 * 3. The first rule of the table that fits step, text and code (reply-rules.ts).
 * 4. The range of the enhanced code, then the basic code.
 */

import type { MailObject } from "./stream.ts";
import type { Unsendable } from "./envelope.ts";
import { replyText, type Reply } from "./reply.ts";
import type { ReplyClass, ReplySubject, SmtpStep } from "./reply-classes.ts";
import { REPLY_RULES, type ReplyRule } from "./reply-rules.ts";
import { isAboutSender, OWN_ADDRESS } from "./sender-words.ts";

type NegativeReply = {
  step: SmtpStep;
  /** Basic reply code; every code outside 500–599 counts as temporary. */
  code: number;
  /** Enhanced status code `x.y.z`; if null, the text is searched for one. */
  enhanced: string | null;
  text: string;
  /** The envelope of the mail, if it is known: the text may quote its addresses. */
  envelope?: MailObject["envelope"] | undefined;
};

/** `retryAfterMs` is present only if the reply names a time; 1 minute to 24 hours. */
export type Refusal = Meaning &
  ({ kind: "deferred"; retryAfterMs?: number } | { kind: "bounced"; retryAfterMs?: never });

export type Meaning = { about: ReplySubject; class: ReplyClass };

/**
 * Classifies a negative reply. Only a permanent one can be `no_such_recipient`
 * (docs/delivery.md#R2).
 */
export function classifyReply(reply: NegativeReply): Refusal {
  const parsed = parse(reply);
  if (parsed.permanent) return { kind: "bounced", ...(meaningOf(parsed) ?? UNKNOWN_REFUSAL) };
  const retryAfterMs = retryHint(parsed.text);
  const found = meaningOf(parsed) ?? UNKNOWN_DELAY;
  return { kind: "deferred", ...found, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
}

/** The meaning of a negative reply; null if neither its text nor its codes say anything. */
export function findMeaning(reply: NegativeReply): Meaning | null {
  return meaningOf(parse(reply));
}

const UNKNOWN_REFUSAL: Meaning = { about: "message", class: "policy" };
const UNKNOWN_DELAY: Meaning = { about: "site", class: "temporary" };

/** Classifies a negative reply of a relay or an MX to a mail. */
export function readReply(
  step: SmtpStep,
  reply: Reply,
  envelope?: MailObject["envelope"],
): Refusal {
  const { code, enhanced } = reply;
  return classifyReply({ step, code, enhanced, text: replyText(reply), envelope });
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

function parse({ step, code, enhanced, text, envelope }: NegativeReply): Parsed {
  const [, series, subject, detail] = CODE.exec(enhanced ?? codeInText(text)) ?? [];
  return {
    step,
    code,
    permanent: code >= 500 && code <= 599,
    series: series === undefined ? null : Number(series),
    detail: series === undefined ? "" : `${Number(subject)}.${Number(detail)}`,
    text: bareText(text, envelope),
  };
}

const CODE = /^\s*([245])\.(\d{1,3})\.(\d{1,3})\s*$/;

/** Finds an enhanced code in the text: at its start, or in the form of qmail, `(#5.1.1)`. */
function codeInText(text: string): string {
  return /(?:^\s*|#)([245]\.\d{1,3}\.\d{1,3})(?![.\d])/.exec(text)?.[1] ?? "";
}

const LONGEST_TEXT = 2_048;

const ADDRESS =
  /<[^<>]{0,320}>|[^\s<>@()[\],;]{1,64}@(?:\[[^\s\][]{1,60}\]|[^\s<>@()[\],;]{1,255})/g;

/**
 * Removes addresses, codes and line breaks, so that a mailbox named "spam" does not match. A word stands
 * for the address of the sender.
 */
function bareText(text: string, envelope: MailObject["envelope"] | undefined): string {
  const isOwn = ownAddress(envelope);
  return text
    .slice(0, LONGEST_TEXT)
    .replace(ADDRESS, (address) => (isOwn(address) ? ` ${OWN_ADDRESS} ` : " "))
    .replace(/\b[245]\d\d-|\b[245]\.\d{1,3}\.\d{1,3}\b(?!\.)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Tells whether an address of a text is the one of the sender; never for a mail to that address. */
function ownAddress(envelope: MailObject["envelope"] | undefined): (address: string) => boolean {
  const [from, to] = [envelope?.from.toLowerCase(), envelope?.to.toLowerCase()];
  if (from === undefined || from === "" || from === to) return () => false;
  return (address) =>
    address.replace(/^[<"']+|(?<![>"'.:!?])[>"'.:!?]+$/g, "").toLowerCase() === from;
}

function meaningOf(reply: Parsed): Meaning | null {
  if (OUR_STEPS.has(reply.step)) return { about: "account", class: "infrastructure" };
  const rule = REPLY_RULES.find((each) => fits(each, reply));
  const found = rule === undefined ? codeMeaning(reply) : { about: rule.about, class: rule.class };
  return reply.step === "mail" && reply.permanent ? meaningAtMail(reply, found) : found;
}

/**
 * At MAIL a server knows our host, the sender and perhaps the size, but neither message nor recipient.
 * So a refusal that it does not explain means the sender.
 */
function meaningAtMail({ code, detail, text }: Parsed, found: Meaning | null): Meaning {
  if (found === null) return { about: "sender", class: "policy" };
  const isSize = code === 552 || SIZE_CODES.has(detail) || /\b(?:size|large|big)\b/i.test(text);
  return found.about === "message" && !isSize ? { about: "sender", class: found.class } : found;
}

const SIZE_CODES: ReadonlySet<string> = new Set(["2.3", "3.4", "5.3"]);

/** At these steps a refusal is about our connection or log-in, not about recipient or message. */
const OUR_STEPS: ReadonlySet<SmtpStep> = new Set(["connect", "tls", "starttls", "auth"]);

function fits(rule: ReplyRule, reply: Parsed): boolean {
  const { at, only, codes, basicCodes, text, needs, unless } = rule;
  if (only !== undefined && reply.permanent !== (only === "permanent")) return false;
  if (at !== undefined && !at.includes(reply.step)) return false;
  if (codes !== undefined && !codes.includes(reply.detail)) return false;
  if (basicCodes !== undefined && !basicCodes.includes(reply.code)) return false;
  if (rule.class === "no_such_recipient" && isContradictory(reply)) return false;
  if (rule.isVague === true && namesRecipient(reply)) return false;
  if (unless?.test(reply.text) === true) return false;
  if (needs?.test(reply.text) === false) return false;
  if (text?.test(reply.text) === false) return false;
  if (rule.about === "account" && isPassedOn(reply.text)) return false;
  const { about, meansSender = false } = rule;
  if (!meansSender && about !== "recipient") return true;
  return meansSender === isAboutSender(reply.text, text);
}

/** The server passes on the refusal of the recipient, or of its server, which is not ours to mend. */
function isPassedOn(text: string): boolean {
  return PASSED_ON.test(text);
}

const PASSED_ON =
  /\bby (?:the |this |its |their )?(?:recipient|addressee|user|mail ?box owner|customer|destination)s?\b(?! (?:complain|report|feedback))|\b(?:recipient|addressee)'s |\b(?:recipient|addressee|user|customer)(?:'s|s') (?:\S{1,20} )?(?:preferences?|settings?|mail ?server|server|domain|host|list|block-?list|polic\w+)|\b(?:remote|destination|receiving|recipient) (?:mail ?)?(?:server|host|mta|domain|site) (?:\S{1,255} )?(?:said|says|returned|responded|replied|answered|refused|rejected|blocked)|(?<!relay(?:ing)? (?:access )?)\b(?:blocked|restricted|refused|rejected|denied|disabled|not (?:allowed|permitted)) for (?:the |this )(?:recipient|addressee)\b|\bmail ?box owner's\b|\bhost \S{1,255} (?:\S{1,60} )?said\b/i;

/** A permanent code with a temporary enhanced code (RFC 3463 §2) proves nothing. */
function isContradictory({ permanent, series }: Parsed): boolean {
  return permanent && series === 4;
}

/** A code for the address of the recipient, at the step that names it (RFC 3463 §3.2). */
function namesRecipient({ step, permanent, series, detail, text }: Parsed): boolean {
  if (!permanent || series !== 5 || step !== "rcpt" || !RECIPIENT_CODES.has(detail)) return false;
  return !isAboutSender(text);
}

const RECIPIENT_CODES: ReadonlySet<string> = new Set(["1.1", "1.2", "1.3", "1.6", "1.10"]);

/** The meaning of a range of enhanced codes, otherwise of the basic code. */
function codeMeaning({ code, detail, permanent }: Parsed): Meaning | null {
  const [subject, number = 0] = detail.split(".").map(Number);
  if (subject === 5 && number > 0 && permanent) return { about: "site", class: "infrastructure" };
  if (subject === 6) return { about: "message", class: "content" };
  const found = subject === 7 ? securityMeaning(number, permanent) : null;
  if (found !== null) return found;
  // RFC 5321 §4.2.3, RFC 4954 §6.
  if (code >= 500 && code <= 504) return { about: "site", class: "infrastructure" };
  if (code === 530 || code === 534 || code === 535 || code === 538) {
    return { about: "account", class: "infrastructure" };
  }
  return null;
}

/** Classifies X.7.x: log-in codes of RFC 4954, codes of Microsoft from 500 on, and the others. */
function securityMeaning(number: number, permanent: boolean): Meaning | null {
  if (number >= 8 && number <= 14) return { about: "account", class: "infrastructure" };
  if (number >= 500 && number <= 699 && !permanent) return { about: "site", class: "rate_limited" };
  return permanent ? UNKNOWN_REFUSAL : null;
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
