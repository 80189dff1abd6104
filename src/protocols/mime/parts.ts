/**
 * Parts of a MIME message as strings of ASCII: content lines, a blank line, the encoded body
 * (RFC 2045, RFC 2046). A part begins with its headers and has no line end of its own at the end.
 */

import { buildHeaderValue } from "nodemailer/lib/mime-funcs";
import { encode as encodeQuotedPrintable, wrap } from "nodemailer/lib/qp";
import { fold } from "./header-lines.ts";

/** Checked before: the file name is header text, the content type a media type. */
export type Attachment = {
  filename: string;
  content: Uint8Array;
  contentType: string;
  /** Without angle brackets. */
  contentId: string | null;
  disposition: "attachment" | "inline";
};

/** A text in the encoding that suits it: 7bit as it is, else quoted-printable or base64. */
export function textPart(subtype: "plain" | "html", text: string): string {
  const { encoding, body } = encodeText(text.replace(/\r\n?|\n/g, "\r\n"));
  return part([`Content-Type: text/${subtype}; charset=utf-8`, transferLine(encoding)], body);
}

/** Several parts; `parameters` follow the boundary, as `type` does in multipart/related. */
export function multipart(
  subtype: "alternative" | "related" | "mixed",
  boundary: string,
  parts: readonly string[],
): string {
  // RFC 2387 §3.1 asks for the type of the root part; ours is always the HTML.
  const parameters = subtype === "related" ? ` type="text/html";` : "";
  const head = `Content-Type: multipart/${subtype};${parameters}\r\n boundary="${boundary}"`;
  const body = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
  return `${head}\r\n\r\n${body}--${boundary}--\r\n`;
}

export function attachmentPart(attachment: Attachment): string {
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

function part(lines: readonly string[], body: string): string {
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

function transferLine(encoding: string): string {
  return `Content-Transfer-Encoding: ${encoding}`;
}

type Encoded = { encoding: "7bit" | "quoted-printable" | "base64"; body: string };

function encodeText(text: string): Encoded {
  const octets = Buffer.from(text);
  const { high, isSevenBit } = survey(octets);
  if (isSevenBit) return { encoding: "7bit", body: text };
  // Quoted-printable makes three octets of one, base64 four of three: equal at one sixth.
  return high * 6 > octets.length
    ? { encoding: "base64", body: base64Lines(octets) }
    : { encoding: "quoted-printable", body: quotedPrintable(octets) };
}

/** A line that begins with "From " would get a ">" in an mbox, and break the signature. */
function quotedPrintable(octets: Buffer): string {
  return wrap(encodeQuotedPrintable(octets).replace(/^From /gm, "=46rom "));
}

const LF = 10;
const SPACE = 32;

/**
 * How many octets are not ASCII, and whether no server on the way has a reason to change any: short
 * lines, no blanks at their ends, no controls but tab, no "From " in front.
 */
function survey(octets: Buffer): { high: number; isSevenBit: boolean } {
  let high = 0;
  let isFine = octets.indexOf("\nFrom ") === -1 && !octets.subarray(0, 5).equals(FROM);
  let lineLength = 0;
  let previous = 0;
  // An index, because an iterator takes ten times as long.
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i] ?? 0;
    if (octet > 126) high++;
    else if (octet < SPACE && octet !== 9 && octet !== LF && octet !== 13) isFine = false;
    lineLength = octet === LF ? 0 : lineLength + 1;
    if (lineLength > SHORT_LINE || (octet === 13 && isBlank(previous))) isFine = false;
    previous = octet;
  }
  return { high, isSevenBit: isFine && high === 0 && !isBlank(previous) };
}

const FROM = Buffer.from("From ");

/** 76 characters and the CR. */
const SHORT_LINE = 77;

function isBlank(octet: number): boolean {
  return octet === SPACE || octet === 9;
}

function base64Lines(octets: Uint8Array): string {
  const base64 = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString(
    "base64",
  );
  return base64.replace(/.{76}(?=.)/g, "$&\r\n");
}

const UNKNOWN_TYPE = "application/octet-stream";

/**
 * Base64, but for messages: those may not be encoded (RFC 2046 §5.2.1), so one that is not 7bit
 * goes as a file of unknown type. A multipart would promise a boundary that is not ours to know.
 */
function encodeAttachment({ content, contentType }: Attachment): Encoded & { type: string } {
  const isMessage = /^message\//i.test(contentType);
  const message = isMessage ? sevenBitLines(content) : null;
  if (message !== null) return { type: contentType, encoding: "7bit", body: message };
  const type = isMessage || /^multipart\//i.test(contentType) ? UNKNOWN_TYPE : contentType;
  return { type, encoding: "base64", body: base64Lines(content) };
}

function sevenBitLines(content: Uint8Array): string | null {
  const text = Buffer.from(content)
    .toString("latin1")
    .replace(/\r\n?|\n/g, "\r\n");
  return /^[\t\r\n\x20-\x7e]*$/.test(text) && !hasLongLine(text) ? text : null;
}

/** RFC 5322 §2.1.1: 998 octets without the line end. The text has CRLF line ends only. */
const LONGEST_LINE = 998;

function hasLongLine(text: string): boolean {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\r\n", start);
    if ((end === -1 ? text.length : end) - start > LONGEST_LINE) return true;
    if (end === -1) return false;
    start = end + 2;
  }
  return false;
}
