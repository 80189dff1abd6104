/** A cache of letters, also of those that cannot be compiled. The least recently used one is evicted. */

import type { Letter } from "./letter.ts";

type Limits = { maxLetters: number; maxBytes: number };

const LIMITS: Limits = { maxLetters: 1_000, maxBytes: 16 * 1024 * 1024 };
/** Estimated memory of an entry, besides its key and its letter. */
const BYTES_PER_ENTRY = 1_024;

export function createLetterCache({ maxLetters, maxBytes }: Limits = LIMITS) {
  /** The least recently used one first; null for a key that has no letter. */
  const letters = new Map<string, Letter | null>();
  let bytes = 0;

  function store(key: string, letter: Letter | null): void {
    letters.set(key, letter);
    bytes += bytesOf(key, letter);
    for (const [oldest, evicted] of letters) {
      if (letters.size <= maxLetters && bytes <= maxBytes) return;
      letters.delete(oldest);
      bytes -= bytesOf(oldest, evicted);
    }
  }

  return {
    /** The letter with the key. It is compiled if it is not known any more. */
    find(key: string, compile: () => Letter | null): Letter | null {
      const known = letters.get(key);
      if (known === undefined) {
        const compiled = compile();
        store(key, compiled);
        return compiled;
      }
      letters.delete(key);
      letters.set(key, known);
      return known;
    },
    get size() {
      return letters.size;
    },
    get bytes() {
      return bytes;
    },
  };
}

function bytesOf(key: string, letter: Letter | null): number {
  return 2 * key.length + (letter?.bytes ?? 0) + BYTES_PER_ENTRY;
}
