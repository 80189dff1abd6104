/**
 * Decodes the large base64 bodies of a message before the message is parsed, because mailparser
 * decodes them line by line, which takes ten times as much time and memory.
 *
 * 1. `takeBodies` replaces each body by a short placeholder. It takes only lines of valid base64
 *    (RFC 2045 §6.8). They contain no "-", so no boundary of a multipart is among them.
 * 2. After the rest was parsed, a placeholder that is the whole content of an attachment stands for
 *    its body. `areAttachments` is false if another part contains one, such as a text in base64;
 *    then the caller parses the complete message instead.
 */

import { createHash, randomUUID } from "node:crypto";
import { freeMemory } from "../../../lib/free-memory.ts";

/** The size and digests of the content of an attachment, which are stored. */
export type ContentFacts = { size: number; md5: string; sha1: string; sha256: string };

export type TakenBodies = {
  /** The message with placeholders. */
  rest: Buffer;
  /** The facts of a content; those of the body if the content is a placeholder. */
  factsOf(content: Uint8Array): ContentFacts;
  /** Whether each placeholder is the content of one of these attachments. */
  areAttachments(contents: readonly Uint8Array[]): boolean;
};

/** Smaller bodies stay in the message. */
const MIN_BYTES = 16 * 1024;
/** Longest part of a header between the encoding and the body. */
const MAX_HEADER_BYTES = 4 * 1024;
/** Bodies that are examined; later ones stay in the message. */
const MAX_BODIES = 1_000;
/** Bytes that are decoded at once. */
const SLICE_BYTES = 1024 * 1024;

const ENCODING = Buffer.from("base64\r\n");
const FIELD = /(?:^|\n)content-transfer-encoding:[ \t]*$/i;
/** Bytes in which the name of the field is looked for. */
const FIELD_BYTES = 40;
const END_OF_HEADER = Buffer.from("\r\n\r\n");
const LF = 0x0a;
const HYPHEN = 0x2d;
const EQUALS = 0x3d;

/** Senders cannot know it, so no message contains a placeholder of its own. */
const PLACEHOLDER = randomUUID();

export function takeBodies(raw: Buffer): TakenBodies {
  const pieces: Buffer[] = [];
  const bodies = new Map<string, ContentFacts>();
  let kept = 0;
  let found = raw.indexOf(ENCODING);
  for (let i = 0; found !== -1 && i < MAX_BODIES; i++) {
    const body = bodyAfter(raw, found);
    const facts = body === null ? null : decode(body.bytes);
    if (body !== null && facts !== null) {
      const placeholder = `${PLACEHOLDER} ${bodies.size}`;
      bodies.set(placeholder, facts);
      pieces.push(raw.subarray(kept, body.start), Buffer.from(`${btoa(placeholder)}\r\n`));
      kept = body.start + body.bytes.byteLength;
    }
    found = raw.indexOf(ENCODING, Math.max(kept, found + ENCODING.byteLength));
  }
  const bodyOf = (content: Uint8Array) =>
    content.byteLength < 2 * PLACEHOLDER.length
      ? bodies.get(Buffer.from(content).toString("latin1"))
      : undefined;
  return {
    rest: bodies.size === 0 ? raw : Buffer.concat([...pieces, raw.subarray(kept)]),
    factsOf: (content) => bodyOf(content) ?? contentFacts([content]),
    areAttachments: (contents) =>
      new Set(contents.map(bodyOf).filter((facts) => facts !== undefined)).size === bodies.size,
  };
}

/** The body of the part whose encoding is at `at`; null if it stays in the message. */
function bodyAfter(raw: Buffer, at: number): { start: number; bytes: Buffer } | null {
  if (!FIELD.test(raw.toString("latin1", Math.max(0, at - FIELD_BYTES), at))) return null;
  const head = raw.subarray(at, at + MAX_HEADER_BYTES);
  const end = head.indexOf(END_OF_HEADER);
  if (end === -1) return null;
  const start = at + end + END_OF_HEADER.byteLength;
  const hyphen = raw.indexOf(HYPHEN, start);
  const next = hyphen === -1 ? raw.byteLength : hyphen;
  // A hyphen that is not at the beginning of a line is part of something else than base64.
  if (next - start < MIN_BYTES || raw[next - 1] !== LF) return null;
  return { start, bytes: raw.subarray(start, next) };
}

/** Null if the lines are not base64, or if they end within a group of four characters. */
function decode(lines: Buffer): ContentFacts | null {
  const slices: Uint8Array[] = [];
  try {
    for (let at = 0; at < lines.byteLength;) {
      const end = sliceEnd(lines, at);
      const slice = lines.subarray(at, end);
      if (end < lines.byteLength && slice.includes(EQUALS)) return null;
      const options = { lastChunkHandling: "strict" } as const;
      slices.push(Uint8Array.fromBase64(slice.toString("latin1"), options));
      at = end;
    }
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  const facts = contentFacts(slices);
  for (const slice of slices) freeMemory(slice);
  return facts;
}

/** The end of the line that is a slice away. */
function sliceEnd(lines: Buffer, at: number): number {
  if (lines.byteLength - at <= SLICE_BYTES) return lines.byteLength;
  const end = lines.indexOf(LF, at + SLICE_BYTES);
  return end === -1 ? lines.byteLength : end + 1;
}

/** The facts of a content that is given in pieces. */
function contentFacts(pieces: readonly Uint8Array[]): ContentFacts {
  const digest = (algorithm: string) => {
    const hash = createHash(algorithm);
    for (const piece of pieces) hash.update(piece);
    return hash.digest("hex");
  };
  return {
    size: pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
    md5: digest("md5"),
    sha1: digest("sha1"),
    sha256: digest("sha256"),
  };
}
