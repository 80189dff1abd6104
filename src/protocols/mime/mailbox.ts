/** Parses mailboxes: an address with or without a display name (RFC 5322 §3.4). */

import { trimBlanks } from "../../lib/trim.ts";
import { parseAddress } from "./address.ts";
import { isHeaderText } from "./headers.ts";

export type Mailbox = { address: string; name: string | null };

type ParsedMailbox =
  | { ok: true; mailbox: Mailbox }
  /** A sentence for the caller. */
  | { ok: false; reason: string };

const LONGEST_NAME = 255;

/** Parses `address`, `<address>`, `Name <address>` and `"Name" <address>`. */
export function parseMailbox(text: string): ParsedMailbox {
  const trimmed = trimBlanks(text);
  const open = trimmed.endsWith(">") ? trimmed.lastIndexOf("<") : -1;
  const bare = open === -1 ? trimmed : trimmed.slice(open + 1, -1);
  const parsed = parseAddress(bare);
  if (!parsed.ok) return { ok: false, reason: parsed.reason };
  const name = open === -1 ? "" : unquoted(trimBlanks(trimmed.slice(0, open)));
  if (open !== -1 && hasSeparator(trimmed.slice(0, open))) {
    return {
      ok: false,
      reason:
        "The name has a comma or a semicolon outside of quotes, which separates mailboxes. " +
        "Give one mailbox, and put such a name into quotes.",
    };
  }
  if (!isHeaderText(name)) {
    return { ok: false, reason: "The name contains a line break or another control character." };
  }
  if (name.length > LONGEST_NAME) {
    return { ok: false, reason: `The name is longer than ${LONGEST_NAME} characters.` };
  }
  const { address } = parsed;
  return { ok: true, mailbox: { address, name: name === "" ? null : name } };
}

/** Whether a comma or a semicolon occurs outside of quoted strings. */
function hasSeparator(name: string): boolean {
  let isQuoted = false;
  for (let i = 0; i < name.length; i++) {
    const char = name[i];
    if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted && char === "\\") i++;
    else if (!isQuoted && (char === "," || char === ";")) return true;
  }
  return false;
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

/** Returns the content of a quoted string (RFC 5322 §3.2.4); other text is returned unchanged. */
function unquoted(text: string): string {
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  return isQuoted ? text.slice(1, -1).replace(/\\(.)/gsu, "$1") : text;
}
