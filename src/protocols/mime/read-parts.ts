/**
 * Splits a message from outside into its MIME parts, with limits, and decodes the texts of parts
 * (RFC 2045, RFC 2046). It takes linear time and never throws: a part that cannot be read is text.
 *
 * Only the first MiB is read. The parts of a report come before the returned message, of which the
 * header is enough; so attached messages are not split.
 */

import { withoutComments } from "./comments.ts";
import { type ReadField, readFields, valueOf } from "./read-fields.ts";

/** Reading stops after this many bytes; the rest of the message is ignored. */
export const MAX_READ_BYTES = 1024 * 1024;
const MAX_DEPTH = 8;
const MAX_PARTS = 100;
const MAX_HEADER = 128 * 1024;
const MAX_BOUNDARY = 200;
/** Longest decoded text of a part, in characters. */
const MAX_TEXT = 256 * 1024;

export type MessagePart = {
  fields: readonly ReadField[];
  /** Media type in lower case, without parameters; text/plain if there is none. */
  type: string;
  /** The undecoded body, one character per byte; empty for a multipart with parts. */
  body: string;
  parts: readonly MessagePart[];
};

export function readMessage(raw: Uint8Array): MessagePart {
  const { buffer, byteOffset, byteLength } = raw;
  const bytes = Buffer.from(buffer, byteOffset, Math.min(byteLength, MAX_READ_BYTES));
  const text = bytes.toString("latin1");
  // Lines that end with CR only.
  const isCarriageReturns = !text.includes("\n") && text.includes("\r");
  return readPart(isCarriageReturns ? text.replaceAll("\r", "\n") : text, 0, { parts: 0 });
}

function readPart(text: string, depth: number, count: { parts: number }): MessagePart {
  const { head, body } = headAndBody(text);
  const fields = readFields(head);
  const contentType = withoutComments(valueOf(fields, "content-type") ?? "");
  const type = /^\s*([\w.+-]{1,100}\/[\w.+-]{1,100})/.exec(contentType)?.[1] ?? "text/plain";
  const lower = type.toLowerCase();
  const isMultipart = lower.startsWith("multipart/");
  const boundary = isMultipart ? parameterOf(contentType, "boundary") : null;
  const split = (mark: string | null): MessagePart[] =>
    mark === null || mark === "" || depth >= MAX_DEPTH
      ? []
      : readParts(splitBody(body, mark), depth + 1, count);
  const named = split(boundary);
  // The parameter is missing or wrong, or a gateway removed the whole field.
  const isLost = named.length === 0 && (isMultipart || (depth === 0 && contentType === ""));
  const parts = isLost ? split(findBoundary(body, isMultipart)) : named;
  return { fields, type: lower, body: parts.length === 0 ? body : "", parts };
}

function readParts(
  texts: Iterable<string>,
  depth: number,
  count: { parts: number },
): MessagePart[] {
  const parts: MessagePart[] = [];
  for (const text of texts) {
    if (++count.parts > MAX_PARTS) break;
    parts.push(readPart(text, depth, count));
  }
  return parts;
}

/** Splits at the first empty line. A text that begins with one has no header. */
export function headAndBody(text: string): { head: string; body: string } {
  const first = /^\r?\n/.exec(text.slice(0, 2))?.[0];
  if (first !== undefined) return { head: "", body: text.slice(first.length) };
  for (let at = text.indexOf("\n"); at !== -1 && at < MAX_HEADER; at = text.indexOf("\n", at + 1)) {
    const next = text[at + 1] === "\r" ? at + 2 : at + 1;
    if (text[next] === "\n") return { head: text.slice(0, at + 1), body: text.slice(next + 1) };
  }
  return { head: text.slice(0, MAX_HEADER), body: "" };
}

const FIRST_BOUNDARY =
  /(?:^|\n)--([^\s-][^\r\n]{0,199}?|-[^\r\n]{2,199}?)[ \t]*\r?\ncontent-[a-z-]{1,40}:/i;

/**
 * The boundary that the body itself shows: a line of two hyphens before the fields of a part. If the
 * header does not say that there are parts, nothing but a word about MIME may stand before it.
 */
function findBoundary(body: string, isMultipart: boolean): string | null {
  const found = FIRST_BOUNDARY.exec(body.slice(0, MAX_HEADER));
  if (found === null) return null;
  const before = body.slice(0, found.index).trim();
  const isFirst = before === "" || (before.length < 500 && /\bMIME\b/.test(before));
  return isMultipart || isFirst ? (found[1] ?? null) : null;
}

