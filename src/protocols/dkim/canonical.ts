/**
 * Canonicalises messages in the "relaxed" form of DKIM (RFC 6376 §3.4.2, §3.4.4). Pure functions.
 */

import { trimEndBlanks } from "../../lib/trim.ts";

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const LINE_END = Buffer.from("\r\n");
const HEADER_END = Buffer.from("\r\n\r\n");

/** Approximate size of a block. Most blocks need no change and are returned as views. */
const BLOCK_BYTES = 65_536;

type SplitMessage = {
  /** Unchanged header fields in order, without their last line end; one character per octet. */
  fields: string[];
  body: Buffer;
};

/** Splits a message with CRLF line ends. Without a blank line, the whole message is header. */
export function splitMessage(message: Uint8Array): SplitMessage {
  const bytes = Buffer.isBuffer(message)
    ? message
    : Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const blank = bytes.indexOf(HEADER_END);
  const end = blank === -1 ? trimLineEnd(bytes) : blank;
  return {
    fields: bytes.toString("latin1", 0, end).split(/\r\n(?![ \t])/),
    body: blank === -1 ? Buffer.alloc(0) : bytes.subarray(blank + HEADER_END.length),
  };
}

function trimLineEnd(bytes: Buffer): number {
  return bytes.at(-1) === LF && bytes.at(-2) === CR ? bytes.length - 2 : bytes.length;
}

/** Returns the name of a header field in lower case. */
export function fieldName(field: string): string {
  return trimEndBlanks(field.slice(0, Math.max(0, field.indexOf(":")))).toLowerCase();
}

/**
 * Canonicalises a field: name in lower case, value unfolded and trimmed, runs of blanks reduced.
 */
export function relaxedField(field: string, name = fieldName(field)): string {
  const value = field.slice(field.indexOf(":") + 1);
  return `${name}:${trimBlanks(IS_FOLDED.test(value) ? unfold(value) : value)}`;
}

/** Matches a value that must be reduced; most need no change. */
const IS_FOLDED = /[\t\r]| {2}/;

function unfold(value: string): string {
  return value.replace(/\r\n(?=[ \t])/g, "").replace(/[ \t]+/g, " ");
}

function trimBlanks(value: string): string {
  const end = value.endsWith(" ") ? value.length - 1 : value.length;
  return value.slice(value.startsWith(" ") ? 1 : 0, end);
}

/**
 * Yields the octets of the body to hash: runs of blanks are reduced, blank lines at the end are
 * removed, and one line end is added.
 */
export function* relaxedBody(body: Buffer): Generator<Uint8Array> {
  const end = endOfText(body);
  if (end === 0) return;
  for (let start = 0; start < end;) {
    const next = blockEnd(body, start, end);
    yield relaxBlock(body.subarray(start, next));
    start = next;
  }
  yield LINE_END;
}

/** Returns the offset after which only blanks and line ends follow. */
function endOfText(body: Buffer): number {
  let end = body.length;
  for (;;) {
    while (end > 0 && isBlank(body[end - 1])) end--;
    if (end < 2 || body[end - 1] !== LF || body[end - 2] !== CR) return end;
    end -= 2;
  }
}

/** Returns the end of a block. It is the end of a line, so no run of blanks is split. */
function blockEnd(body: Buffer, start: number, end: number): number {
  if (end - start <= BLOCK_BYTES) return end;
  const before = body.lastIndexOf(LF, start + BLOCK_BYTES);
  if (before >= start) return Math.min(before + 1, end);
  const after = body.indexOf(LF, start + BLOCK_BYTES);
  return after === -1 ? end : Math.min(after + 1, end);
}

function relaxBlock(block: Buffer): Buffer {
  const isRelaxed = !block.includes(TAB) && !block.includes("  ") && !block.includes(" \r\n");
  return isRelaxed ? block : reduceBlanks(block);
}

function reduceBlanks(block: Buffer): Buffer {
  const out = Buffer.allocUnsafe(block.length);
  let to = 0;
  let hasBlank = false;
  for (let i = 0; i < block.length; i++) {
    const octet = block[i] ?? 0;
    if (isBlank(octet)) {
      hasBlank = true;
      continue;
    }
    const isLineEnd = octet === CR && block[i + 1] === LF;
    if (hasBlank && !isLineEnd) out[to++] = SPACE;
    hasBlank = false;
    out[to++] = octet;
  }
  return out.subarray(0, to);
}

function isBlank(octet: number | undefined): boolean {
  return octet === SPACE || octet === TAB;
}
