/**
 * The syntax of addresses and their canonical form: RFC 5321 §4.1.2 and addr-spec of RFC 5322
 * §3.4.1 with RFC 6531 (UTF-8 local parts) and RFC 5891 (domains as A-labels). All code parses
 * addresses here. Spaces and tabs around an address are removed; other text around it makes it
 * invalid.
 */

import { domainToASCII } from "node:url";
import { trimBlanks } from "../../lib/trim.ts";

type ParsedAddress =
  | {
      ok: true;
      /** Canonical form: trimmed, in lower case, local part in NFC, domain as A-labels. */
      address: string;
      local: string;
      domain: string;
    }
  | {
      ok: false;
      /** A sentence for the caller, without the address. */
      reason: string;
    };

/** RFC 5321 §4.5.3.1: octets of local part, domain, and path without its angle brackets. */
const LONGEST_LOCAL = 64;
const LONGEST_DOMAIN = 255;
const LONGEST_ADDRESS = 254;

/** Longest text that can be an address, with spaces and tabs around it, in UTF-16 units. */
export const LONGEST_ADDRESS_TEXT = 320;

/**
 * Normalization takes quadratic time on runs of combining marks, so longer texts are not
 * normalized. They cannot be domains or parts of addresses: NFC leaves at least a third of a text.
 */
const LONGEST_NORMALIZED = 1_000;

/** The usual form of an address; every other form goes through `parseThoroughly`. */
const PLAIN =
  /^([a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/;

/** Parses and canonicalises one bare address (no display name, no comments, no address literal). */
export function parseAddress(text: string): ParsedAddress {
  if (text.length > LONGEST_ADDRESS_TEXT) return refuse("The address is too long.");
  const trimmed = trimBlanks(text);
  const lower = trimmed.toLowerCase();
  const plain = lower.length <= LONGEST_ADDRESS ? PLAIN.exec(lower) : null;
  const [, local = "", domain = ""] = plain ?? [];
  const isPlain = plain !== null && local.length <= LONGEST_LOCAL && !domain.includes("xn--");
  return isPlain ? { ok: true, address: lower, local, domain } : parseThoroughly(trimmed);
}

function parseThoroughly(trimmed: string): ParsedAddress {
  if (FORBIDDEN.test(trimmed)) {
    return refuse("The address contains a control character or an invisible one.");
  }
  const at = trimmed.lastIndexOf("@");
  if (at < 0) return refuse("The address has no @.");
  if (at === 0) return refuse("The part before the @ is empty.");
  const local = canonicalLocal(trimmed.slice(0, at));
  if (local === null) return refuse("The part before the @ is not valid.");
  if (Buffer.byteLength(local) > LONGEST_LOCAL) {
    return refuse("The part before the @ is longer than 64 octets.");
  }
  const domain = canonicalDomain(trimmed.slice(at + 1));
  if (domain === null) return refuse("The domain is not valid.");
  const address = `${local}@${domain}`;
  if (Buffer.byteLength(address) > LONGEST_ADDRESS) return refuse("The address is too long.");
  return { ok: true, address, local, domain };
}

function refuse(reason: string): ParsedAddress {
  return { ok: false, reason };
}

/** Controls, format characters (bidi, zero width), lone surrogates, private use, other spaces. */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

const ATOM = "[a-z0-9!#$%&'*+/=?^_`{|}~\\u{80}-\\u{10ffff}-]+";
const DOT_ATOM = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, "u");

/**
 * RFC 5321 §4.1.2 Quoted-string. RFC 6531 §3.3 adds UTF-8 to qtext but not to quoted pairs, which
 * stay printable ASCII (%d32-126).
 */
const QUOTED = /^"((?:[^"\\]|\\[ -~])*)"$/u;

/**
 * Converts a local part to lower case and NFC, and quotes it only if needed: `"a.b"` and `a.b` are
 * the same mailbox (RFC 5321 §4.1.2). Returns null if the text is not a local part.
 */
function canonicalLocal(text: string): string | null {
  const content = text.startsWith('"') ? unquoted(text) : text;
  if (content === null) return null;
  const local = content.normalize("NFC").toLowerCase().normalize("NFC");
  if (DOT_ATOM.test(local)) return local;
  return text.startsWith('"') ? `"${local.replace(/["\\]/g, "\\$&")}"` : null;
}

/** Removes quotes. It runs before NFC, which can convert a non-ASCII quoted pair to ASCII. */
function unquoted(text: string): string | null {
  return QUOTED.exec(text)?.[1]?.replace(/\\(.)/gu, "$1") ?? null;
}

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/**
 * Converts a domain to its canonical form: lower case, A-labels, at least two labels. A final dot
 * is an error in an address; for other domains the caller removes it (docs/delivery.md#W1). Returns
 * null for address literals and text that is not a domain.
 */
export function canonicalDomain(text: string): string | null {
  if (text.length > LONGEST_NORMALIZED) return null;
  const lower = text.normalize("NFC").toLowerCase();
  // domainToASCII uses the URL host parser, which decodes %41 and reads 0x7f.1 as an address.
  if (lower.length > LONGEST_DOMAIN || !/^[a-z0-9.\u{80}-\u{10ffff}-]+$/u.test(lower)) return null;
  const isSimple = !/[^a-z0-9.-]|xn--/.test(lower);
  // domainToASCII would drop invisible characters and byte order marks.
  if (!isSimple && FORBIDDEN.test(lower)) return null;
  const domain = isSimple ? lower : domainToASCII(lower);
  return isHostname(domain) && /\.(?!\d+$)[^.]+$/.test(domain) ? domain : null;
}

/**
 * Returns the canonical form of an address to search for; invalid text matches no stored address.
 */
export function storedAddress(text: string): string {
  const parsed = parseAddress(text);
  return parsed.ok ? parsed.address : normalized(text).toLowerCase();
}

/**
 * Returns the forms in which a part of an address may be stored, one or two. Non-ASCII text is
 * stored unchanged in a local part and as an A-label in a domain. Text after an @ is a domain.
 */
export function storedSpellings(part: string): string[] {
  if (part.length > LONGEST_NORMALIZED) return [part];
  const local = folded(part);
  const at = local.lastIndexOf("@") + 1;
  const labels = local.slice(at).split(".");
  const domain = labels.map((label) => (isAscii(label) ? label : domainToASCII(label) || label));
  const spelling = local.slice(0, at) + domain.join(".");
  return spelling === local ? [local] : at > 0 ? [spelling] : [local, spelling];
}

function folded(text: string): string {
  return normalized(trimBlanks(text)).toLowerCase();
}

function normalized(text: string): string {
  return text.length > LONGEST_NORMALIZED ? text : text.normalize("NFC");
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** Whether the text is an ASCII host name of one or more labels (RFC 952, RFC 1123 §2.1). */
export function isHostname(name: string): boolean {
  return name.length > 0 && name.length <= 253 && HOST_NAME.test(name.toLowerCase());
}

/** Returns the domain of a valid address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

/** Whether the server must offer SMTPUTF8 for this address (RFC 6531 §3.2). */
export function needsSmtpUtf8(address: string): boolean {
  return !isAscii(address);
}
