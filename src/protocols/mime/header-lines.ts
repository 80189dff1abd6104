/**
 * Writes header fields: values as encoded words if needed (RFC 2047), addresses with display names
 * (RFC 5322 §3.4), folded at 78 characters (RFC 5322 §2.1.1, §2.2.3; docs/delivery.md#C1).
 *
 * The caller has checked that values contain no line breaks and no control characters.
 */

import { encodeWord, quoteString } from "nodemailer/lib/mime-funcs";

const LINE_LENGTH = 78;
const LONGEST_LINE = 998;

/** Length of one encoded word. With the longest usual field name before it, it fits in a line. */
const WORD_LENGTH = 52;

/** Writes a header with text for people. Text that could be misread is encoded completely. */
export function textLine(name: string, text: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(text) && !/^ | $|=\?/.test(text);
  return isPlain ? rawLine(name, text) : fold(`${name}: ${encodedWords(text)}`);
}

/** Writes a header of the caller, unchanged if possible, because its value may have a syntax. */
export function rawLine(name: string, value: string): string {
  const trimmed = value.trim();
  const line = fold(`${name}: ${trimmed}`);
  const isClean = /^[\t\x20-\x7e]*$/.test(trimmed) && !isTooLong(line);
  return isClean ? line : fold(`${name}: ${encodedWords(trimmed)}`);
}

type Mailbox = { name: string | null; address: string };

/** Writes a header with one mailbox. The domain of the address is already in ASCII. */
export function addressLine(name: string, mailbox: Mailbox): string {
  const written = writtenMailbox(mailbox);
  const line = `${name}: ${written}`;
  return written.includes(" <") ? fold(line) : line;
}

/** Writes a header with several mailboxes. The domains of the addresses are already in ASCII. */
export function addressListLine(name: string, mailboxes: readonly Mailbox[]): string {
  return fold(`${name}: ${mailboxes.map(writtenMailbox).join(", ")}`);
}

function writtenMailbox({ name, address }: Mailbox): string {
  const displayName = name === null ? "" : phrase(name.trim());
  if (displayName !== "") return `${displayName} <${address}>`;
  const isBare = /^[^"@]+@[^@]+$/.test(address);
  return isBare ? address : `<${address}>`;
}

const LONGEST_QUOTED = 200;

/** Encodes a display name as atoms, quoted string or encoded words (RFC 5322 §3.2.5). */
function phrase(name: string): string {
  if (/^\w+(?: \w+)*$/.test(name) && name.length <= LINE_LENGTH) return name;
  // Some mail programs decode text that looks like an encoded word even inside quotes.
  const isQuotable = /^[\x20-\x7e]*$/.test(name) && !name.includes("=?");
  if (name === "") return "";
  return isQuotable && name.length <= LONGEST_QUOTED ? quoteString(name) : encodedWords(name);
}

/** Encodes text as encoded words: Q if most of it stays readable, otherwise B. */
export function encodedWords(text: string): string {
  const letters = text.match(/[a-z]/gi)?.length ?? 0;
  return encodeWord(text, letters * 2 > text.length ? "Q" : "B", WORD_LENGTH);
}

/**
 * Folds at single spaces between words, so that no line contains only blanks, and never directly
 * after the name. A word that is too long for a line is not split.
 */
export function fold(line: string): string {
  if (line.length <= LINE_LENGTH) return line;
  let folded = "";
  let from = 0;
  // The first space follows the name.
  let space = nextSpace(line, nextSpace(line, 0) + 1);
  while (space !== -1) {
    const next = nextSpace(line, space + 1);
    const end = next === -1 ? line.length : next;
    if (end - from > LINE_LENGTH) {
      folded += `${line.slice(from, space)}\r\n`;
      from = space;
    }
    space = next;
  }
  return folded + line.slice(from);
}

/** The offset of the next space between two words; -1 if there is none. */
function nextSpace(line: string, from: number): number {
  let at = line.indexOf(" ", from);
  while (at !== -1 && !(isVisible(line, at - 1) && isVisible(line, at + 1))) {
    at = line.indexOf(" ", at + 1);
  }
  return at;
}

function isVisible(line: string, at: number): boolean {
  const code = line.charCodeAt(at);
  return code < 128 ? code > 32 || !/\s/.test(line.charAt(at)) : /\S/.test(line.charAt(at));
}

function isTooLong(folded: string): boolean {
  return (
    folded.length > LONGEST_LINE && folded.split("\r\n").some((line) => line.length > LONGEST_LINE)
  );
}
