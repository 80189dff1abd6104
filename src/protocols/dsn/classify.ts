/**
 * Classifies what a report says of a recipient, by the same classes as SMTP replies
 * (docs/delivery.md#R1): the reply of the other server if the report quotes it, otherwise a phrase
 * that stands for a status code, otherwise the status code of the report.
 */

import { classifyReply } from "../smtp/classify-reply.ts";
import type { ReplyClass, SmtpStep } from "../smtp/reply-classes.ts";
import { statusOfPhrase } from "./reason-phrases.ts";

export type Diagnosis = {
  class: ReplyClass;
  /** False if the recipient's server gave a temporary reason: the sending server gave up. */
  isPermanent: boolean;
  /** `x.y.z`; null if the report has none. */
  status: string | null;
  /** The reply or the reason in words, on one line. */
  text: string;
};

/** A reply within other words: a code, perhaps an enhanced code, and a text. */
const REPLY =
  /(?:^|[\s:;(<"'>-])([45]\d\d)(?:[ -]#?[([]?([45]\.\d{1,3}\.\d{1,3})[)\]]?)?[ -](?![\s\d]{0,10}(?:bytes|kb|messages?|recipients?|hours?|days?|minutes?|seconds?)\b)/i;
const ENHANCED = /(?:^|[\s:;#([])([245]\.\d{1,2}\.\d{1,3})(?![.\d])/;
const LONGEST_TEXT = 1_000;

/** Where the first reply begins in a text; null if it quotes none. */
export function findReply(
  text: string,
): { at: number; code: number; enhanced: string | null } | null {
  const found = REPLY.exec(text);
  if (found === null) return null;
  const [whole, code = "", enhanced = null] = found;
  return { at: found.index + whole.indexOf(code), code: Number(code), enhanced };
}

/**
 * `status` is the field Status of a standard report, `text` the diagnostic or the words of the
 * report about this recipient.
 */
export function diagnose(status: string | null, text: string): Diagnosis {
  const words = text.replace(/\s+/g, " ").trim().slice(0, LONGEST_TEXT);
  const reply = findReply(words);
  const ofPhrase = statusOfPhrase(words);
  const ownStatus = isSpecific(status) ? status : null;
  const quoted = reply?.enhanced ?? ENHANCED.exec(words)?.[1] ?? null;
  const known = firstSpecific(quoted, ofPhrase, ownStatus) ?? quoted ?? status;
  const isAboutRecipient = ofPhrase !== null && !isNetwork(ofPhrase);
  const enhanced = isNetwork(known) && isAboutRecipient ? ofPhrase : known;
  const code = reply?.code ?? (enhanced?.startsWith("4") === true ? 450 : 550);
  const base = { status: enhanced, text: words };
  // A recipient's server refuses with X.4.1 too, but not with the other codes of this group.
  if (isNetwork(enhanced) && (reply === null || enhanced?.endsWith(".4.1") !== true)) {
    return { ...base, class: "infrastructure", isPermanent: code >= 500 };
  }
  const step = stepOf(words);
  const found = classifyReply({ step, code, enhanced: aligned(enhanced, code), text: words });
  return { ...base, class: found.class, isPermanent: found.kind === "bounced" };
}

/** A code other than "other or undefined" (RFC 3463 §3). */
function isSpecific(status: string | null): status is string {
  return status !== null && !status.endsWith(".0");
}

function firstSpecific(...all: readonly (string | null)[]): string | null {
  return all.find(isSpecific) ?? null;
}

/** Network and routing (RFC 3463 §3.5). */
function isNetwork(status: string | null): boolean {
  return status !== null && /^[45]\.4\./.test(status);
}

/** The enhanced code in the class of the basic code, which decides (docs/delivery.md#R1). */
function aligned(enhanced: string | null, code: number): string | null {
  if (enhanced === null) return null;
  return `${code >= 500 ? 5 : 4}${enhanced.slice(1)}`;
}

const STEPS: readonly (readonly [pattern: RegExp, step: SmtpStep])[] = [
  [
    /(?:end of|terminating|after|sending) (?:the )?data\b|end-of-data|data (?:phase|command)|pipelined end of data|sending the message/i,
    "dot",
  ],
  [/rcpt to|recipient address/i, "rcpt"],
  [/in reply to mail from|after (?:pipelined )?mail from|sender address/i, "mail"],
  [/in reply to (?:ehlo|helo)|after (?:ehlo|helo)/i, "ehlo"],
  [
    /initial connection|while (?:performing the )?(?:initial )?greeting|initial greeting/i,
    "greeting",
  ],
  [/starttls/i, "starttls"],
  [/in reply to auth|after auth/i, "auth"],
];

/** The step of the session in which the reply came, as far as the words tell; otherwise RCPT. */
function stepOf(text: string): SmtpStep {
  return STEPS.find(([pattern]) => pattern.test(text))?.[1] ?? "rcpt";
}
