/**
 * Writes header fields: values as encoded words where they need it (RFC 2047), addresses with
 * display names (RFC 5322 §3.4), everything folded at 78 (RFC 5322 §2.1.1, §2.2.3; docs/delivery.md#C1).
 *
 * What goes in has been checked: no line breaks, no control characters.
 */

import { encodeWord, quoteString } from "nodemailer/lib/mime-funcs";

const LINE_LENGTH = 78;
const LONGEST_LINE = 998;

/** Length of one encoded word; with the longest usual name in front it still fits a line. */
const WORD_LENGTH = 52;

/** A header whose value is text for people. Whatever could be misread is encoded whole. */
export function textLine(name: string, text: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(text) && !/^ | $|=\?/.test(text);
  return isPlain ? rawLine(name, text) : fold(`${name}: ${encodedWords(text)}`);
}

/** A caller's header: left as it is where that can be sent, as it may have a syntax of its own. */
export function rawLine(name: string, value: string): string {
  const trimmed = value.trim();
  const line = fold(`${name}: ${trimmed}`);
  const isClean = /^[\t\x20-\x7e]*$/.test(trimmed) && !isTooLong(line);
  return isClean ? line : fold(`${name}: ${encodedWords(trimmed)}`);
}

/** One mailbox. The address has its domain in ASCII already. */
export function addressLine(
  name: string,
  mailbox: { name: string | null; address: string },
): string {
  const displayName = mailbox.name === null ? "" : phrase(mailbox.name.trim());
  if (displayName !== "") return fold(`${name}: ${displayName} <${mailbox.address}>`);
  const isBare = /^[^"@]+@[^@]+$/.test(mailbox.address);
  return `${name}: ${isBare ? mailbox.address : `<${mailbox.address}>`}`;
}

const LONGEST_QUOTED = 200;

/** A display name as atoms, quoted string or encoded words (RFC 5322 §3.2.5). */
function phrase(name: string): string {
  if (/^\w+(?: \w+)*$/.test(name) && name.length <= LINE_LENGTH) return name;
  // Some readers decode what looks like an encoded word even inside quotes.
  const isQuotable = /^[\x20-\x7e]*$/.test(name) && !name.includes("=?");
  if (name === "") return "";
  return isQuotable && name.length <= LONGEST_QUOTED ? quoteString(name) : encodedWords(name);
}

/** Q where most of the text stays readable, B elsewhere. */
function encodedWords(text: string): string {
  const letters = text.match(/[a-z]/gi)?.length ?? 0;
  return encodeWord(text, letters * 2 > text.length ? "Q" : "B", WORD_LENGTH);
}

/**
 * Folds at single spaces between words, so that no line is empty but for blanks, and never behind
 * the name. A word that is too long for a line stays whole.
 */
export function fold(line: string): string {
  if (line.length <= LINE_LENGTH) return line;
  const [name = "", first = "", ...words] = line.split(/(?<=\S) (?=\S)/);
  const lines: string[] = [];
  let current = `${name} ${first}`;
  for (const word of words) {
    if (current.length + 1 + word.length > LINE_LENGTH) {
      lines.push(current);
      current = "";
    }
    current += ` ${word}`;
  }
  return [...lines, current].join("\r\n");
}

function isTooLong(folded: string): boolean {
  return (
    folded.length > LONGEST_LINE && folded.split("\r\n").some((line) => line.length > LONGEST_LINE)
  );
}
