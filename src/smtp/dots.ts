/**
 * Reads the bytes after DATA (RFC 5321 §4.1.1.4 and §4.5.2): finds the final dot, and removes the dot
 * that clients put before a line that begins with one.
 *
 * Only a dot between two CRLF ends the message. A dot after a bare LF does not, so that no second
 * message can be hidden from one of two servers; before another dot it is removed there, too.
 */

const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;
const LINE_DOT = Buffer.from("\n.");
const NOTHING = Buffer.alloc(0);
const HELD_DOT = Buffer.from(".");
const HELD_DOT_CR = Buffer.from(".\r");

/**
 * The end of the bytes so far. "start": with CRLF, or the message begins. "lf": with a bare LF. "dot",
 * "lfDot": with a dot that begins such a line. "dotCr": with CRLF, a dot and CR. Dot and CR are held
 * back in the last three states, because they may not be content.
 */
type State = "text" | "cr" | "start" | "lf" | "dot" | "lfDot" | "dotCr";

type Scanned = {
  /** Content that was held back at the end of the previous piece. */
  held: Buffer;
  /** Content of this piece, in the memory of the piece. */
  content: Buffer;
  /** The position in the piece after the final dot and its CRLF; -1 if the message goes on. */
  end: number;
};

/** Returns a function that reads the next piece of a message. It may change the piece. */
export function createDotScanner(): (piece: Buffer) => Scanned {
  let state: State = "start";

  /** Reads the first bytes, while they decide whether the octets that were held back are content. */
  function readStart(piece: Buffer): { held: Buffer; from: number; end: number } {
    for (let at = 0; at < piece.byteLength; at++) {
      const byte = piece[at];
      if (state === "dotCr" && byte === LF) return { held: NOTHING, from: at, end: at + 1 };
      if (state === "dot" && byte === CR) state = "dotCr";
      else if (state === "start" && byte === DOT) state = "dot";
      else if (state === "lf" && byte === DOT) state = "lfDot";
      else {
        const held = heldOf(state, byte);
        if (state !== "cr") state = "text";
        return { held, from: at, end: -1 };
      }
    }
    return { held: NOTHING, from: piece.byteLength, end: -1 };
  }

  /** Reads content from `from` on; the byte before it does not begin a line. */
  function readContent(piece: Buffer, from: number): { content: Buffer; end: number } {
    const startsAfterCr = state === "cr";
    const followsCr = (at: number) => (at === 0 ? startsAfterCr : piece[at - 1] === CR);
    const content = createCompaction(piece, from);
    for (let lf = piece.indexOf(LINE_DOT, from); lf !== -1;) {
      const dot = lf + 1;
      const isAfterCrlf = followsCr(lf);
      const [next, last] = [piece[dot + 1], piece[dot + 2]];
      if (next === undefined) {
        state = isAfterCrlf ? "dot" : "lfDot";
        return { content: content.until(dot), end: -1 };
      }
      if (next === DOT) content.remove(dot);
      if (isAfterCrlf && next === CR && last === LF) {
        return { content: content.until(dot), end: dot + 3 };
      }
      if (isAfterCrlf && next === CR && last === undefined) {
        state = "dotCr";
        return { content: content.until(dot), end: -1 };
      }
      lf = piece.indexOf(LINE_DOT, dot);
    }
    const end = piece.byteLength;
    if (piece[end - 1] === LF) state = followsCr(end - 1) ? "start" : "lf";
    else state = piece[end - 1] === CR ? "cr" : "text";
    return { content: content.until(end), end: -1 };
  }

  return (piece) => {
    const { held, from, end } = readStart(piece);
    if (end !== -1 || from === piece.byteLength) return { held, content: NOTHING, end };
    return { held, ...readContent(piece, from) };
  };
}

/** Returns the bytes that were held back and turn out to be content because of the next byte. */
function heldOf(state: State, next: number | undefined): Buffer {
  if (state === "dotCr") return HELD_DOT_CR;
  // The client added one of two dots that begin a line.
  if (state === "dot" || state === "lfDot") return next === DOT ? NOTHING : HELD_DOT;
  return NOTHING;
}

/** Removes bytes from a piece by moving those between them towards its beginning. */
function createCompaction(piece: Buffer, from: number) {
  let written = from;
  let read = from;

  function moveUntil(end: number): void {
    if (written !== read) piece.copyWithin(written, read, end);
    written += end - read;
    read = end;
  }

  return {
    remove(at: number): void {
      moveUntil(at);
      read = at + 1;
    },
    until(end: number): Buffer {
      moveUntil(end);
      return piece.subarray(from, written);
    },
  };
}
