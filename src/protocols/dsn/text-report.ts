/**
 * Reads bounces that follow no standard. The text must open with a phrase of a known server
 * (text-rules.ts), and the header must show that a mail system wrote it.
 */

import { withoutComments } from "../mime/comments.ts";
import { type ReadField, linesOf, valueOf } from "../mime/read-fields.ts";
import { decodeWords } from "../mime/read-parts.ts";
import { diagnose, type Diagnosis, findReply } from "./classify.ts";
import { hasListField } from "./list-mail.ts";
import { DELAY_SUBJECT, DELAY_WORDS, TEXT_RULES } from "./text-rules.ts";

type TextFinding = Diagnosis & {
  action: "failed" | "delayed";
  recipient: string | null;
};

type TextReport = {
  /** Kind of server, from the table of rules. */
  rule: string;
  findings: readonly TextFinding[];
  /** The words about the failure. */
  excerpt: string;
};

/** Characters in which the opening phrase is searched. */
const OPENING = 8_000;
/** Characters after the phrase that are read. */
const DETAIL = 6_000;
const MAX_LINES = 200;
const MAX_RECIPIENTS = 500;
const LONGEST_REASON = 700;

const MAIL_SYSTEM =
  /mailer[-_. ]?daemon|mail (?:delivery|administrator|transport|system)|maildelivery|<?(?:mdaemon|mmdf|uucp|bounces?|mail-daemon|mailsystem|mailadmin|autoanswer|noreply-dmarc)@|microsoftexchange[0-9a-f]{6,40}@|<?(?:ndr|imss|post_master|[\w.-]{0,60}(?:anti_?virus|smtp_|_smtp)[\w.-]{0,60})@|system (?:administrator|attendant)|delivery (?:sub)?system|邮件系统|系统退信|<?no-?reply@(?:icloud|yandex|\S{1,100}\.(?:dion|ezweb|auone-net)\.)/i;
