/**
 * Classifies what a report says of a recipient, by the same classes as SMTP replies
 * (docs/delivery.md#R1). Servers quote each other, and put words of their own before the quoted reply.
 * The innermost reply is the one of the recipient's server, so the first of these that has a meaning
 * decides:
 *
 * 1. The replies that the words quote, from the innermost to the outermost: text, then codes.
 * 2. The words, if they quote no reply: a phrase that stands for a status code, or text rules.
 * 3. The status code of the report, which often was only derived from the basic code of the reply.
 */

import { classifyReply, findMeaning, type Meaning } from "../smtp/classify-reply.ts";
import type { MailObject } from "../smtp/stream.ts";
import type { ReplyClass, SmtpStep } from "../smtp/reply-classes.ts";
import { domainOf } from "../mime/address.ts";
import { isAboutOtherHost } from "../smtp/dns-words.ts";
import { reportsSenderCheck } from "../smtp/sender-words.ts";
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

type Quoted = { at: number; code: number; enhanced: string | null; text: string };

/** A reply within other words: a code, perhaps an enhanced code, and a text. */
const REPLY =
  /(?<=^|[\s:;(<"'>[\]-])(?<code>[45]\d\d)(?:(?:[ -]{1,3}|: )['"]?(?:[45]\d\d[ -])?#?[([]?(?<enhanced>[45]\.\d{1,3}\.\d{1,3})[)\]]?:?(?=\s|$|['"]))?(?:[ -]|: |(?=['"]|\s*$))(?![\s\d]{0,10}(?:bytes|kb|messages|recipients|hours|days|minutes|seconds)\b)/gi;
const ENHANCED = /(?:^|[\s:;#([])([245]\.\d{1,2}\.\d{1,3})(?![.\d])/;
/** qmail puts the code after the text: `(#5.1.1)`. */
const QMAIL_CODE = /#([45]\.\d{1,3}\.\d{1,3})(?![.\d])/;
/** Ends with this if a reply is quoted within another one. */
const QUOTES = /(?:['"[(<]|->|:|\breturned|\bsaid|\bwas)\s*$/;
/** Words that Cisco and older relays put before any reply with the code 550. */
const LABEL = /^\s*[45]\.\d{1,2}\.\d{1,2} - [^'"]{3,80}?(?=[45]\d\d[ -])/;
const HOST_ADDRESS = /\[[\d.]{7,15}\]|\[(?:ipv6:)?[0-9a-f:.]{3,45}\]/gi;
/** The place of words that are no reply. */
const NO_REPLY = -1;
const LONGEST_TEXT = 1_000;
/** Replies within each other that are read. */
const MAX_QUOTED = 5;

/** Where the first reply begins in a text; null if it quotes none. */
export function findReply(text: string): Omit<Quoted, "text"> | null {
  const [first = null] = repliesIn(text, 1);
  return first;
}

/** The replies that a text quotes, from the outermost to the innermost. */
function repliesIn(text: string, max = MAX_QUOTED): Quoted[] {
  const found: Quoted[] = [];
  for (const match of text.matchAll(REPLY)) {
    const { code = "", enhanced = null } = match.groups ?? {};
    const { index: at } = match;
    const isInner = QUOTES.test(text.slice(Math.max(0, at - 12), at));
    // The following lines of a reply repeat its code.
    if (found.length > 0 && !isInner) continue;
    const words = text.slice(at + match[0].length);
    const own = enhanced ?? QMAIL_CODE.exec(words)?.[1] ?? null;
    found.push({ at, code: Number(code), enhanced: own, text: words });
    if (found.length === max) break;
  }
  return found;
}

/** A reply to a check of the sender is about the sender: the words around it decide. */
function withoutSenderChecks(words: string, quoted: readonly Quoted[]): Quoted[] {
  let from = 0;
  const inner = quoted.findIndex(({ at }) => {
    const around = words.slice(from, at);
    from = at;
    return reportsSenderCheck(around);
  });
  return inner === -1 ? [...quoted] : quoted.slice(0, inner);
}

/**
 * `status` is the field Status of a standard report, `text` the diagnostic or the words of the
 * report about this recipient. `sender` is the address of the mail's sender, which a quoted reply may
 * call unknown.
 */
export function diagnose(
  status: string | null,
  text: string,
  { recipient = null, sender = null }: { recipient?: string | null; sender?: string | null } = {},
): Diagnosis {
  const words = text.replace(/\s+/g, " ").trim().slice(0, LONGEST_TEXT);
  if (recipient !== null && isAboutOtherHost(words, domainOf(recipient))) {
    return concluded({ meaning: NETWORK, status: "5.4.4", text: words, code: 550 });
  }
  const step = stepOf(words);
  const quoted = withoutSenderChecks(words, repliesIn(words));
  const own = isSpecific(status) ? status : null;
  const said = quoted.map(({ enhanced }) => enhanced).filter((code) => code !== null);
  const specific = said.toReversed().find(isSpecific) ?? null;
  for (const reply of quoted.toReversed()) {
    const read = readQuoted(reply, step, { from: sender ?? "", to: recipient ?? "" });
    if (read === null) continue;
    const { enhanced, meaning } = read;
    const code = isSpecific(enhanced) ? enhanced : (specific ?? own ?? enhanced);
    return concluded({ meaning, status: code ?? status, text: words, code: reply.code });
  }
  const last = quoted.at(-1) ?? null;
  // An address in the words of the reporting server is the one of the other server.
  const label = (last === null ? words : words.replace(LABEL, "")).replace(HOST_ADDRESS, " ");
  const inWords = specific ?? ENHANCED.exec(label)?.[1] ?? null;
  const ofWords = isSpecific(inWords) ? inWords : (statusOfPhrase(label) ?? own);
  const enhanced = last === null ? ofWords : null;
  const code = last?.code ?? codeOf(enhanced ?? inWords ?? status);
  const read =
    readQuoted({ at: NO_REPLY, code, enhanced, text: label }, step) ??
    readQuoted({ at: NO_REPLY, code, enhanced: own, text: "" }, step);
  const shown = [read?.enhanced, specific, ofWords, own].find((each) => isSpecific(each ?? null));
  return concluded({
    meaning: read?.meaning ?? null,
    status: shown ?? inWords ?? said[0] ?? status,
    text: words,
    code,
  });
}

function codeOf(enhanced: string | null): number {
  return enhanced?.startsWith("4") === true ? 450 : 550;
}

/** The meaning of a reply with its own text and code; null if it has none. */
function readQuoted(
  { at, code, enhanced, text }: Quoted,
  step: SmtpStep,
  envelope?: MailObject["envelope"],
): { meaning: Meaning; enhanced: string | null } | null {
  const ofPhrase = statusOfPhrase(text);
  // A recipient's server refuses with X.4.1 too, but not with the other codes of this group.
  const isOurs = isNetwork(enhanced) && (at === NO_REPLY || enhanced?.endsWith(".4.1") !== true);
  const isVague = ofPhrase === null || isNetwork(ofPhrase);
  if (isOurs && isVague) return { meaning: NETWORK, enhanced };
  const own = isOurs ? null : enhanced;
  const meaning = findMeaning({ step, code, enhanced: aligned(own, code), text, envelope });
  if (meaning !== null) return { meaning, enhanced: isSpecific(own) ? own : (ofPhrase ?? own) };
  if (ofPhrase === null) return null;
  if (isNetwork(ofPhrase)) return { meaning: NETWORK, enhanced: ofPhrase };
  const other = findMeaning({ step, code, enhanced: aligned(ofPhrase, code), text, envelope });
  return other === null ? null : { meaning: other, enhanced: ofPhrase };
}

const NETWORK: Meaning = { about: "site", class: "infrastructure" };

function concluded(found: {
  meaning: Meaning | null;
  status: string | null;
  text: string;
  code: number;
}): Diagnosis {
  const { meaning, status, text, code } = found;
  const isPermanent = code >= 500;
  const unknown = () => classifyReply({ step: "rcpt", code, enhanced: null, text: "" }).class;
  return { class: meaning?.class ?? unknown(), isPermanent, status, text };
}

/** A code other than "other or undefined" (RFC 3463 §3). */
export function isSpecific(status: string | null): status is string {
  return status !== null && !status.endsWith(".0");
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
    /(?:end of|terminating|after|sending|final) (?:the )?data\b|end-of-data|data (?:phase|command)|pipelined end of data|sending the message/i,
    "dot",
  ],
  [/rcpt to|recipient address/i, "rcpt"],
  [/in reply to mail from|after (?:pipelined )?mail from|our mail from|sender address/i, "mail"],
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
