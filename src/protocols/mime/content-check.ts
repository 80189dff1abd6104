/** Finds octets that not every mail server takes: 8-bit octets, NUL, and lines that are too long. */

import { isAscii } from "node:buffer";

const LF = 0x0a;
/** Octets of a line without its CRLF (RFC 5321 §4.5.3.1.6). */
const LONGEST_LINE = 998;
const WITH_CRLF = LONGEST_LINE + 2;

/** Reads text in pieces of any size. */
export function createContentCheck() {
  /** Octets of the last line so far. */
  let lineBytes = 0;
  let eightBits = 0;
  let hasLongLine = false;
  let hasNul = false;

  function measureLines(piece: Buffer): void {
    let start = -lineBytes;
    for (;;) {
      const limit = start + WITH_CRLF - 1;
      if (limit < 0) break;
      const end = piece.lastIndexOf(LF, Math.min(limit, piece.byteLength - 1));
      if (end >= Math.max(start, 0)) start = end + 1;
      else break;
      if (start >= piece.byteLength) break;
    }
    lineBytes = piece.byteLength - start;
    if (lineBytes >= WITH_CRLF) hasLongLine = true;
  }

  return {
    see(piece: Buffer): void {
      if (piece.byteLength === 0) return;
      if (!isAscii(piece)) for (const octet of piece) if (octet >= 0x80) eightBits++;
      if (!hasNul && piece.includes(0)) hasNul = true;
      if (!hasLongLine) measureLines(piece);
    },
    /** Number of 8-bit octets. */
    eightBits: () => eightBits,
    hasNul: () => hasNul,
    hasLongLine: () => hasLongLine,
    isPlain: () => eightBits === 0 && !hasNul && !hasLongLine,
  };
}
