/**
 * Reads the header From (RFC 5322 §3.6.2) of a message that another program composed. All code reads
 * From here, so that the address which is shown is the one whose domain was evaluated.
 *
 * - `parseFrom` demands exactly one mailbox, in a form that no mail program reads as another one.
 * - `readAuthor` also returns all domains that a mail program may take for the domain of the author.
 */

import { domainToASCII } from "node:url";
import { domainOf } from "./address.ts";
import { decodeOctets } from "./encode-fields.ts";
import { isHeaderText } from "./headers.ts";
import type { Mailbox } from "./mailbox.ts";
import { parseMailbox } from "./mailbox.ts";
import { decodeWords } from "./read-parts.ts";

type ParsedFrom = { ok: true; mailbox: Mailbox } | { ok: false; reason: string };

/** Longest value of which `parseFrom` reads a mailbox; longer ones are refused unread. */
const LONGEST_VALUE = 2_000;
/** Longest fields From in which `readAuthor` searches for domains, in octets. */
const MAX_FIELDS_BYTES = 64 * 1024;
/** Most domains of an author: the policy of each costs look-ups. */
const MAX_DOMAINS = 10;

/** `value` is unfolded. */
export function parseFrom(value: string): ParsedFrom {
  if (value.length > LONGEST_VALUE) return refuse("it is too long");
  const tokens = tokensOf(value);
  if (tokens === null) return refuse("a comment or a quoted text does not end");
  const text = textOf(tokens);
  if (!isHeaderText(text)) return refuse("it has a control character");
  const specials = specialsOf(tokens);
  if (text.trim() === "") return refuse("it is empty");
  if (specials.includes(":") || specials.includes(";")) {
    return refuse("it is a group; name one mailbox instead");
  }
  if (specials.includes(",")) return refuse("it names more than one mailbox");
  // An @ in an unquoted name would be an address for some programs.
  const isOneAddress = specials === "@" || specials === "<@>";
  if (!isOneAddress) return refuse("it is not one address, or a name and <address>");
  const parsed = parseMailbox(text);
  return parsed.ok ? parsed : refuse(`its address is not valid: ${parsed.reason}`);
}

function refuse(reason: string): ParsedFrom {
  return { ok: false, reason };
}

export type Author = {
  /** The mailbox that is shown; null unless the message has one field From with one mailbox. */
  mailbox: Mailbox | null;
  /**
   * The domains of the author, each once, in the form in which they are looked up. A valid message
   * has one domain, but an attacker can send any. If mail programs may read different addresses in
   * a field, all domains in it count.
   */
  domains: readonly string[];
};

/**
 * Reads the fields From of a header section, which has one character for each octet. Returns null if
 * they are longer than 64 KiB or name more than ten domains.
 */
export function readAuthor(header: string): Author | null {
  const fields = header.match(/^from[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*/gim) ?? [];
  if (fields.reduce((sum, { length }) => sum + length, 0) > MAX_FIELDS_BYTES) return null;
  const values = fields.map((field) =>
    decodeOctets(unfolded(field.slice(field.indexOf(":") + 1)).replace(/\r$/, "")),
  );
  const parsed = values.length === 1 ? parseFrom(values[0] ?? "") : null;
  const mailbox = parsed?.ok === true ? parsed.mailbox : null;
  const shown = mailbox === null ? [] : [domainOf(mailbox.address)];
  const domains = [...new Set([...shown, ...values.flatMap(authorDomains)])];
  return domains.length > MAX_DOMAINS ? null : { mailbox, domains };
}

function unfolded(text: string): string {
  return text.replace(/\r?\n(?=[ \t])/g, "");
}

/**
 * Returns the domains that mail programs may read as the domain of the author, each once. An @ in an
 * unquoted name does not count if an address in brackets follows. `value` is unfolded.
 */
export function authorDomains(value: string): string[] {
  const tokens = tokensOf(value);
  const clear = tokens === null ? null : clearDomains(tokens);
  const domains = clear ?? [value, textOf(tokens ?? []), decodeWords(value)].flatMap(domainsIn);
  return [...new Set(domains.flatMap(lookUpForm))];
}

/** A mailbox without an address, such as `MAILER-DAEMON`, and the two forms with one. */
const NO_ADDRESS = /^[wq ]*(?:< *> *)?$/;
const ONE_ADDRESS = /^(?:[wq@ ]*< *[wq]+@w *>| *[wq]+@w) *$/;

/** The domains of the addresses in a value; null if mail programs may read other addresses in it. */
function clearDomains(tokens: readonly Token[]): string[] | null {
  if (tokens.some(mayEndElsewhere)) return null;
  const domains: string[] = [];
  for (const mailbox of mailboxesOf(tokens)) {
    const form = mailbox.map(letterOf).join("");
    const address = mailbox.slice(mailbox.findLastIndex(({ text }) => text === "<") + 1);
    // An encoded word is not an address, but some programs show its text as one.
    if (address.some(({ kind, text }) => kind !== "comment" && text.includes("=?"))) return null;
    if (NO_ADDRESS.test(form)) continue;
    const { text = "" } = address[address.findLastIndex((token) => token.text === "@") + 1] ?? {};
    if (!ONE_ADDRESS.test(form) || /\s/u.test(text)) return null;
    domains.push(text);
  }
  return domains;
}

function letterOf({ kind, text }: Token): string {
  if (kind === "special") return text;
  return kind === "word" ? "w" : kind === "quoted" ? "q" : " ";
}

/** True if simple parsers may end a comment or a quoted text with an @ in it at another place. */
function mayEndElsewhere({ kind, text }: Token): boolean {
  // oxlint-disable-next-line no-control-regex -- The expression searches for control characters.
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(text)) return true;
  if (kind === "quoted") return text.includes("@") && text.includes("\\");
  return kind === "comment" && text.includes("@") && /[\\"(]/.test(text.slice(1));
}

/** Blanks around the dots of a domain are an obsolete form (RFC 5322 §4.4). */
const DOMAIN = /@[. ]*([^\s.@<>()[\],;:"\\]+(?: ?\.[. ]*[^\s.@<>()[\],;:"\\]+)*)/gu;

