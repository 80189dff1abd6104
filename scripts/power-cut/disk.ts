/**
 * What a disk may hold of a file after a power cut: all that was written before a sync began which
 * has ended, and of what came later any part, block by block. Of a block it has the bytes of one
 * moment; other blocks may be older or newer. Blocks are as small as a sector.
 */

import type { Random } from "../seed/random.ts";

export type DiskFile = ReturnType<typeof createDiskFile>;

type Change = {
  number: number;
  offset: number;
  /** Null: the file ends at the offset. */
  bytes: Uint8Array | null;
  hasEnded: boolean;
};

/** Percent of the blocks that are as they were written last; null: nothing is there that came later. */
const NEWEST_SHARES = [null, 5, 50, 95, 100];
const BLOCK_SIZES = [512, 4096];
const SPARE = 1.5;

export function createDiskFile(content: Uint8Array) {
  const kept = createBytes(content);
  let pending: Change[] = [];
  let number = 0;

  function change(offset: number, bytes: Uint8Array | null): Change {
    const next = { number: number++, offset, bytes, hasEnded: false };
    pending.push(next);
    return next;
  }

  return {
    /** Each returns what to do when it ends. */
    write(offset: number, bytes: Uint8Array): () => void {
      const next = change(offset, bytes);
      return () => void (next.hasEnded = true);
    },
    resize(size: number): () => void {
      const next = change(size, null);
      return () => void (next.hasEnded = true);
    },
    sync(): () => void {
      const covered = new Set(pending.filter(({ hasEnded }) => hasEnded));
      return () => {
        for (const next of pending) if (covered.has(next)) kept.apply(next);
        pending = pending.filter((next) => !covered.has(next));
      };
    },
    pending: () => pending.length,

    /** One of the contents it may have. */
    afterCut(random: Random): Uint8Array {
      const result = createBytes(kept.content());
      const blockSize = random.pick(BLOCK_SIZES);
      const share = random.pick(NEWEST_SHARES);
      const first = pending[0]?.number ?? 0;
      const last = pending.at(-1)?.number ?? 0;
      const moments = new Map<number, number>();

      /** The last change that a block has. */
      function momentOf(block: number): number {
        const moment = moments.get(block) ?? anyMoment();
        moments.set(block, moment);
        return moment;
      }

      function anyMoment(): number {
        if (share !== null && random.integer(100) < share) return last;
        if (share === null || random.integer(2) === 0) return first - 1;
        return first + random.integer(last - first + 1);
      }

      for (const next of pending) {
        for (const part of partsOf(next, blockSize)) {
          if (next.number <= momentOf(Math.floor(part.offset / blockSize))) result.apply(part);
        }
      }
      return result.content();
    },
  };
}

function partsOf(change: Change, blockSize: number): Change[] {
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

/** Bytes that may grow; holes are zero. */
function createBytes(content: Uint8Array) {
  let size = content.length;
  let room = new Uint8Array(Math.ceil(size * SPARE));
  room.set(content);

  function reserve(needed: number): void {
    if (needed <= room.length) return;
    const larger = new Uint8Array(Math.ceil(needed * SPARE));
    larger.set(room.subarray(0, size));
    room = larger;
  }

  return {
    apply({ offset, bytes }: Pick<Change, "offset" | "bytes">): void {
      if (bytes === null) {
        reserve(offset);
        if (offset < size) room.fill(0, offset, size);
        size = offset;
        return;
      }
      reserve(offset + bytes.length);
      room.set(bytes, offset);
      size = Math.max(size, offset + bytes.length);
    },
    content: () => room.subarray(0, size),
  };
}
