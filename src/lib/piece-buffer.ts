/** Gathers the bytes of an arriving message until they fill a piece, which is stored as one row. */

import { freeMemory } from "./free-memory.ts";

/** Bytes of a whole piece, unless the owner chooses fewer. */
export const PIECE_BYTES = 1024 * 1024;
/** Memory that an arriving message has at first. */
const MIN_MEMORY = 4 * 1024;

/** Bytes that are not stored yet, at most a piece. They are copied into memory of their own. */
export function createPieceBuffer(pieceBytes = PIECE_BYTES) {
  let memory = new Uint8Array();
  let used = 0;

  function reserve(bytes: number): void {
    if (bytes <= memory.byteLength) return;
    const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(Math.max(bytes, MIN_MEMORY))));
    larger.set(memory.subarray(0, used));
    freeMemory(memory);
    memory = larger;
  }

  return {
    isFull: () => used === pieceBytes,
    /** Returns how many bytes of the piece were added. */
    add(piece: Uint8Array): number {
      const added = piece.subarray(0, pieceBytes - used);
      reserve(used + added.byteLength);
      memory.set(added, used);
      used += added.byteLength;
      return added.byteLength;
    },
    /** Removes and returns all bytes. */
    take(): Uint8Array {
      const taken = memory.subarray(0, used);
      memory = new Uint8Array();
      used = 0;
      return taken;
    },
  };
}
