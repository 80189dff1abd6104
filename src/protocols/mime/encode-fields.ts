/**
 * Encodes header fields that have 8-bit text, so that servers without SMTPUTF8 (RFC 6531) take them:
 * text and names as encoded words (RFC 2047), parameters of MIME as extended values (RFC 2231).
 */

import { encodedWords, textLine } from "./header-lines.ts";

const ADDRESS_FIELDS = /^(?:resent-)?(?:from|sender|reply-to|to|cc)$/;
const PARAMETER_FIELDS = /^content-(?:type|disposition)$/;

/** Whether a text with one character for each octet has 8-bit octets. */
export function isEightBit(text: string): boolean {
  return /[\x80-\xff]/.test(text);
}

/** The text of octets that are UTF-8, or Windows-1252 if they are not. */
export function decodeOctets(octets: string): string {
  const bytes = Buffer.from(octets, "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/**
 * Returns the field in ASCII, folded and without its last CRLF. Null if an address in it is not
 * ASCII, which has no other form. `octets` is the unfolded value with one character for each octet.
 */
export function encodeField(name: string, octets: string): string | null {
  const value = decodeOctets(octets).trim();
  const lower = name.toLowerCase();
  if (ADDRESS_FIELDS.test(lower)) {
    const encoded = encodeAddresses(value);
    return encoded === null ? null : `${name}: ${encoded}`;
  }
  return PARAMETER_FIELDS.test(lower)
    ? `${name}: ${encodeParameters(value)}`
    : textLine(name, value);
}

// oxlint-disable-next-line no-control-regex -- The expression searches for text that is not ASCII.
const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

const SEPARATORS = ",;:";
/** The characters that end a quoted text, a comment and an address. */
const CLOSERS: Readonly<Record<string, string>> = { '"': '"', "(": ")", "<": ">" };

/** Quoted texts, comments, addresses, separators, and all other text. */
function* addressParts(value: string): Generator<string> {
  let start = 0;
  while (start < value.length) {
    const end = partEnd(value, start);
    yield value.slice(start, end);
    start = end;
  }
}

function partEnd(value: string, start: number): number {
  const char = value.charAt(start);
  if (SEPARATORS.includes(char)) return start + 1;
  const closer = CLOSERS[char];
  for (let at = start + 1; at < value.length; at++) {
    const next = value.charAt(at);
    if (closer === undefined && (next in CLOSERS || SEPARATORS.includes(next))) return at;
    if (closer !== undefined && next === "\\") at++;
    else if (next === closer) return at + 1;
  }
  return value.length;
}

function encodeAddresses(value: string): string | null {
  const parts: string[] = [];
  for (const part of addressParts(value)) {
    if (isAscii(part)) parts.push(part);
    else if (part.startsWith("<") || (part.includes("@") && !part.startsWith('"'))) return null;
    else if (!part.startsWith("(")) parts.push(encodedPhrase(part));
  }
  return parts.join("");
}

function encodedPhrase(part: string): string {
  const text = part.startsWith('"') ? part.slice(1, -1).replace(/\\(.)/gsu, "$1") : part.trim();
  const before = part.startsWith(" ") ? "\r\n " : "";
  return `${before}${encodedWords(text).replaceAll(" ", "\r\n ")}${part.endsWith(" ") ? " " : ""}`;
}

const PARAMETER = /;\s*([a-z0-9-]{1,60})=("(?:[^"\\]|\\.)*"|[^;]*)/giu;

function encodeParameters(value: string): string {
  return value
    .replace(PARAMETER, (whole, name: string, text: string) => {
      if (isAscii(text)) return whole;
      const plain = text.startsWith('"')
        ? text.slice(1, -1).replace(/\\(.)/gsu, "$1")
        : text.trim();
      return `;\r\n ${name}*=utf-8''${percentEncoded(plain)}`;
    })
    .replace(/[^\0-\x7f\r\n]/gu, "?");
}

function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/['()*!]/g, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}
