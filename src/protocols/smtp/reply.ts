/** Parses the replies of an SMTP server (RFC 5321 §4.2, RFC 2034) as they arrive, with limits. */

import { withoutControls } from "../../lib/control-characters.ts";

/** A complete reply, single-line or multi-line. */
export type Reply = {
  kind: "reply";
  code: number;
  /** `x.y.z` (RFC 3463); null if absent or of another class than the code (RFC 2034 §4). */
  enhanced: string | null;
  /** Texts without code and enhanced code; control characters are replaced by spaces. */
  lines: readonly string[];
};

/** The server violated SMTP or these limits. Nothing after it can be trusted. */
export type ProtocolFault = { kind: "protocol"; message: string };

/** Eight times the line length of RFC 5321 §4.5.3.1.5, because some servers exceed it. */
const MAX_LINE_BYTES = 4_096;
const MAX_REPLY_BYTES = 65_536;
const MAX_REPLY_LINES = 512;
const MAX_TEXT_CHARS = 1_024;
/** Most known replies of a session, and most bytes of each. */
const MAX_KNOWN = 16;
const MAX_KNOWN_BYTES = 128;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const HYPHEN = 0x2d;

/** The reply's text on one line, at most 1,024 characters. */
export function replyText(reply: Reply): string {
  const [first = ""] = reply.lines;
  const text = (reply.lines.length === 1 ? first : reply.lines.join(" ")).trim();
  return text.length <= MAX_TEXT_CHARS ? text : text.slice(0, MAX_TEXT_CHARS).toWellFormed();
}

/** Code, enhanced code and text on one line; the text is limited as in `replyText`. */
export function quoteReply(reply: Reply): string {
  const codes = reply.enhanced === null ? String(reply.code) : `${reply.code} ${reply.enhanced}`;
  return `${codes} ${replyText(reply)}`.trimEnd();
}

/** Parses bytes in chunks of any size and returns complete replies. It ends at the first fault. */
export class ReplyParser {
  #isBroken = false;
  /** Replies of one line that were parsed before, by that line. */
  readonly #known = new Map<string, Reply>();
  /** Lines that came once. One with a queue id never comes again. */
  readonly #once = new Set<string>();
  /** The start of an incomplete line. */
  #partial: Buffer | null = null;
  #partialBytes = 0;
  #code = 0;
  #lines: string[] = [];
  #replyBytes = 0;

  /** True between the first byte of a reply and its end, and for good after a fault. */
  get isMidReply(): boolean {
    return this.#partialBytes > 0 || this.#lines.length > 0 || this.#isBroken;
  }

  push(chunk: Buffer): (Reply | ProtocolFault)[] {
    const results: (Reply | ProtocolFault)[] = [];
    let from = 0;
    while (from < chunk.length && !this.#isBroken) {
      const end = chunk.indexOf(LF, from);
      const result =
        end === -1 ? this.#append(chunk.subarray(from)) : this.#parseAt(chunk, from, end);
      if (result !== null) results.push(result);
      if (end === -1) break;
      from = end + 1;
    }
    return results;
  }

