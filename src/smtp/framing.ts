/**
 * The line ends of a message in DATA (RFC 5321 §2.3.8). Lines end with CRLF; a bare CR or a bare LF
 * can hide a second message from one of two servers.
 */

const CR = 0x0d;
const LF = 0x0a;

type Framing = {
  /** Returns the piece with line ends of CRLF. */
  add(piece: Uint8Array): Uint8Array;
  hasBareCr(): boolean;
  hasBareLf(): boolean;
};

/** Reads a message in pieces of any size. A CR at the end of a piece waits for the next one. */
export function createFraming(): Framing {
  let endsWithCr = false;
  let bareCr = false;
  let bareLf = false;

  /** Counts the bare LFs of a piece, and notes a bare CR. */
  function scan(piece: Uint8Array): number {
    let found = 0;
    if (endsWithCr && piece[0] !== LF) bareCr = true;
    for (let at = piece.indexOf(LF); at !== -1; at = piece.indexOf(LF, at + 1)) {
      const followsCr = at === 0 ? endsWithCr : piece[at - 1] === CR;
      if (!followsCr) found++;
    }
    for (let at = piece.indexOf(CR); at !== -1; at = piece.indexOf(CR, at + 1)) {
      if (at + 1 < piece.length && piece[at + 1] !== LF) bareCr = true;
    }
    return found;
  }

  return {
    add(piece) {
      if (piece.byteLength === 0) return piece;
      const bareLfs = scan(piece);
      const result = bareLfs === 0 ? piece : withCrlf(piece, bareLfs, endsWithCr);
      if (bareLfs > 0) bareLf = true;
      endsWithCr = piece.at(-1) === CR;
      return result;
    },
    hasBareCr: () => bareCr || endsWithCr,
    hasBareLf: () => bareLf,
  };
}

function withCrlf(piece: Uint8Array, bareLfs: number, followsCr: boolean): Uint8Array {
  const result = new Uint8Array(piece.byteLength + bareLfs);
  let written = 0;
  let previous = followsCr ? CR : 0;
  for (const byte of piece) {
    if (byte === LF && previous !== CR) result[written++] = CR;
    result[written++] = byte;
    previous = byte;
  }
  return result;
}
