/**
 * Stores messages as they arrive.
 *
 * 1. `open` starts a message. `add` takes its bytes in pieces of any size.
 * 2. Each full MiB is compressed and stored at once, in a row that no list shows (state ARRIVING).
 *    So memory is bounded, and a message that does not end leaves nothing but rows to remove.
 * 3. `complete` stores the rest and makes the message visible (state RECEIVED) in one transaction.
 *    It resolves when the message is on disk.
 * 4. The indexer (`../indexing/indexer.ts`) parses the message afterwards.
 */

import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { type Arrived, createArrivedRows, type Stored } from "./arrived.ts";

/** Raw bytes of one row. */
const PIECE_BYTES = 1024 * 1024;

export type Arrival = {
  add(piece: Uint8Array): Promise<void>;
  /** Resolves when the message is on disk. */
  complete(arrived: Arrived): Promise<Stored>;
  /** Removes what was stored. */
  discard(): Promise<void>;
};

export type Intake = ReturnType<typeof createIntake>;

export function createIntake(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  /** Called after a message is on disk. */
  onReceived: (stored: Stored) => void;
}) {
  const { writer, clock, onReceived } = deps;
  const rows = createArrivedRows(deps.db.sqlite, clock);

  function open(inboxSeq: number): Arrival {
    const pending = createPending();
    let size = 0;
    let storedBytes = 0;
    let pieces = 0;
    /** The row of a message that is larger than one piece. */
    let seq: number | null = null;

    async function storePiece(raw: Buffer): Promise<number> {
      const compressed = await Bun.zstdCompress(raw, { level: 1 });
      const stored = await writer.write(() => {
        const known = seq ?? rows.insertArriving(inboxSeq);
        rows.insertPiece(known, pieces, compressed);
        return known;
      });
      pieces++;
      storedBytes += compressed.byteLength;
      seq = stored;
      return stored;
    }

    async function finish(arrived: Arrived): Promise<Stored> {
      const raw = pending.take(PIECE_BYTES);
      if (seq === null) {
        const compressed = Bun.zstdCompressSync(raw, { level: 1 });
        return writer.write(() => rows.insertWhole(arrived, raw, compressed));
      }
      const known = await storePiece(raw);
      return writer.write(() => rows.finish(known, arrived, { size, storedBytes }));
    }

    return {
      async add(piece) {
        pending.add(piece);
        size += piece.byteLength;
        while (pending.bytes() > PIECE_BYTES) await storePiece(pending.take(PIECE_BYTES));
      },
      async complete(arrived) {
        const stored = await finish(arrived);
        onReceived(stored);
        return stored;
      },
      async discard() {
        const known = seq;
        if (known !== null) await writer.write(() => rows.remove(known));
      },
    };
  }

  return {
    open,

    /** Stores a whole message, and resolves when it is on disk. */
    async store(arrived: Arrived, raw: Uint8Array): Promise<Stored> {
      const arrival = open(arrived.inboxSeq);
      await arrival.add(raw);
      return arrival.complete(arrived);
    },

    /** Part of a change: stores a whole message of any size. It is parsed after the commit. */
    insert(arrived: Arrived, raw: Uint8Array): void {
      const pieces = piecesOf(raw).map((piece) => Bun.zstdCompressSync(piece, { level: 1 }));
      const storedBytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
      const seq = rows.insertArriving(arrived.inboxSeq);
      for (const [position, piece] of pieces.entries()) rows.insertPiece(seq, position, piece);
      const stored = rows.finish(seq, arrived, { size: raw.byteLength, storedBytes });
      writer.afterCommit(() => onReceived(stored));
    },

    /** Removes messages that had not arrived completely when the process ended. */
    removeIncomplete: () => writer.write(rows.removeIncomplete),
  };
}

function piecesOf(raw: Uint8Array): Uint8Array[] {
  const count = Math.max(1, Math.ceil(raw.byteLength / PIECE_BYTES));
  return Array.from({ length: count }, (_, i) =>
    raw.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES),
  );
}

/** Bytes that are not stored yet. */
function createPending() {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    bytes: () => bytes,
    add(piece: Uint8Array): void {
      pieces.push(piece);
      bytes += piece.byteLength;
    },
    /** Removes and returns the first bytes, at most `limit`. */
    take(limit: number): Buffer {
      const all = Buffer.concat(pieces);
      const rest = all.subarray(limit);
      pieces = rest.byteLength > 0 ? [rest] : [];
      bytes = rest.byteLength;
      return all.subarray(0, limit);
    },
  };
}