const SUBJECT =
  /^(?:\[?(?:undeliver(?:ed|able)|non-?deliver(?:y|able)|delivery (?:status notification|failure|failed|has failed|delayed|incomplete|report|error|problem|notification)|failure notice|failed (?:mail|delivery|to deliver)|returned (?:mail|e-?mail|message)|(?:there was an )?error (?:sending|during|in)|mail (?:failed|delivery|system|error|could not|not delivered|undeliverable|returned|error)|message (?:status|not delivered|undeliverable|delivery|could not|you sent|delayed|blocked)|warning: (?:message|could not)|processing error|automatically rejected|email delivery|permanent (?:delivery )?failure|unable to deliver|could not send|undelivered|nondeliverable|your message (?:could|was|couldn|to)|report: delivery|unzustellbar|nicht zustellbar|mail-?zustellung|non remis|échec de (?:la )?remise|no se puede entregar|no entregado|mensaje no entregado|messaggio non|mancato recapito|não entregue|falha na entrega|niedostarczone|zwrot|не доставлено|недоставлен|系统退信|退信|未送达|配信|送信エラー|メールエラー|メッセージを配信|ndr\b|\*{3,5} ?undeliv))/i;

/** The sender that only mail systems use. */
const MAIL_SERVER =
  /mailer[-_. ]?daemon|<?(?:postmaster|mdaemon)\b|mail delivery (?:sub)?system|microsoftexchange[0-9a-f]{6,40}@|<\s*>\s*$|^$/i;

/** Whether the header shows that a mail system wrote the message, not a person. */
export function isFromMailSystem(fields: readonly ReadField[]): boolean {
  const from = decodeWords(valueOf(fields, "from") ?? "");
  return (
    isFromMailServer(fields) ||
    MAIL_SYSTEM.test(from) ||
    /^<\s*>$/.test(valueOf(fields, "return-path") ?? "") ||
    /mailer-daemon/i.test(valueOf(fields, "sender") ?? "")
  );
}

/** Whether the sender is one that no list, newsletter or vacation program has. */
export function isFromMailServer(fields: readonly ReadField[]): boolean {
  const from = decodeWords(valueOf(fields, "from") ?? "");
  return MAIL_SERVER.test(from) || valueOf(fields, "x-failed-recipients") !== null;
}

export function isBounceSubject(subject: string): boolean {
  return SUBJECT.test(subject.slice(0, 200));
}

/** Returns null if the message is no bounce or delay that is known. */
export function readTextReport(
  fields: readonly ReadField[],
  subject: string,
  text: string,
): TextReport | null {
  const isBounce = isBounceSubject(subject);
  // People write such subjects, too: "Delivery problem with order 7".
  const isAutomatic = /^auto-/i.test(withoutComments(valueOf(fields, "auto-submitted") ?? ""));
  if (!isFromMailSystem(fields) && !(isAutomatic && isBounce)) return null;
  const { spaced, indexOf } = oneSpaced(text.slice(0, OPENING));
  const named = addressesIn(valueOf(fields, "x-failed-recipients") ?? "");
  const found = matchRule(spaced);
  // A server that is not in the table: its address, its subject, and a recipient with a reason.
  if (found === null && !(isFromMailServer(fields) && (isBounce || subject === ""))) return null;
  const detail = detailOf(text);
  const isDelay =
    found?.rule.isDelay === true ||
    DELAY_SUBJECT.test(subject.slice(0, 200)) ||
    DELAY_WORDS.test(spaced.slice(0, DETAIL));
  const action: TextFinding["action"] = isDelay ? "delayed" : "failed";
  const from = found === null ? 0 : indexOf(found.end);
  const sections = sectionsOf(detail, Math.min(from, detail.length), named);
  const findings = sections.slice(0, MAX_RECIPIENTS).map(({ recipient, words, shared }) => ({
    ...readReason(words, shared, recipient),
    action,
    recipient,
  }));
  const isEnough = found === null ? isComplete : isAboutDelivery;
  const isCertain = found !== null && isBounce && isFromMailServer(fields) && !hasListField(fields);
  if (!isCertain && !findings.some(isEnough)) return null;
  return { rule: found?.rule.name ?? "generic", findings, excerpt: detail };
}

/** The reason in the words about a recipient, or else in those before the first recipient. */
function readReason(words: string, shared: string, recipient: string | null): Diagnosis {
  const own = diagnose(null, reasonIn(words), { recipient });
  const isKnown = own.status !== null || own.class !== "policy" || findReply(own.text) !== null;
  if (isKnown || shared === "") return own;
  const other = diagnose(null, reasonIn(shared), { recipient });
  return other.status === null && other.class === "policy" ? own : other;
}

function matchRule(spaced: string): { rule: (typeof TEXT_RULES)[number]; end: number } | null {
  for (const rule of TEXT_RULES) {
    const match = rule.opening.exec(spaced);
    if (match !== null) return { rule, end: match.index + match[0].length };
  }
  return null;
}

function addressesIn(value: string): string[] {
  return value
    .split(",")
    .map((part) => part.trim())
    .filter(isAddress);
}

/** Whether the report names a recipient or a reason, and is not only opened like a bounce. */
function isAboutDelivery({ recipient, status, text }: TextFinding): boolean {
  return recipient !== null || status !== null || findReply(text) !== null;
}

/** Whether the report names a reason, and either a recipient or the reply of a server. */
function isComplete({ recipient, status, text }: TextFinding): boolean {
  return findReply(text) !== null || (recipient !== null && status !== null);
}

/**
 * One space for all blanks, so that phrases match across line ends; quoted lines lose their mark.
 * `indexOf` gives the place in `text` of a place in the result.
 */
function oneSpaced(text: string): { spaced: string; indexOf: (at: number) => number } {
  const shifts: { at: number; by: number }[] = [];
  let by = 0;
  const spaced = text.replace(/\s+(?:> ?)?/g, (blanks, offset: number) => {
    const at = offset - by + 1;
    by += blanks.length - 1;
    shifts.push({ at, by });
    return " ";
  });
  return { spaced, indexOf: (at) => at + (shifts.findLast((shift) => shift.at <= at)?.by ?? 0) };
}

/** Lines from which on the report quotes the returned message. */
const COPY =
  /^[\s>*|-]{0,10}(?:(?:below this line|here) is a copy|(?:-{2,} ?)?(?:this is a copy|original message|begin(?:ning)? of (?:the )?original|returned message|unsent message|message header|header(?:s)? of (?:the )?original|the header of|original headers|forwarded message|undelivered message|body of message|ursprüngliche|message d'origine|mensaje original|the body of|the first \S{1,20} lines|copy of (?:the|your) (?:message|original)|included is a copy|原信|原邮件)|return-path: ?<|received: (?:from|by) |dkim-signature: |message headers follow)/i;

/** The words before the copy of the returned message. */
function detailOf(text: string): string {
  const kept: string[] = [];
  let length = 0;
  for (const line of linesOf(text, MAX_LINES)) {
    if (COPY.test(line.slice(0, 200))) break;
    length += line.length + 1;
    if (length > DETAIL) break;
    kept.push(line);
  }
  const detail = kept.join("\n");
  // A report that is one long line.
  return detail.trim() === "" ? text.slice(0, DETAIL) : detail;
}

/** `shared` are the words before the first recipient. */
type Section = { recipient: string | null; words: string; shared: string };

const ADDRESS = /[^\s<>()[\]:;,"'@：；，、（）【】]{1,64}@[a-z0-9.-]{1,200}[a-z0-9]/iu;
const ADDRESSES = new RegExp(ADDRESS.source, "giu");
/** A line that begins with an address, alone or followed by the reason. */
const HEADING =
  /^[\s*•>-]{0,10}(?:(?:(?:failed |intended |original(?:ly)? )?(?:recipient|to|address|addressed to|rcpt to|for)(?: address)?|undeliverable address|(?:could not be )?delivered to|error-for|sent <<< rcpt to): {0,10})?(?<reason>(?:unknown user|unknown host|invalid final delivery userid|user mailbox exceeds allowed size|user's mailbox is full|delivery failed \d{1,4} attempts): {0,10}|undeliverable {1,4}to {1,4})?(?:\[?smtp:|mailto:|(?:\w=[^;=]{0,40};\s?){1,8}dda:smtp=)?[<('"]{0,2}(?<address>[^\s<>()[\]:;,"'@：；，、（）【】]{1,64}@[a-z0-9.-]{1,200}[a-z0-9])[>)\]'"]{0,3}(?:$|[\s:;.,([{-])/iu;
/** A line after which the address of the sender follows. */
const BEFORE_SENDER = /(?:\bfrom|\bsent by|\bsender)\b[ :]{0,5}$/i;

/** Ends with this before an address that is not the recipient's. */
const OF_SENDER =
  /(?:(?<!generated )\bfrom|\bsorry|\bby|\bcontact|\bmailto)[\s:<]{0,4}$|(?:^|\n)[\s>(]{0,5}from\b[^\n]{0,60}$/i;

/** The words about each recipient: first those after the opening phrase, then all words. */
function sectionsOf(detail: string, from: number, named: readonly string[]): Section[] {
  const lineStart = detail.lastIndexOf("\n", from - 1) + 1;
  const after =
    from === 0 ? [] : headedSections(detail.slice(lineStart), detail.slice(0, lineStart));
  const sections = after.length > 0 ? after : headedSections(detail, "");
  if (sections.length > 0) return sections;
  const recipients = named.length > 0 ? named : [firstAddress(detail, from)];
  return recipients.map((recipient) => ({ recipient, words: detail, shared: "" }));
}

function headedSections(text: string, opening: string): Section[] {
  const sections: Section[] = [];
  const before: string[] = opening === "" ? [] : [opening];
  for (const line of text.split("\n")) {
    const { reason = "", address } = HEADING.exec(line.slice(0, 400))?.groups ?? {};
    const isSender = BEFORE_SENDER.test(before.at(-1)?.slice(-80) ?? "") && sections.length === 0;
    const known =
      address === undefined ? undefined : sections.find((each) => isSame(each.recipient, address));
    if (address !== undefined && known === undefined && !isSender) {
      const rest = line.slice(line.indexOf(address) + address.length);
      const words = reason + rest.replace(/^[>)\]'",;: ]{1,5}/, "");
      sections.push({ recipient: address, words, shared: "" });
    } else if (sections.length === 0) before.push(line);
    else {
      const last = sections.at(-1);
      if (last !== undefined) last.words += `\n${line}`;
    }
    if (sections.length > MAX_RECIPIENTS) break;
  }
  const shared = before.join("\n");
  return sections.map(({ recipient, words }, i) => {
    const own = sections.slice(i).find((section) => hasWords(section.words))?.words ?? words;
    return { recipient, words: hasWords(own) ? own : shared, shared };
  });
}

/** The first address after the opening phrase, or else before it, that is not the sender's. */
function firstAddress(detail: string, from: number): string | null {
  const start =
    from - (/(?<!\S)\S*$/.exec(detail.slice(Math.max(0, from - 320), from))?.[0].length ?? 0);
  for (const text of [detail.slice(start), detail]) {
    for (const match of text.slice(0, DETAIL).matchAll(ADDRESSES)) {
      const before = text.slice(Math.max(0, match.index - 80), match.index);
      if (!OF_SENDER.test(before)) return match[0];
    }
  }
  return null;
}

function hasWords(text: string): boolean {
  return /\p{L}{3}|\d{3}/u.test(text);
}

function isSame(a: string | null, b: string): boolean {
  return a !== null && a.toLowerCase() === b.toLowerCase();
}

function isAddress(text: string): boolean {
  return text.length <= 320 && ADDRESS.test(text);
}

/** The reply that the words quote, up to an empty line, or else all words. */
function reasonIn(words: string): string {
  const reply = findReply(words);
  if (reply === null) return words.slice(0, LONGEST_REASON);
  const before = words.slice(Math.max(0, reply.at - 160), reply.at);
  const rest = words.slice(reply.at, reply.at + LONGEST_REASON);
  // An empty line ends the reply, unless the next line continues it.
  const end = /\n[ \t>]*\n(?!\s{0,20}[45]\d\d[ -])/.exec(rest)?.index ?? rest.length;
  // The words before the reply name the step of the session.
  return `${before.slice(before.lastIndexOf("\n\n") + 1)}${rest.slice(0, end)}`;
}
