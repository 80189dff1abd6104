/** Parses mailboxes: an address with or without a display name (RFC 5322 §3.4). */

import { oneLine } from "../../lib/one-line.ts";
import { trimBlanks } from "../../lib/trim.ts";
import { parseAddress } from "./address.ts";
import { isHeaderText } from "./headers.ts";

export type Mailbox = { address: string; name: string | null };

type ParsedMailbox =
  | { ok: true; mailbox: Mailbox }
  /** A sentence for the caller. */
  | { ok: false; reason: string };

const LONGEST_NAME = 255;
/** The longest name with its blanks, quotation marks and backslashes. */
const LONGEST_WRITTEN = 1_000;
const LONG_NAME = `The name is longer than ${LONGEST_NAME} characters.`;

/** A display name or a file name as it can stand in a header; empty if nothing of it is visible. */
export function displayName(text: string): string {
  const name = oneLine(text).toWellFormed();
  return name.trim() === "" ? "" : name;
}

/**
 * Parses `address`, `<address>`, `Name <address>` and `"Name" <address>`: exactly one address. In a
 * name without quotes, a comma or a semicolon would separate mailboxes, unless `mayHaveCommas`, and
 * another address could be the one that is meant.
 */
export function parseMailbox(
  text: string,
  { mayHaveCommas = false }: { mayHaveCommas?: boolean } = {},
): ParsedMailbox {
  const trimmed = trimBlanks(text);
  const unquoted = withoutQuoted(trimmed);
  const open = trimmed.endsWith(">") ? unquoted.lastIndexOf("<") : -1;
  const parsed = parseAddress(open === -1 ? trimmed : trimmed.slice(open + 1, -1));
  if (!parsed.ok) return { ok: false, reason: parsed.reason };
  const { address } = parsed;
  if (open === -1) return { ok: true, mailbox: { address, name: null } };
  // Before the name is normalized, which takes quadratic time on runs of combining marks.
  if (open > LONGEST_WRITTEN) return { ok: false, reason: LONG_NAME };
  const loose = unquoted.slice(0, open);
  const reason = looseFault(loose, { address, mayHaveCommas });
  if (reason !== null) return { ok: false, reason };
  const name = displayName(nameIn(trimBlanks(trimmed.slice(0, open))));
  if (name.length > LONGEST_NAME) {
    return { ok: false, reason: LONG_NAME };
  }
  return { ok: true, mailbox: { address, name: name === "" ? null : name } };
}

/**
 * The text to search for in a filter for addresses: of an address with a display name, as it is copied
 * from a mail program, the address alone.
 */
export function searchedAddress(text: string): string {
  const parsed = text.includes("<") ? parseMailbox(text, { mayHaveCommas: true }) : null;
  return parsed?.ok === true ? parsed.mailbox.address : text;
}

/** The reason why the part of a name that is outside of quotes is refused. */
function looseFault(
  loose: string,
  { address, mayHaveCommas }: { address: string; mayHaveCommas: boolean },
): string | null {
  if (!mayHaveCommas && /[,;]/.test(loose)) {
    return (
      "The name has a comma or a semicolon outside of quotes, which separates mailboxes. " +
      "Give one mailbox, and put such a name into quotes."
    );
  }
  if (loose.startsWith('"')) return "The name has a quotation mark without a second one.";
  const isOther = (found: string) => {
    const parsed = parseAddress(found);
    return !parsed.ok || parsed.address !== address;
  };
  if (hasBrackets(loose) || addressesIn(loose).some(isOther)) {
    return "The text has more than one address. Give one, and put such a name into quotes.";
  }
  return null;
}

function hasBrackets(text: string): boolean {
  const open = text.indexOf("<");
  return open !== -1 && text.indexOf(">", open) !== -1;
}

/** Words that a reader could take for an address: with an @ before a name with a dot. */
function addressesIn(text: string): string[] {
  const words = text.normalize("NFKC").split(/[\s\p{Cc}<>()[\],;:"]+/u);
  return words.flatMap((word) => {
    // Mail programs also put addresses between apostrophes, which are letters in an address.
    const bare = word.startsWith("'") && word.endsWith("'") ? word.slice(1, -1) : word;
    const at = bare.indexOf("@");
    return at > 0 && bare.lastIndexOf(".") > at + 1 ? [bare] : [];
  });
}

/**
 * The text with a `_` for each character of its quoted strings. A quotation mark without a second one
 * stands for itself.
 */
function withoutQuoted(text: string): string {
  let result = "";
  let from = 0;
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', from)) {
    const end = endOfQuoted(text, start);
    if (end === -1) break;
    result += text.slice(from, start) + "_".repeat(end - start);
    from = end;
  }
  return result + text.slice(from);
}

/** The position after a quoted string; -1 if it does not end. */
function endOfQuoted(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i + 1;
  }
  return -1;
}

/** The texts of the mailboxes in a list, which commas outside of quotes separate. */
export function splitMailboxes(text: string): string[] {
  if (!text.includes(",")) return [text];
  const texts: string[] = [];
  let from = 0;
  let mayHaveQuotes = true;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"' && mayHaveQuotes) {
      const end = endOfQuoted(text, i);
      if (end === -1) mayHaveQuotes = false;
      else i = end - 1;
    } else if (text[i] === ",") {
      texts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  return [...texts, text.slice(from).trim()];
}

/**
 * The text that `parseMailbox` reads as this mailbox. A name that cannot stand in a header is left
 * out.
 */
export function mailboxText({ address, name }: Mailbox): string {
  if (name === null || name === "" || name.length > LONGEST_NAME || !isHeaderText(name)) {
    return address;
  }
  const isPlain = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} .'-]*[\p{L}\p{M}\p{N}.])?$/u.test(name);
  return `${isPlain ? name : `"${name.replace(/["\\]/g, "\\$&")}"`} <${address}>`;
}

/** Formats a mailbox for people. The result is not encoded, so it must not be used in a header. */
export function formatMailbox({ address, name }: Mailbox): string {
  return name === null ? address : `${name} <${address}>`;
}

/** The content of a name that is one quoted string (RFC 5322 §3.2.4); other text is unchanged. */
function nameIn(text: string): string {
  const isQuoted = text.startsWith('"') && endOfQuoted(text, 0) === text.length;
  return isQuoted ? text.slice(1, -1).replace(/\\(.)/gsu, "$1") : text;
}
