/**
 * Reads the parts of a message (RFC 2046 §5.1) as a stream: the headers of parts, their content in
 * pieces, and the lines that delimit them. Messages within the message are read like parts.
 * Everything is given on in its order, so that the concatenation is the message.
 */

import { withoutComments } from "./comments.ts";
import { trimEndBlanks } from "../../lib/trim.ts";
import { fieldsOf } from "./submitted-header.ts";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const DASH = 0x2d;
const LINE_DASHES = Buffer.from("\n--");
/** A delimiter has at most 70 characters after the dashes (RFC 2046 §5.1.1), and blanks. */
const LONGEST_DELIMITER = 200;
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_PARTS = 1_000;
const MAX_DEPTH = 30;

/** `message` is a message within a part, whose header follows. */
type PartKind = "leaf" | "multipart" | "message";

export type MimePart = {
  kind: PartKind;
  /** Media type in lower case; empty if the header names none. */
  type: string;
  /** Content-Transfer-Encoding in lower case; empty if there is none. */
  encoding: string;
  /** It is in a multipart/signed, whose content must not change. */
  isSigned: boolean;
};

type PartHandler = {
  /** `header` has one character for each octet, without the empty line, which `end` is. */
  header(part: MimePart, header: string, end: string): void;
  /** Content of the last part, or text between parts if `isPart` is false. */
  content(bytes: Buffer, isPart: boolean): void;
  /** The line ends the content before it, together with the CRLF before it. */
  delimiter(line: Buffer): void;
};

/** The message has a form that cannot be read. */
export class PartsFault extends Error {}

type Level = { boundary: string; isSigned: boolean };

/** A delimiter of the level `at`; `isLast` if it closes the level. */
type Delimiter = { at: number; isLast: boolean };

export function createPartReader(handler: PartHandler) {
  const levels: Level[] = [];
  const delimiters = createDelimiters();
  let rest: Buffer = Buffer.alloc(0);
  /** Lines of the header that is read; null in content. */
  let header: string[] | null = [];
  let headerBytes = 0;
  let isPart = true;
  let isLineStart = true;
  let parts = 0;

  function takeDelimiter(line: Buffer, { at, isLast }: Delimiter): void {
    if (header !== null) endHeader("");
    handler.delimiter(line);
    levels.length = isLast ? at : at + 1;
    delimiters.open(levels);
    header = isLast ? null : [];
    headerBytes = 0;
    isPart = false;
  }

  function addHeaderLine(line: Buffer): void {
    const delimiter = delimiters.find(line, 0, line.byteLength);
    if (delimiter !== undefined) return takeDelimiter(line, delimiter);
    headerBytes += line.byteLength;
    if (headerBytes > MAX_HEADER_BYTES) throw new PartsFault("the header of a part is too long");
    const text = line.toString("latin1");
    if (text === "\r\n") endHeader(text);
    else header?.push(text);
  }

  function endHeader(end: string): void {
    const text = (header ?? []).join("");
    parts++;
    if (parts > MAX_PARTS) throw new PartsFault(`it has more than ${MAX_PARTS} parts`);
    const { boundary, ...part } = partOf(text, levels.at(-1)?.isSigned === true);
    if (boundary !== null) {
      if (levels.length >= MAX_DEPTH) throw new PartsFault("its parts are nested too deeply");
      levels.push({ boundary, isSigned: part.isSigned || part.type === "multipart/signed" });
      delimiters.open(levels);
    }
    isPart = part.kind === "leaf";
    header = part.kind === "message" ? [] : null;
    headerBytes = 0;
    isLineStart = true;
    handler.header(part, text, end);
  }

  /**
   * Reads content up to the next delimiter, or to a line at the end that may become one. Returns the
   * number of octets.
   */
  function readContent(bytes: Buffer): number {
    let line = isLineStart && bytes[0] === DASH ? 0 : nextDashes(bytes, 0);
    while (line !== -1) {
      const lf = bytes.indexOf(LF, line);
      const end = lf === -1 ? bytes.byteLength : lf + 1;
      const delimiter = lf === -1 ? undefined : delimiters.find(bytes, line, end);
      if (delimiter !== undefined && line === 0) {
        takeDelimiter(bytes.subarray(0, end), delimiter);
        return end;
      }
      const mayBecomeOne = lf === -1 && end - line <= LONGEST_DELIMITER;
      if (delimiter !== undefined || mayBecomeOne) return giveContent(bytes, line);
      line = lf === -1 ? -1 : nextDashes(bytes, lf);
    }
    return giveContent(bytes, bytes.byteLength - openEnd(bytes));
  }

  function giveContent(bytes: Buffer, end: number): number {
    if (end === 0) return 0;
    handler.content(bytes.subarray(0, end), isPart);
    isLineStart = bytes[end - 1] === LF;
    return end;
  }

  function read(bytes: Buffer): number {
    if (header === null) return readContent(bytes);
    const lf = bytes.indexOf(LF);
    if (lf === -1) {
      if (bytes.byteLength > MAX_HEADER_BYTES) throw new PartsFault("a header line is too long");
      return 0;
    }
    addHeaderLine(bytes.subarray(0, lf + 1));
    return lf + 1;
  }

  return {
    add(piece: Buffer): void {
      let bytes = rest.byteLength === 0 ? piece : Buffer.concat([rest, piece]);
      while (bytes.byteLength > 0) {
        const taken = read(bytes);
        if (taken === 0) break;
        bytes = bytes.subarray(taken);
      }
      rest = Buffer.from(bytes);
    },

    end(): void {
      if (header !== null) {
        if (rest.byteLength > 0) addHeaderLine(rest);
        if (header.length > 0) endHeader("");
      } else if (rest.byteLength > 0) {
        const delimiter = isLineStart ? delimiters.find(rest, 0, rest.byteLength) : undefined;
        if (delimiter === undefined) handler.content(rest, isPart);
        else takeDelimiter(rest, delimiter);
      }
      rest = Buffer.alloc(0);
    },
  };
}

