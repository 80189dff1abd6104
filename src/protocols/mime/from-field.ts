/**
 * Reads the value of the header From (RFC 5322 §3.6.2) of a message that another program composed.
 * `parseFrom` demands exactly one mailbox, in a form that no mail program reads as another one.
 */

import type { Mailbox } from "./mailbox.ts";
import { parseMailbox } from "./mailbox.ts";

type ParsedFrom = { ok: true; mailbox: Mailbox } | { ok: false; reason: string };

/** Longest value; longer ones are refused unread. */
const LONGEST_VALUE = 2_000;

/** `value` is unfolded. */
export function parseFrom(value: string): ParsedFrom {
  if (value.length > LONGEST_VALUE) return refuse("it is too long");
  const scanned = scan(value);
  if (scanned === null) return refuse("a comment or a quoted text does not end");
  const { text, specials } = scanned;
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

/**
 * Whether mail programs may find different addresses in the value: a comment or a quoted text does
 * not end, or something between two commas has more than one address. An @ in an unquoted name is
 * not one of them if an address in brackets follows. `value` is unfolded.
 */
export function hasUnclearAddress(value: string): boolean {
  const scanned = scan(value);
  if (scanned === null) return true;
  return scanned.specials.split(/[,:;]/).some((mailbox) => !/^(?:@?|@*<@?>)$/.test(mailbox));
}

function refuse(reason: string): ParsedFrom {
  return { ok: false, reason };
}

const SPECIALS = '<>@,:;"';

/**
 * The text without comments (RFC 5322 §3.2.2), and the special characters that are outside of quotes,
 * in their order.
 */
function scan(value: string): { text: string; specials: string } | null {
  let text = "";
  let specials = "";
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at++) {
    const char = value.charAt(at);
    const isEscaped = char === "\\" && (isQuoted || depth > 0);
    const taken = isEscaped ? value.slice(at, at + 2) : char;
    if (isEscaped) at++;
    else if (isQuoted) isQuoted = char !== '"';
    else if (char === "(") depth++;
    else if (char === ")") {
      if (depth === 0) return null;
      depth--;
      continue;
    } else if (depth === 0 && char === '"') isQuoted = true;
    else if (depth === 0 && SPECIALS.includes(char)) specials += char;
    if (depth === 0) text += taken;
  }
  return depth > 0 || isQuoted ? null : { text, specials };
}
