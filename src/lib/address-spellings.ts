/**
 * The spellings in which an address stands in stored texts, and their replacement. Pure.
 *
 * Texts are searched without regard to the case of ASCII letters. An address is found as it is, as it
 * stands in JSON, in a URL and in HTML, and with its domain in Unicode.
 */

import { domainToUnicode } from "node:url";

/** The text that replaces an erased address. The domain can never exist (RFC 2606 §2). */
const ERASED_ADDRESS = "erased@erased.invalid";

/** All spellings of an address, in lower case (ASCII), the longest first. */
export function spellingsOf(address: string): string[] {
  const at = address.lastIndexOf("@");
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  const domains = [domain, domainToUnicode(domain)].filter((name) => name !== "");
  const plain = domains.flatMap((name) => [`${local}@${name}`, `${unquoted(local)}@${name}`]);
  const all = plain.flatMap((spelling) => [
    spelling,
    JSON.stringify(spelling).slice(1, -1),
    encodeURIComponent(spelling),
    encodeURI(spelling),
    encodeURIComponent(spelling).replaceAll("%20", "+"),
    Bun.escapeHTML(spelling),
    spelling.replace(/@(?=[^@]*$)/, "&#64;"),
    spelling.replace(/@(?=[^@]*$)/, "=40"),
    spelling.replaceAll("=", "=3d").replaceAll("+", "%2b"),
    spelling.replaceAll("+", "%2b"),
    quotedInSmtp(spelling),
  ]);
  const unique = new Set(all.map(lowerCase));
  return [...unique].toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1));
}

/** A local part without the quotes that it has in SMTP (RFC 5321 §4.1.2). */
function unquoted(local: string): string {
  const inner = /^"(.*)"$/s.exec(local)?.[1];
  return inner === undefined ? local : inner.replace(/\\(.)/gs, "$1");
}

/** The form of the parameter ORCPT: `+` and `=` are written in hexadecimal (RFC 3461 §4). */
function quotedInSmtp(spelling: string): string {
  return spelling.replace(/[+=]/g, (char) => (char === "+" ? "+2b" : "+3d"));
}

/** ASCII letters in lower case, so that the length stays. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Two parts of the address without characters that are encoded anywhere. Each spelling has both, so a
 * text without one of them need not be searched.
 */
export function markersOf(address: string): [string, string] {
  const at = address.lastIndexOf("@");
  const longest = (text: string) =>
    (lowerCase(text).match(/[a-z\d]+/g) ?? [""]).toSorted((a, b) => b.length - a.length)[0] ?? "";
  const domain = address.slice(at + 1);
  // An A-label may be written in Unicode; the other labels are equal in both.
  const labels = domain.split(".").filter((label) => !label.startsWith("xn--"));
  return [longest(address.slice(0, at)), longest(labels.join("."))];
}

/** True if the text contains one of the spellings, and not only as a part of a longer address. */
export function mentions(text: string, spellings: readonly string[]): boolean {
  return placesOf(lowerCase(text), spellings).next().done !== true;
}

/**
 * The same for octets in UTF-8: `octets` has one character for each (latin1), in lower case, and
 * `spellings` come from `octetSpellings`. Large bytes are not decoded, because that takes longer.
 */
export function octetsMention(octets: string, spellings: readonly string[]): boolean {
  return placesOf(octets, spellings).next().done !== true;
}

export const octetSpellings = (spellings: readonly string[]): string[] =>
  spellings.map((spelling) => Buffer.from(spelling).toString("latin1").toLowerCase());

/**
 * The text with the address replaced. A longer address that ends or begins in the same way is another
 * one: `eve@example.com` does not stand in `steve@example.com`.
 */
export function replaceAddress(text: string, spellings: readonly string[]): string {
  let result = "";
  let done = 0;
  for (const { start, end } of placesOf(lowerCase(text), spellings)) {
    result += text.slice(done, start) + ERASED_ADDRESS;
    done = end;
  }
  return result + text.slice(done);
}

/** The places of the address in a text in lower case, from the first one on. */
function* placesOf(
  folded: string,
  spellings: readonly string[],
): Generator<{ start: number; end: number }> {
  /** The next place of each spelling; each is searched once from its last one on. */
  const next = spellings.map((spelling) => placeOf(folded, spelling, 0));
  for (let at = 0; ;) {
    next.forEach((place, i) => {
      if (place < at) next[i] = placeOf(folded, spellings[i] ?? "", at);
    });
    const start = Math.min(...next);
    const spelling = spellings[next.indexOf(start)];
    if (spelling === undefined || start === Infinity) return;
    const end = start + spelling.length;
    const isAddress = isWhole(folded, start, end);
    if (isAddress) yield { start, end };
    at = isAddress ? end : start + 1;
  }
}

function placeOf(text: string, spelling: string, from: number): number {
  const at = text.indexOf(spelling, from);
  return at === -1 ? Infinity : at;
}

const LOCAL_END = /[\w.!#$&'*+/=?^`{|}~-]/;
const DOMAIN_START = /[a-z\d-]/;

/** True if the characters beside it do not make it a part of a longer address. */
function isWhole(text: string, start: number, end: number): boolean {
  const before = text.slice(start - 1, start);
  const after = text.slice(end, end + 1);
  const isEscape = /(?:%[\da-f]{2}|\\[a-z]|\\u[\da-f]{4}|=[\da-f]{2}|[=?&'/+]|--)$/.test(
    text.slice(Math.max(0, start - 6), start),
  );
  const isLongerLocal = before !== "" && LOCAL_END.test(before) && !isEscape;
  const isLongerDomain =
    DOMAIN_START.test(after) || (after === "." && /[a-z\d]/.test(text.slice(end + 1, end + 2)));
  return !isLongerLocal && !isLongerDomain;
}
