/**
 * Writes the parts of a MIME message as ASCII text: header lines, a blank line and the encoded body
 * (RFC 2045, RFC 2046). A part does not end with a line end.
 */

import { buildHeaderValue } from "nodemailer/lib/mime-funcs";
import { fold } from "./header-lines.ts";
import {
  base64Lines,
  type Encoded,
  encodeText,
  type Pieces,
  withLineEnds,
} from "./text-encoding.ts";

/** An attachment. The file name and the content type have been checked for use in headers. */
export type Attachment = {
  filename: string;
  content: Uint8Array;
  contentType: string;
  /** Without angle brackets. */
  contentId: string | null;
  disposition: "attachment" | "inline";
};

/** Shorter text becomes one string, which is faster than writing its pieces one by one. */
const SHORT_TEXT = 64 * 1024;

/** The bytes of a text in UTF-8. */
export function bytesOf(pieces: Pieces): Buffer {
  let characters = 0;
  for (const piece of pieces) characters += piece.length;
  if (characters <= SHORT_TEXT) {
    let text = "";
    // The operator leaves the copying to the conversion, while `join` copies each piece before.
    for (const piece of pieces) text += piece;
    return Buffer.from(text);
  }
  const bytes = Buffer.allocUnsafeSlow(
    pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
  );
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at);
  return bytes;
}

/** Writes a text part: 7bit if the text allows it, otherwise quoted-printable or base64. */
export function textPart(subtype: "plain" | "html", text: string): Pieces {
  return encodedTextPart(subtype, encodeText(withLineEnds(text)));
}

/** Writes a text part whose body is encoded already. */
export function encodedTextPart(subtype: "plain" | "html", { encoding, body }: Encoded): Pieces {
  const type = `Content-Type: text/${subtype}; charset=utf-8`;
  return [`${type}\r\n${transferLine(encoding)}\r\n\r\n`, ...body];
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
  const written: string[] = [];
  let start = `${head}\r\n\r\n--${boundary}\r\n`;
  for (const part of parts) {
    written.push(start, ...part);
    start = `\r\n--${boundary}\r\n`;
  }
  written.push(`\r\n--${boundary}--\r\n`);
  return written;
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
  return [`${lines.join("\r\n")}\r\n\r\n`, ...body];
}

function transferLine(encoding: string): string {
  return `Content-Transfer-Encoding: ${encoding}`;
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