/** The texts between the lines of a boundary (RFC 2046 §5.1.1). The last one may be incomplete. */
function* splitBody(body: string, boundary: string): Generator<string> {
  const mark = `--${boundary.slice(0, MAX_BOUNDARY)}`;
  let start = -1;
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) {
    if (at > 0 && body[at - 1] !== "\n") continue;
    const lineEnd = body.indexOf("\n", at);
    const rest = body.slice(
      at + mark.length,
      Math.min(lineEnd === -1 ? body.length : lineEnd, at + 1_000),
    );
    const isLast = rest.startsWith("--");
    if (!isLast && rest.trim() !== "") continue;
    if (start !== -1) yield body.slice(start, at);
    if (isLast || lineEnd === -1) return;
    start = lineEnd + 1;
  }
  if (start !== -1) yield body.slice(start);
}

/** The value of a parameter of a structured field such as Content-Type; null if it is absent. */
export function parameterOf(value: string, name: string): string | null {
  for (const [, key = "", quoted, token] of value.matchAll(PARAMETER)) {
    if (key.toLowerCase() === name) return quoted?.replace(/\\(.)/g, "$1") ?? token ?? "";
  }
  return null;
}

const PARAMETER = /;\s*([\w*-]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.){0,400})"|([^\s";]{1,400}))/g;

/** All parts that have no parts themselves, in their order. */
export function leavesOf(part: MessagePart): MessagePart[] {
  return part.parts.length === 0 ? [part] : part.parts.flatMap(leavesOf);
}

/** The decoded text of a part, at most `max` characters. */
export function textOfPart(part: MessagePart, max = MAX_TEXT): string {
  const body = part.body.slice(0, MAX_TEXT);
  const coding = withoutComments(valueOf(part.fields, "content-transfer-encoding") ?? "")
    .trim()
    .toLowerCase();
  const bytes =
    coding === "base64"
      ? Buffer.from(body.replace(/[^A-Za-z0-9+/=]+/g, ""), "base64")
      : Buffer.from(coding === "quoted-printable" ? unquoted(body) : body, "latin1");
  const charset = parameterOf(
    withoutComments(valueOf(part.fields, "content-type") ?? ""),
    "charset",
  );
  return decodeText(bytes, charset).replace(/\r\n?/g, "\n").slice(0, max);
}

function unquoted(text: string): string {
  return text
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

/** Charsets of mail; any other label counts as UTF-8. US-ASCII and Latin-1 are Windows-1252. */
const CHARSETS = [
  "utf-8",
  "us-ascii",
  ...(["iso-8859-1", "iso-8859-2", "iso-8859-5", "iso-8859-7", "iso-8859-9"] as const),
  ...(["iso-8859-15", "windows-1250", "windows-1251", "windows-1252", "windows-1254"] as const),
  ...(["koi8-r", "koi8-u", "gbk", "gb2312", "gb18030", "big5"] as const),
  ...(["shift_jis", "iso-2022-jp", "euc-jp", "euc-kr", "utf-16le", "utf-16be"] as const),
] as const;

/** Decodes bytes. Bytes that are not valid in the charset become U+FFFD. */
function decodeText(bytes: Uint8Array, charset: string | null): string {
  const label = charset?.trim().toLowerCase();
  return new TextDecoder(CHARSETS.find((known) => known === label) ?? "utf-8").decode(bytes);
}

/** Decodes the encoded words of a header value (RFC 2047). */
export function decodeWords(value: string): string {
  return value
    .replace(/\?=\s{1,100}=\?/g, "?==?")
    .replace(/=\?([\w-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,2000})\?=/gi, decodeWord);
}

function decodeWord(_: string, charset: string, coding: string, text: string): string {
  const bytes =
    coding.toLowerCase() === "b"
      ? Buffer.from(text, "base64")
      : Buffer.from(unquoted(text.replaceAll("_", " ")), "latin1");
  return decodeText(bytes, charset);
}

/** The readable text of an HTML document: its text without tags, with line ends at blocks. */
export function plainOfHtml(html: string): string {
  return html
    .replace(/<(?:br|\/?p|\/?div|\/?tr|\/?li|\/?h\d|\/?table)\b[^<>]{0,500}>/gi, "\n")
    .replace(/<[^<>]{0,2000}>/g, " ")
    .replace(
      /&(lt|gt|amp|quot|nbsp|#39|#64);/gi,
      (_, name: string) => ENTITIES[name.toLowerCase()] ?? " ",
    )
    .replace(/[ \t]{2,}/g, " ");
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  nbsp: " ",
  "#39": "'",
  "#64": "@",
};
