/**
 * Simulates what a disk may contain of a file after a power cut: everything that was written before
 * the begin of a completed sync, and any part of later writes, block by block. Each block has the
 * bytes of one point in time; other blocks may be older or newer. A block may be as small as a sector.
 */

import type { Random } from "../seed/random.ts";

export type DiskFile = ReturnType<typeof createDiskFile>;

type Change = {
  number: number;
  offset: number;
  /** The written bytes; null if the file is truncated or extended to `offset`. */
  bytes: Uint8Array | null;
  hasEnded: boolean;
};

/** Percentages of blocks that have their newest bytes; null means that no later write is on disk. */
const NEWEST_SHARES = [null, 5, 50, 95, 100];
const BLOCK_SIZES = [512, 4096];
const GROWTH_FACTOR = 1.5;

export function createDiskFile(content: Uint8Array) {
  const synced = createBytes(content);
  let pending: Change[] = [];
  let number = 0;

  function addChange(offset: number, bytes: Uint8Array | null): Change {
    const next = { number: number++, offset, bytes, hasEnded: false };
    pending.push(next);
    return next;
  }

  return {
    /** `write`, `resize` and `sync` begin a system call; each returns a function that ends it. */
    write(offset: number, bytes: Uint8Array): () => void {
      const next = addChange(offset, bytes);
      return () => void (next.hasEnded = true);
    },
    resize(size: number): () => void {
      const next = addChange(size, null);
      return () => void (next.hasEnded = true);
    },
    sync(): () => void {
      const covered = new Set(pending.filter(({ hasEnded }) => hasEnded));
      return () => {
        for (const next of pending) if (covered.has(next)) synced.apply(next);
        pending = pending.filter((next) => !covered.has(next));
      };
    },
    pending: () => pending.length,

    /** Returns one of the contents that the file may have after a power cut. */
    afterCut(random: Random): Uint8Array {
      const result = createBytes(synced.content());
      const blockSize = random.pick(BLOCK_SIZES);
      const share = random.pick(NEWEST_SHARES);
      const first = pending[0]?.number ?? 0;
      const last = pending.at(-1)?.number ?? 0;
      const changeNumbers = new Map<number, number>();

      /** Returns the number of the last change that is on disk for a block. */
      function changeNumberOf(block: number): number {
        const changeNumber = changeNumbers.get(block) ?? pickChangeNumber();
        changeNumbers.set(block, changeNumber);
        return changeNumber;
      }

      function pickChangeNumber(): number {
        if (share !== null && random.integer(100) < share) return last;
        if (share === null || random.integer(2) === 0) return first - 1;
        return first + random.integer(last - first + 1);
      }

      for (const next of pending) {
        for (const part of splitByBlock(next, blockSize)) {
          if (next.number <= changeNumberOf(Math.floor(part.offset / blockSize)))
            result.apply(part);
        }
      }
      return result.content();
    },
  };
}

function splitByBlock(change: Change, blockSize: number): Change[] {
  const { offset, bytes } = change;
  if (bytes === null) return [change];
  const parts: Change[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + blockSize - ((offset + at) % blockSize));
    parts.push({ ...change, offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return parts;
}

/** Bytes that can be resized; new bytes are zero. */
function createBytes(content: Uint8Array) {
  let size = content.length;
  let buffer = new Uint8Array(Math.ceil(size * GROWTH_FACTOR));
  buffer.set(content);

  function reserve(needed: number): void {
    if (needed <= buffer.length) return;
    const larger = new Uint8Array(Math.ceil(needed * GROWTH_FACTOR));
    larger.set(buffer.subarray(0, size));
    buffer = larger;
  }

  return {
    apply({ offset, bytes }: Pick<Change, "offset" | "bytes">): void {
      if (bytes === null) {
        reserve(offset);
        if (offset < size) buffer.fill(0, offset, size);
        size = offset;
        return;
      }
      reserve(offset + bytes.length);
      buffer.set(bytes, offset);
      size = Math.max(size, offset + bytes.length);
    },
    content: () => buffer.subarray(0, size),
  };
}
