/**
 * Reads bounces that follow no standard. The text must open with a phrase of a known server
 * (text-rules.ts), and the header must show that a mail system wrote it.
 */

import { type ReadField, linesOf, valueOf } from "../mime/read-fields.ts";
import { decodeWords } from "../mime/read-parts.ts";
import { diagnose, type Diagnosis, findReply } from "./classify.ts";
import { TEXT_RULES } from "./text-rules.ts";

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
  /mailer[-_. ]?daemon|^"?postmaster\b|<?postmaster@|mail (?:delivery|administrator|transport|system)|maildelivery|<?(?:mdaemon|mmdf|uucp|bounces?|mail-daemon|mailsystem|mailadmin|autoanswer|noreply-dmarc)@|microsoftexchange[0-9a-f]{6,40}@|system (?:administrator|attendant)|delivery (?:sub)?system|邮件系统|系统退信|<?no-?reply@(?:icloud|yandex)/i;
const SUBJECT =
  /^(?:\[?(?:undeliver(?:ed|able)|non-?deliver(?:y|able)|delivery (?:status notification|failure|failed|has failed|delayed|incomplete|report|error|problem|notification)|failure notice|failed (?:mail|delivery|to deliver)|returned (?:mail|e-?mail|message)|mail (?:delivery|system|could not|not delivered|undeliverable|returned|error)|message (?:status|not delivered|undeliverable|delivery|could not|you sent|delayed|blocked)|warning: (?:message|could not)|error sending|permanent (?:delivery )?failure|unable to deliver|could not send|nondeliverable|your message (?:could|was|couldn|to)|report: delivery|unzustellbar|nicht zustellbar|mail-?zustellung|non remis|échec de (?:la )?remise|no se puede entregar|no entregado|mensaje no entregado|messaggio non|mancato recapito|não entregue|falha na entrega|niedostarczone|zwrot|не доставлено|недоставлен|系统退信|退信|未送达|配信|送信エラー|ndr\b|\*{3,5} ?undeliv))/i;

/** Whether the header shows that a mail system wrote the message, not a person. */
export function isFromMailSystem(fields: readonly ReadField[]): boolean {
  const from = decodeWords(valueOf(fields, "from") ?? "");
  return (
    MAIL_SYSTEM.test(from) ||
    /^(?:<\s*>)?$/.test(from) ||
    /^<\s*>$/.test(valueOf(fields, "return-path") ?? "") ||
    valueOf(fields, "x-failed-recipients") !== null ||
    /mailer-daemon/i.test(valueOf(fields, "sender") ?? "")
  );
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
  // People write such subjects, too: "Delivery problem with order 7".
  const isAutomatic = /^auto-/i.test(valueOf(fields, "auto-submitted") ?? "");
  if (!isFromMailSystem(fields) && !(isAutomatic && isBounceSubject(subject))) return null;
  const opening = oneSpaced(text.slice(0, OPENING));
  const rule = TEXT_RULES.find((each) => each.opening.test(opening));
  if (rule === undefined) return null;
  const detail = detailOf(text);
  const named = (valueOf(fields, "x-failed-recipients") ?? "")
    .split(",")
    .map((part) => part.trim());
  const action: TextFinding["action"] = rule.isDelay === true ? "delayed" : "failed";
  const sections = sectionsOf(detail, named.filter(isAddress));
  const findings = sections.slice(0, MAX_RECIPIENTS).map(({ recipient, words }) => ({
    ...diagnose(null, reasonIn(words)),
    action,
    recipient,
  }));
  if (!findings.some(isAboutDelivery)) return null;
  return { rule: rule.name, findings, excerpt: detail };
}

/** Whether the report names a recipient or a reason, and is not only opened like a bounce. */
function isAboutDelivery({ recipient, status, text }: TextFinding): boolean {
  return recipient !== null || status !== null || findReply(text) !== null;
}

/** Spaces and tabs only, so that phrases match across line ends; quoted lines lose their mark. */
function oneSpaced(text: string): string {
  return text.replace(/\s+(?:> ?)?/g, " ");
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

type Section = { recipient: string | null; words: string };

const ADDRESS = /[^\s<>()[\]:;,"'@：；，、（）【】]{1,64}@[a-z0-9.-]{1,200}[a-z0-9]/iu;
/** A line that begins with an address, alone or followed by the reason. */
const HEADING =
  /^[\s*•>-]{0,10}(?:(?:(?:failed )?recipient|to|address|rcpt to|for)(?: address)?: {0,10})?(?:\[?smtp:|mailto:)?[<('"]{0,2}([^\s<>()[\]:;,"'@：；，、（）【】]{1,64}@[a-z0-9.-]{1,200}[a-z0-9])[>)\]'"]{0,3}(?:$|[\s:;.,([{-])/iu;

/** The words about each recipient. */
function sectionsOf(detail: string, named: readonly string[]): Section[] {
  const sections: Section[] = [];
  const before: string[] = [];
  for (const line of detail.split("\n")) {
    const recipient = HEADING.exec(line.slice(0, 400))?.[1] ?? null;
    if (recipient !== null && !sections.some((section) => isSame(section.recipient, recipient))) {
      const rest = line.slice(line.indexOf(recipient) + recipient.length);
      sections.push({ recipient, words: rest.replace(/^[>)\]'",;: ]{1,5}/, "") });
    } else if (sections.length === 0) before.push(line);
    else {
      const last = sections.at(-1);
      if (last !== undefined) last.words += `\n${line}`;
    }
    if (sections.length > MAX_RECIPIENTS) break;
  }
  const shared = before.join("\n");
  if (sections.length === 0) {
    const recipients = named.length > 0 ? named : [ADDRESS.exec(detail)?.[0] ?? null];
    return recipients.map((recipient) => ({ recipient, words: detail }));
  }
  return sections.map(({ recipient, words }, i) => {
    const own = sections.slice(i).find((section) => hasWords(section.words))?.words ?? words;
    return { recipient, words: hasWords(own) ? own : shared };
  });
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
  const end = /\n[ \t>]*\n/.exec(rest)?.index ?? rest.length;
  // The words before the reply name the step of the session.
  return `${before.slice(before.lastIndexOf("\n\n") + 1)}${rest.slice(0, end)}`;
}
