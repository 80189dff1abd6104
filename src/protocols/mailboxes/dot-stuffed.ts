/**
 * The text of a multi-line answer (RFC 1939 §3): a line with a single dot ends it, and every other line
 * that begins with a dot has one more. The text comes in blocks that end anywhere. It is read octet by
 * octet, so short lines cost as little as long ones.
 */

const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;

/** The octets of the line so far: none, a dot, a dot and CR, or others. */
type Position = "start" | "dot" | "dot-cr" | "text";

export class DotStuffedText {
  readonly #kept: Uint8Array;
  #position: Position = "start";
  #octets = 0;
  #isEnded = false;

  /** The first `maxBytes` are kept. */
  constructor(maxBytes: number) {
    this.#kept = new Uint8Array(maxBytes);
  }

  /** Octets of the text so far, also of the part that is not kept. */
  get octets(): number {
    return this.#octets;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The kept octets in a buffer of their own: a thread that gets a part of a buffer gets all of it. */
  text(): Uint8Array {
    return this.#kept.slice(0, this.#octets);
  }

  /** Reads a block, and returns how many of its octets belong to the answer. */
  read(block: Uint8Array): number {
    const kept = this.#kept;
    // Local variables, because fields take several times as long.
    let position = this.#position;
    let octets = this.#octets;
    let read = 0;
    while (read < block.length && !this.#isEnded) {
      const octet = block[read++] ?? 0;
      if (position === "start" && octet === DOT) position = "dot";
      else if (position === "dot" && octet === CR) position = "dot-cr";
      else if (octet === LF && (position === "dot" || position === "dot-cr")) this.#isEnded = true;
      else {
        if (position === "dot-cr") {
          if (octets < kept.length) kept[octets] = CR;
          octets++;
        }
        if (octets < kept.length) kept[octets] = octet;
        octets++;
        position = octet === LF ? "start" : "text";
      }
    }
    this.#position = position;
    this.#octets = octets;
    return read;
  }
}