  /** Parses the line between two offsets. A server gives most of its replies again and again. */
  #parseAt(chunk: Buffer, from: number, end: number): Reply | ProtocolFault | null {
    if (this.isMidReply || end - from > MAX_KNOWN_BYTES) {
      return this.#parseLine(this.#completeLine(chunk.subarray(from, end)));
    }
    const line = chunk.toString("latin1", from, end);
    const known = this.#known.get(line);
    if (known !== undefined) return known;
    const parsed = this.#parseLine(chunk.subarray(from, end));
    if (parsed?.kind !== "reply") return parsed;
    if (!this.#once.delete(line)) {
      if (this.#once.size === MAX_KNOWN) this.#once.clear();
      this.#once.add(line);
      return parsed;
    }
    if (this.#known.size === MAX_KNOWN) this.#known.clear();
    this.#known.set(line, parsed);
    return parsed;
  }

  /**
   * Appends to a fixed buffer, so that a server that sends single bytes causes no quadratic
   * copying.
   */
  #append(bytes: Buffer): ProtocolFault | null {
    if (this.#partialBytes + bytes.length > MAX_LINE_BYTES) return this.#fail("overlong line");
    this.#partial ??= Buffer.allocUnsafe(MAX_LINE_BYTES);
    bytes.copy(this.#partial, this.#partialBytes);
    this.#partialBytes += bytes.length;
    return null;
  }

  #completeLine(bytes: Buffer): Buffer {
    if (this.#partial === null || this.#partialBytes === 0) return bytes;
    const line = Buffer.concat([this.#partial.subarray(0, this.#partialBytes), bytes]);
    this.#partialBytes = 0;
    return line;
  }

  #parseLine(line: Buffer): Reply | ProtocolFault | null {
    if (line.length > MAX_LINE_BYTES) return this.#fail("overlong line");
    this.#replyBytes += line.length + 1;
    if (this.#replyBytes > MAX_REPLY_BYTES) return this.#fail("reply larger than 64 KiB");
    if (this.#lines.length === MAX_REPLY_LINES) return this.#fail("reply of more than 512 lines");

    const length = line.at(-1) === CR ? line.length - 1 : line.length;
    const code = readCode(line, length);
    if (code === null) return this.#fail(`not an SMTP reply: ${quoteInvalid(line)}`);
    if (this.#lines.length > 0 && code !== this.#code) {
      return this.#fail(`codes ${this.#code} and ${code} within one reply`);
    }
    this.#code = code;
    this.#lines.push(withoutControls(line.toString("utf8", Math.min(4, length), length)));
    return line[3] === HYPHEN && length > 3 ? null : this.#finish();
  }

  #finish(): Reply {
    const reply = separateEnhanced(this.#code, this.#lines);
    this.#lines = [];
    this.#replyBytes = 0;
    return reply;
  }

  #fail(message: string): ProtocolFault {
    this.#isBroken = true;
    return { kind: "protocol", message };
  }
}

/** The replies that were received and not read yet. */
export class ReplyQueue {
  #parser = new ReplyParser();
  readonly #replies: Reply[] = [];

  /** Parses received bytes. Returns the violation of SMTP that they end with; null if there is none. */
  push(chunk: Buffer): ProtocolFault | null {
    for (const result of this.#parser.push(chunk)) {
      if (result.kind !== "reply") return result;
      this.#replies.push(result);
    }
    return null;
  }

  /** Returns the next reply; null if there is none. */
  shift(): Reply | null {
    return this.#replies.shift() ?? null;
  }

  get isEmpty(): boolean {
    return this.#replies.length === 0;
  }

  /** True if there are bytes that were not read yet, also of an incomplete reply. */
  get hasInput(): boolean {
    return this.#replies.length > 0 || this.#parser.isMidReply;
  }
}

/**
 * Reads three digits, the first from 2 to 5, followed by a space, a hyphen or the end of the line.
 */
function readCode(line: Buffer, length: number): number | null {
  if (length < 3) return null;
  const [a = 0, b = 0, c = 0, separator = 0] = line;
  if (length > 3 && separator !== SPACE && separator !== HYPHEN) return null;
  if (a < 0x32 || a > 0x35 || !isDigit(b) || !isDigit(c)) return null;
  return (a - 0x30) * 100 + (b - 0x30) * 10 + (c - 0x30);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Removes the enhanced code, with which every line of the reply begins (RFC 2034 §4). */
function separateEnhanced(code: number, lines: readonly string[]): Reply {
  const [first = ""] = lines;
  const length = enhancedLength(first);
  if (length === 0 || first.charCodeAt(0) - DIGIT_0 !== Math.floor(code / 100)) {
    return { kind: "reply", code, enhanced: null, lines };
  }
  const enhanced = first.slice(0, length);
  const texts = lines.map((line) =>
    enhancedLength(line) === length && line.startsWith(enhanced)
      ? line.slice(length).trimStart()
      : line,
  );
  return { kind: "reply", code, enhanced, lines: texts };
}

const DIGIT_0 = 0x30;
const DOT = 0x2e;
/** Most digits of the second and of the third number (RFC 3463 §2). */
const MAX_DIGITS = 3;

/** Length of the enhanced code that the text begins with; 0 if it begins with none. */
function enhancedLength(text: string): number {
  const kind = text.charCodeAt(0) - DIGIT_0;
  if (kind !== 2 && kind !== 4 && kind !== 5) return 0;
  const subject = endOfNumber(text, 1);
  const detail = subject === 0 ? 0 : endOfNumber(text, subject);
  return detail === text.length || text.charCodeAt(detail) === SPACE ? detail : 0;
}

/** The offset after a dot and one to three digits at `from`; 0 if they are not there. */
function endOfNumber(text: string, from: number): number {
  if (text.charCodeAt(from) !== DOT) return 0;
  let end = from + 1;
  while (end <= from + MAX_DIGITS && isDigit(text.charCodeAt(end))) end++;
  return end === from + 1 ? 0 : end;
}

function quoteInvalid(line: Buffer): string {
  return JSON.stringify(line.toString("latin1", 0, Math.min(line.length, 60)).trimEnd());
}
