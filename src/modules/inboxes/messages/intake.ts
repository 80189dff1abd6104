/**
 * Stores messages as they arrive.
 *
 * 1. `open` starts a message. `add` takes its bytes in pieces of any size.
 * 2. Each full MiB is compressed and stored at once, in a row that no list shows (state ARRIVING).
 *    So memory is bounded, and a message that does not end leaves nothing but rows to remove.
 * 3. `complete` stores the rest and makes the message visible in one transaction. It resolves when
 *    the message is on disk. A plain message is parsed before that, so that the same transaction
 *    stores all that lists and searches need (state PARSED).
 * 4. The indexer (`../indexing/indexer.ts`) parses all others afterwards (state RECEIVED until then).
 */

import { freeMemory } from "../../../lib/free-memory.ts";
import { createPieceBuffer, PIECE_BYTES } from "../../../lib/piece-buffer.ts";
import { inboxChanges } from "../changes.ts";
import { parsePlain } from "../parsing/plain-message.ts";
import { type Arrived, createArrivedRows, type Stored } from "./arrived.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";
import { mailpitCounters } from "../mailpit/counters.ts";
import { arrivalMemory } from "./memory.ts";
import { messageIndexer } from "../indexing/indexer.ts";
import { storedForm, storedPiece } from "./store.ts";
import { inboxRetention } from "../retention.ts";

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
  const { writer } = app;
  const rows = createArrivedRows(app);
  const [counters, memory, indexer] = [
    mailpitCounters(app),
    arrivalMemory(app),
    messageIndexer(app),
  ];
  const [changes, retention] = [inboxChanges(app), inboxRetention(app)];

  /** Part of the change that made a message visible. */
  function announced(stored: Stored): Stored {
    retention.keepNumber(stored.inboxSeq);
    writer.afterCommit(() => onReceived(stored));
    return stored;
  }

  function onReceived(stored: Stored): void {
    const { record, inboxSeq } = stored;
    counters.accepted(inboxSeq, record.size);
    memory.noteArrival(record.size);
    if (record.state === "PARSED") changes.publish(inboxSeq, { type: "message", message: record });
    else indexer.add(stored);
  }

  /** Stores a message of one piece. */
  async function storeWhole(
    arrived: Arrived,
    pending: ReturnType<typeof createPieceBuffer>,
  ): Promise<Stored> {
    const raw = pending.take();
    const recipients = arrived.envelope.to.map(({ address }) => address);
    const content = { raw, bytes: storedForm(raw), parsed: parsePlain(raw, recipients) };
    const stored = await writer.write(() => announced(rows.insertWhole(arrived, content)), {
      gatherMs: GATHER_MS,
    });
    if (content.bytes !== raw) freeMemory(content.bytes);
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
      const compressed = await storedPiece(raw);
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
      return writer.write(() => announced(rows.finish(known, arrived, { size, storedBytes })));
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
      complete: finish,
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
      const pieces = piecesOf(raw).map(storedForm);
      const storedBytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
      const seq = rows.insertArriving(arrived.inboxSeq);
      for (const [position, piece] of pieces.entries()) rows.insertPiece(seq, position, piece);
      announced(rows.finish(seq, arrived, { size: raw.byteLength, storedBytes }));
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
