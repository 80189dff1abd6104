/**
 * Stores messages as they arrive.
 *
 * 1. `open` starts a message. `add` takes its bytes in pieces of any size.
 * 2. Each full MiB is compressed and stored at once, in a row that no list shows (state ARRIVING).
 *    So memory is bounded, and a message that does not end leaves nothing but rows to remove.
 * 3. `complete` stores the rest and makes the message visible (state RECEIVED) in one transaction.
 *    It resolves when the message is on disk. A plain message is parsed before that.
 * 4. The indexer (`../indexing/indexer.ts`) parses all others afterwards, and adds the texts of all
 *    messages to the index.
 */

import { freeMemory } from "../../../lib/free-memory.ts";
import { createPieceBuffer, PIECE_BYTES } from "../../../lib/piece-buffer.ts";
import { parsePlain } from "../parsing/plain-message.ts";
import { type Arrived, createArrivedRows, type Stored } from "./arrived.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";
import { mailpitCounters } from "../mailpit/counters.ts";
import { arrivalMemory } from "./memory.ts";
import { messageIndexer } from "../indexing/indexer.ts";

/** Longest time that a message waits for others that share its commit (db/commit-delay.ts). */
const GATHER_MS = 0.7;

export type Arrival = {
  /** Copies the piece. The promise is null if that was done at once. */
  add(piece: Uint8Array): Promise<void> | null;
  /** Resolves when the message is on disk. */
  complete(arrived: Arrived): Promise<Stored>;
  /** Removes what was stored. */
  discard(): Promise<void>;
};

export type Intake = ReturnType<typeof createIntake>;

export const messageIntake = perApp(createIntake);

function createIntake(app: App) {
  const { writer, clock } = app;
  const rows = createArrivedRows(app.db.sqlite, clock);
  const [counters, memory, indexer] = [
    mailpitCounters(app),
    arrivalMemory(app),
    messageIndexer(app),
  ];

  /** Called after a message is on disk. */
  function onReceived(stored: Stored): void {
    const bytes = stored.record.size;
    counters.accepted(stored.inboxSeq, bytes);
    memory.noteArrival(bytes);
    indexer.add(stored);
  }

  /** Stores a message of one piece. Only one that is not parsed yet keeps its bytes in memory. */
  async function storeWhole(
    arrived: Arrived,
    pending: ReturnType<typeof createPieceBuffer>,
  ): Promise<Stored> {
    const bytes = pending.peek();
    const size = bytes.byteLength;
    const compressed = Bun.zstdCompressSync(bytes, { level: 1 });
    const recipients = arrived.envelope.to.map(({ address }) => address);
    const parsed = parsePlain(bytes, recipients);
    const raw = parsed === null ? pending.take() : null;
    pending.clear();
    const content = { size, raw, compressed, parsed };
    const stored = await writer.write(() => rows.insertWhole(arrived, content), {
      gatherMs: GATHER_MS,
    });
    freeMemory(compressed);
    return stored;
  }

  function open(inboxSeq: number | Promise<number>): Arrival {
    const pending = createPieceBuffer();
    let size = 0;
    let storedBytes = 0;
    let pieces = 0;
    /** The row of a message that is larger than one piece. */
    let seq: number | null = null;

    async function storePiece(raw: Uint8Array): Promise<number> {
      const compressed = await Bun.zstdCompress(raw, { level: 1 });
      freeMemory(raw);
      storedBytes += compressed.byteLength;
      const inbox = await inboxSeq;
      const stored = await writer.write(() => {
        const known = seq ?? rows.insertArriving(inbox);
        rows.insertPiece(known, pieces, compressed);
        return known;
      });
      freeMemory(compressed);
      pieces++;
      seq = stored;
      return stored;
    }

    async function finish(arrived: Arrived): Promise<Stored> {
      if (seq === null) return storeWhole(arrived, pending);
      const known = await storePiece(pending.take());
      return writer.write(() => rows.finish(known, arrived, { size, storedBytes }));
    }

    async function addRest(piece: Uint8Array): Promise<void> {
      for (let at = 0; at < piece.byteLength;) {
        if (pending.isFull()) await storePiece(pending.take());
        at += pending.add(piece.subarray(at));
      }
    }

    return {
      add(piece) {
        size += piece.byteLength;
        const added = pending.add(piece);
        return added === piece.byteLength ? null : addRest(piece.subarray(added));
      },
      async complete(arrived) {
        const stored = await finish(arrived);
        onReceived(stored);
        return stored;
      },
      async discard() {
        pending.clear();
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