/**
 * The delimiters of the open levels. A message may have millions of lines that begin with dashes, so a
 * line becomes a string only if it is as long as a delimiter, and is then looked up once.
 */
function createDelimiters() {
  const byText = new Map<string, Delimiter>();
  const lengths = new Set<number>();

  function add(text: string, delimiter: Delimiter): void {
    byText.set(text, delimiter);
    lengths.add(text.length);
  }

  return {
    /** Replaces the levels. If two delimiters are equal, the innermost level has it. */
    open(levels: readonly Level[]): void {
      byText.clear();
      lengths.clear();
      for (const [at, { boundary }] of levels.entries()) {
        add(`--${boundary}`, { at, isLast: false });
        add(`--${boundary}--`, { at, isLast: true });
      }
    },

    /** Finds the delimiter that the line is, without its line end and the blanks before it. */
    find(bytes: Buffer, start: number, end: number): Delimiter | undefined {
      if (bytes[start] !== DASH || bytes[start + 1] !== DASH) return undefined;
      if (end - start > LONGEST_DELIMITER) return undefined;
      let last = end;
      if (bytes[last - 1] === LF) last -= bytes[last - 2] === CR ? 2 : 1;
      while (bytes[last - 1] === SPACE || bytes[last - 1] === TAB) last--;
      if (!lengths.has(last - start)) return undefined;
      return byText.get(bytes.toString("latin1", start, last));
    },
  };
}

/** The start of the next line that begins with two dashes, from the line end at `from` on; -1 for none. */
function nextDashes(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(LINE_DASHES, from);
  return found === -1 ? -1 : found + 1;
}

/** Octets at the end that may be the beginning of "\n--", with the CR before it. */
function openEnd(bytes: Buffer): number {
  const { byteLength } = bytes;
  if (byteLength > 1 && bytes[byteLength - 1] === DASH && bytes[byteLength - 2] === LF) return 1;
  return 0;
}

function partOf(header: string, isSigned: boolean): MimePart & { boundary: string | null } {
  const fields = fieldsOf(header.replace(/\r\n$/, "")) ?? [];
  const valueOf = (name: string) => fields.find((field) => field.name === name)?.value ?? "";
  const contentType = withoutComments(valueOf("content-type"));
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  const encoding = withoutComments(valueOf("content-transfer-encoding")).trim().toLowerCase();
  const boundary = type.startsWith("multipart/") ? boundaryOf(contentType) : null;
  const isMessage = type === "message/rfc822" || type === "message/global";
  const kind = boundary === null ? (isMessage ? "message" : "leaf") : "multipart";
  return { kind, type, encoding, isSigned, boundary };
}

const BOUNDARY = /;[ \t]*boundary[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i;

/** Null if there is none, or if it is too long to be one. */
function boundaryOf(contentType: string): string | null {
  const [, quoted, bare] = BOUNDARY.exec(contentType) ?? [];
  const boundary = trimEndBlanks(quoted?.replace(/\\(.)/g, "$1") ?? bare ?? "");
  return boundary === "" || boundary.length > LONGEST_DELIMITER / 2 ? null : boundary;
}
