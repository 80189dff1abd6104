/**
 * Encodings of text parts: 7bit if the text allows it, otherwise quoted-printable or base64
 * (RFC 2045 §6).
 */

import { breakLines } from "./soft-breaks.ts";

/** The text with CRLF line ends. */
export function withLineEnds(text: string): string {
  return text.replace(/\r\n?|\n/g, "\r\n");
}

/** Text in pieces, so that a large attachment is never one string. */
export type Pieces = readonly string[];

export type Encoded = { encoding: "7bit" | "quoted-printable" | "base64"; body: Pieces };

/** Encodes text with CRLF line ends. */
export function encodeText(text: string): Encoded {
  const octets = Buffer.from(text);
  const encoding = chooseEncoding(survey(octets));
  if (encoding === "7bit") return { encoding, body: [text] };
  const body = encoding === "base64" ? base64Lines(octets) : [quotedPrintable(text)];
  return { encoding, body };
}

export function chooseEncoding({ octets, high, isSevenBit }: Survey): Encoded["encoding"] {
  if (isSevenBit) return "7bit";
  // Quoted-printable encodes one octet in three, base64 three in four: equal at one sixth.
  return high * 6 > octets ? "base64" : "quoted-printable";
}

/**
 * Encodes in quoted-printable. "From " at the start of a line is encoded as well, because an mbox
 * adds ">" before it, which breaks the signature.
 */
export function quotedPrintable(text: string): string {
  const unbroken = unwrappedQuotedPrintable(text);
  return unbroken.length <= SHORT_TEXT ? unbroken : breakLines(unbroken);
}

/** Texts of at most so many characters are not broken into lines. */
const SHORT_TEXT = 76;

/** Like `quotedPrintable`, but without soft line breaks. */
export function unwrappedQuotedPrintable(text: string): string {
  return text
    .toWellFormed()
    .replace(ENCODED, (octets) => encodeURIComponent(octets).replaceAll("%", "="))
    .replace(/^From /gm, "=46rom ");
}

/**
 * All characters except printable ones, tabs and line ends; the equals sign; and a blank at the end
 * of a line. `encodeURIComponent` encodes each of them.
 */
const ENCODED = /[^\t\n\r\x20-<>-~]+|[ \t](?=[\r\n]|$)/g;

/** The number of octets, and of those that are not ASCII, and if the text can be sent as 7bit. */
export type Survey = { octets: number; high: number; isSevenBit: boolean };

const LF = 10;
const SPACE = 32;

/**
 * Counts the octets that are not ASCII, and decides if the text can be sent as 7bit. Servers do not
 * change text with short lines, without blanks at line ends, controls except tab, or a leading
 * "From ".
 */
export function survey(octets: Buffer): Survey {
  let high = 0;
  let isUnchanged = octets.indexOf("\nFrom ") === -1 && !octets.subarray(0, 5).equals(FROM);
  let lineLength = 0;
  let previous = 0;
  // An index, because an iterator takes ten times as long.
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i] ?? 0;
    if (octet > 126) high++;
    else if (octet < SPACE && octet !== 9 && octet !== LF && octet !== 13) isUnchanged = false;
    lineLength = octet === LF ? 0 : lineLength + 1;
    if (lineLength > SHORT_LINE || (octet === 13 && isBlank(previous))) isUnchanged = false;
    previous = octet;
  }
  // The last line may have no CR.
  if (lineLength === SHORT_LINE && previous !== 13) isUnchanged = false;
  return {
    octets: octets.length,
    high,
    isSevenBit: isUnchanged && high === 0 && !isBlank(previous),
  };
}

const FROM = Buffer.from("From ");

/** Longest line of a 7bit text: 76 characters and the CR. */
export const SHORT_LINE = 77;

function isBlank(octet: number): boolean {
  return octet === SPACE || octet === 9;
}

/** Octets of a line of 76 characters, and of the lines that are encoded together. */
const LINE_OCTETS = 57;
const PIECE_OCTETS = 1024 * LINE_OCTETS;

export function base64Lines({ buffer, byteOffset, byteLength }: Uint8Array): Pieces {
  const octets = Buffer.from(buffer, byteOffset, byteLength);
  const pieces: string[] = [];
  for (let start = 0; start < byteLength; start += PIECE_OCTETS) {
    const base64 = octets.toString("base64", start, start + PIECE_OCTETS);
    const isLast = start + PIECE_OCTETS >= byteLength;
    pieces.push(base64.replace(/.{76}(?=.)/g, "$&\r\n"), isLast ? "" : "\r\n");
  }
  return pieces;
}