/** The domains after each @, also those in names and comments. */
function domainsIn(text: string): string[] {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ");
  return [...line.matchAll(DOMAIN)].map(([, domain = ""]) => domain);
}

/** Characters that mail programs do not show, and that IDNA ignores or forbids. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u034f\ufe00-\ufe0f ]+/gu;
const LONGEST_DOMAIN = 1_000;

/**
 * The form of a domain that is looked up: A-labels (RFC 5891) in lower case. A name that is no host
 * name, such as one with an underscore, may still have a policy above it. If a label cannot exist, the
 * labels above it remain.
 */
function lookUpForm(text: string): string[] {
  const visible = text.slice(0, LONGEST_DOMAIN).replaceAll(INVISIBLE, "").normalize("NFKC");
  const labels = visible
    .toLowerCase()
    .split(/[.\u3002]+/u)
    .filter((label) => label !== "")
    .map((label) => (/^[!-~]*$/.test(label) ? label : domainToASCII(label)));
  const impossible = labels.findLastIndex((label) => !/^[a-z0-9_-]{1,63}$/.test(label));
  const name = labels.slice(impossible + 1).join(".");
  return name === "" ? [] : [name];
}

/** `word` is text without blanks; `text` has the quotes and the brackets of comments as well. */
type Token = { kind: "word" | "blank" | "quoted" | "comment" | "special"; text: string };

const WORD = /[^ \t<>@,:;"()]+/y;
const BLANK = /[ \t]+/y;

/** Splits a value (RFC 5322 §3.2); null if a comment or a quoted text does not end. */
function tokensOf(value: string): Token[] | null {
  const tokens: Token[] = [];
  for (let at = 0; at < value.length; at += tokens.at(-1)?.text.length ?? 1) {
    const token = tokenAt(value, at);
    if (token === null) return null;
    tokens.push(token);
  }
  return tokens;
}

function tokenAt(value: string, at: number): Token | null {
  switch (value.charAt(at)) {
    case "(":
      return commentAt(value, at);
    case ")":
      return null;
    case '"':
      return quotedAt(value, at);
    case " ":
    case "\t":
      return matchAt("blank", BLANK, value, at);
    default:
      return matchAt("word", WORD, value, at) ?? { kind: "special", text: value.charAt(at) };
  }
}

function matchAt(kind: Token["kind"], form: RegExp, value: string, at: number): Token | null {
  form.lastIndex = at;
  const text = form.exec(value)?.[0];
  return text === undefined ? null : { kind, text };
}

function quotedAt(value: string, start: number): Token | null {
  for (let at = start + 1; at < value.length; at++) {
    const char = value.charAt(at);
    if (char === "\\") at++;
    else if (char === '"') return { kind: "quoted", text: value.slice(start, at + 1) };
  }
  return null;
}

/** Comments can be nested (RFC 5322 §3.2.2). */
function commentAt(value: string, start: number): Token | null {
  let depth = 0;
  for (let at = start; at < value.length; at++) {
    const char = value.charAt(at);
    if (char === "\\") at++;
    else if (char === "(") depth++;
    else if (char === ")" && --depth === 0) {
      return { kind: "comment", text: value.slice(start, at + 1) };
    }
  }
  return null;
}

function* mailboxesOf(tokens: readonly Token[]): Generator<Token[]> {
  let mailbox: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== "special" || !",:;".includes(token.text)) mailbox.push(token);
    else {
      yield mailbox;
      mailbox = [];
    }
  }
  yield mailbox;
}

/** The text, in which each comment is a blank. */
function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ kind, text }) => (kind === "comment" ? " " : text)).join("");
}

function specialsOf(tokens: readonly Token[]): string {
  return tokens.map(({ kind, text }) => (kind === "special" ? text : "")).join("");
}
