/**
 * A signature of a long text: a Bloom filter of its trigrams. It tells for most texts that they do
 * not contain a term, so that they need not be read. It never misses a text that contains the term.
 */

const BITS_PER_TRIGRAM = 8;
const MIN_BYTES = 256;
const MAX_BYTES = 64 * 1024;

export function signatureOf(text: string): Uint8Array {
  const hashes = new Set<number>();
  for (let at = 0; at + 3 <= text.length; at++) hashes.add(hashAt(text, at));
  let bytes = MIN_BYTES;
  while (bytes < MAX_BYTES && bytes * 8 < hashes.size * BITS_PER_TRIGRAM) bytes *= 2;
  const signature = new Uint8Array(bytes);
  for (const hash of hashes) {
    for (const bit of bitsOf(hash, bytes))
      signature[bit >> 3] = byteAt(signature, bit) | (1 << (bit & 7));
  }
  return signature;
}

/** False if the text of the signature does not contain the term. */
export function mayContain(signature: Uint8Array, term: string): boolean {
  for (let at = 0; at + 3 <= term.length; at++) {
    for (const bit of bitsOf(hashAt(term, at), signature.byteLength)) {
      if ((byteAt(signature, bit) & (1 << (bit & 7))) === 0) return false;
    }
  }
  return true;
}

function byteAt(signature: Uint8Array, bit: number): number {
  return signature[bit >> 3] ?? 0;
}

/** A number of 32 bits for three characters. */
function hashAt(text: string, at: number): number {
  let hash = Math.imul(text.charCodeAt(at), 0x9e3779b1);
  hash = Math.imul(hash ^ text.charCodeAt(at + 1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ text.charCodeAt(at + 2), 0xc2b2ae35);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Two bits of a signature whose length is a power of two. */
function bitsOf(hash: number, bytes: number): readonly [number, number] {
  const mask = bytes * 8 - 1;
  return [hash & mask, (Math.imul(hash, 0x27d4eb2f) >>> 8) & mask];
}
