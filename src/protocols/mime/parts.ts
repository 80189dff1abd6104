/**
 * Writes the parts of a MIME message as ASCII text: header lines, a blank line and the encoded body
 * (RFC 2045, RFC 2046). A part does not end with a line end.
 */

import { buildHeaderValue } from "nodemailer/lib/mime-funcs";
import { encode as encodeQuotedPrintable, wrap } from "nodemailer/lib/qp";
import { fold } from "./header-lines.ts";

/** An attachment. The file name and the content type have been checked for use in headers. */
export type Attachment = {
  filename: string;
  content: Uint8Array;
  contentType: string;
  /** Without angle brackets. */
  contentId: string | null;
  disposition: "attachment" | "inline";
};

/** Text in pieces, so that a large attachment is never one string. */
export type Pieces = readonly string[];

/** Shorter text is joined, which is faster than writing its pieces one by one. */
const SHORT_TEXT = 64 * 1024;

/** The bytes of a text in UTF-8. */
export function bytesOf(pieces: Pieces): Buffer {
  const characters = pieces.reduce((sum, { length }) => sum + length, 0);
  if (characters <= SHORT_TEXT) return Buffer.from(pieces.join(""));
  const bytes = Buffer.allocUnsafeSlow(
    pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
  );
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at);
  return bytes;
}

/** Writes a text part: 7bit if the text allows it, otherwise quoted-printable or base64. */
export function textPart(subtype: "plain" | "html", text: string): Pieces {
  const { encoding, body } = encodeText(text.replace(/\r\n?|\n/g, "\r\n"));
  return part([`Content-Type: text/${subtype}; charset=utf-8`, transferLine(encoding)], body);
}

/** Writes a multipart with the given parts. */
export function multipart(
  subtype: "alternative" | "related" | "mixed",
  boundary: string,
  parts: readonly Pieces[],
): Pieces {
  // multipart/related requires the type of its root part (RFC 2387 §3.1), which is always HTML
  // here.
  const parameters = subtype === "related" ? ` type="text/html";` : "";
  const head = `Content-Type: multipart/${subtype};${parameters}\r\n boundary="${boundary}"`;
  const body = parts.flatMap((part) => [`--${boundary}\r\n`, ...part, "\r\n"]);
  return [`${head}\r\n\r\n`, ...body, `--${boundary}--\r\n`];
}

export function attachmentPart(attachment: Attachment): Pieces {
  const { type, encoding, body } = encodeAttachment(attachment);
  const { filename, disposition, contentId } = attachment;
  const lines = [
    fold(`Content-Type: ${type}`),
    transferLine(encoding),
    fold(`Content-Disposition: ${buildHeaderValue({ value: disposition, params: { filename } })}`),
  ];
  if (contentId !== null) lines.push(`Content-ID: <${contentId}>`);
  return part(lines, body);
}

function part(lines: readonly string[], body: Pieces): Pieces {
  return [`${lines.join("\r\n")}\r\n\r\n`, ...body];
}

function transferLine(encoding: string): string {
  return `Content-Transfer-Encoding: ${encoding}`;
}

type Encoded = { encoding: "7bit" | "quoted-printable" | "base64"; body: Pieces };

function encodeText(text: string): Encoded {
  const octets = Buffer.from(text);
  const { high, isSevenBit } = survey(octets);
  if (isSevenBit) return { encoding: "7bit", body: [text] };
  // Quoted-printable encodes one octet in three, base64 three in four: equal at one sixth.
  return high * 6 > octets.length
    ? { encoding: "base64", body: base64Lines(octets) }
    : { encoding: "quoted-printable", body: [quotedPrintable(octets)] };
}

/**
 * Encodes in quoted-printable. "From " at the start of a line is encoded as well, because an mbox
 * adds ">" before it, which breaks the signature.
 */
function quotedPrintable(octets: Buffer): string {
  return wrap(encodeQuotedPrintable(octets).replace(/^From /gm, "=46rom "));
}

const LF = 10;
const SPACE = 32;

/**
 * Counts the octets that are not ASCII, and decides if the text can be sent as 7bit. Servers do not
 * change text with short lines, without blanks at line ends, controls except tab, or a leading
 * "From ".
 */
function survey(octets: Buffer): { high: number; isSevenBit: boolean } {
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
  return { high, isSevenBit: isUnchanged && high === 0 && !isBlank(previous) };
}

const FROM = Buffer.from("From ");

/** Longest line: 76 characters and the CR. */
const SHORT_LINE = 77;

function isBlank(octet: number): boolean {
  return octet === SPACE || octet === 9;
}

/** Octets of a line of 76 characters, and of the lines that are encoded together. */
const LINE_OCTETS = 57;
const PIECE_OCTETS = 1024 * LINE_OCTETS;

function base64Lines({ buffer, byteOffset, byteLength }: Uint8Array): Pieces {
  const octets = Buffer.from(buffer, byteOffset, byteLength);
  const pieces: string[] = [];
  for (let start = 0; start < byteLength; start += PIECE_OCTETS) {
    const base64 = octets.toString("base64", start, start + PIECE_OCTETS);
    const isLast = start + PIECE_OCTETS >= byteLength;
    pieces.push(base64.replace(/.{76}(?=.)/g, "$&\r\n"), isLast ? "" : "\r\n");
  }
  return pieces;
}

const UNKNOWN_TYPE = "application/octet-stream";

/**
 * Encodes in base64, except attached messages: they must not be encoded (RFC 2046 §5.2.1), so a
 * message that is not 7bit is sent as a file of unknown type. A multipart is sent so as well,
 * because its boundary is not known.
 */
function encodeAttachment({ content, contentType }: Attachment): Encoded & { type: string } {
  const isMessage = /^message\//i.test(contentType);
  const message = isMessage ? sevenBitLines(content) : null;
  if (message !== null) return { type: contentType, encoding: "7bit", body: [message] };
  const type = isMessage || /^multipart\//i.test(contentType) ? UNKNOWN_TYPE : contentType;
  return { type, encoding: "base64", body: base64Lines(content) };
}

function sevenBitLines(content: Uint8Array): string | null {
  const text = Buffer.from(content)
    .toString("latin1")
    .replace(/\r\n?|\n/g, "\r\n");
  return /^[\t\r\n\x20-\x7e]*$/.test(text) && !hasLongLine(text) ? text : null;
}

/** Longest line in octets, without the line end (RFC 5322 §2.1.1). */
const LONGEST_LINE = 998;

/** Whether a line is too long. The text has only CRLF line ends. */
function hasLongLine(text: string): boolean {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\r\n", start);
    if ((end === -1 ? text.length : end) - start > LONGEST_LINE) return true;
    if (end === -1) return false;
    start = end + 2;
  }
  return false;
}
