/** Gathers the bytes of an arriving message until they fill a piece, which is stored as one row. */

import { freeMemory } from "./free-memory.ts";

/** Bytes of a whole piece, unless the owner chooses fewer. */
export const PIECE_BYTES = 1024 * 1024;
/** Memory that an arriving message has at first. It is shared: the next message uses it again. */
const SHARED_BYTES = 16 * 1024;
const MAX_SHARED = 32;
const shared: Buffer[] = [];

/** Bytes that are not stored yet, at most a piece. They are copied into memory of their own. */
export function createPieceBuffer(pieceBytes = PIECE_BYTES) {
  let memory: Buffer = Buffer.alloc(0);
  let used = 0;

  function reserve(bytes: number): void {
    if (bytes <= memory.byteLength) return;
    const larger =
      bytes <= SHARED_BYTES
        ? (shared.pop() ?? Buffer.allocUnsafeSlow(SHARED_BYTES))
        : Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
    larger.set(memory.subarray(0, used));
    if (!giveBack()) freeMemory(memory);
    memory = larger;
  }

  /** Returns false if the memory is not shared. */
  function giveBack(): boolean {
    const isShared = memory.byteLength === SHARED_BYTES;
    if (isShared && shared.length < MAX_SHARED) shared.push(memory);
    return isShared;
  }

  function clear(): void {
    giveBack();
    memory = Buffer.alloc(0);
    used = 0;
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
    /** All bytes. They are valid until the next call of another function. */
    peek: (): Uint8Array => memory.subarray(0, used),
    /** Removes and returns all bytes. */
    take(): Uint8Array {
      const isShared = memory.byteLength === SHARED_BYTES;
      const taken = isShared ? new Uint8Array(memory.subarray(0, used)) : memory.subarray(0, used);
      clear();
      return taken;
    },
    /** Removes all bytes. */
    clear,
  };
}
