/**
 * Takes the bytes of a received message. Each full MiB is compressed and stored at once, in a row that
 * no list shows (state ARRIVING), so memory is bounded, and a message that does not end leaves
 * nothing but rows to remove.
 */

import type { App } from "../../core/app.ts";
import type { Change, Sync, Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { freeMemory } from "../../lib/free-memory.ts";
import { createPieceBuffer } from "../../lib/piece-buffer.ts";
import { runWithinReceived } from "../quotas.ts";
import type { ReceivedRows } from "./rows.ts";

/** A message that arrived completely. */
export type ArrivedMail = {
  size: number;
  /** The bytes after the stored pieces. */
  rest: Uint8Array;
  /** The row and the number of the stored pieces; null if all bytes are in `rest`. */
  stored: { seq: number; pieces: number } | null;
};

export function createMailArrivals(deps: {
  rows: ReceivedRows;
  writer: Pick<Writer, "write">;
  clock: Clock;
  app: App;
  /** Told of each stored piece, because large messages fill the page cache of the database. */
  noteArrival: (bytes: number) => void;
}) {
  const { app, rows, writer, clock } = deps;

  /** Starts a message of a project. */
  return function open(projectSeq: number) {
    const pending = createPieceBuffer();
    let size = 0;
    let stored: ArrivedMail["stored"] = null;

    async function storePiece(raw: Uint8Array): Promise<void> {
      deps.noteArrival(raw.byteLength);
      const compressed = await Bun.zstdCompress(raw, { level: 1 });
      freeMemory(raw);
      const { seq: known = null, pieces = 0 } = stored ?? {};
      const change: Change<Sync<number>> = () =>
        runWithinReceived(app, projectSeq, () => {
          const seq = known ?? rows.begin(projectSeq, clock.now());
          rows.insertPiece(seq, pieces, compressed);
          return seq;
        });
      stored = { seq: await writer.write(change), pieces: pieces + 1 };
      freeMemory(compressed);
    }

    async function addRest(piece: Uint8Array): Promise<void> {
      for (let at = 0; at < piece.byteLength;) {
        if (pending.isFull()) await storePiece(pending.take());
        at += pending.add(piece.subarray(at));
      }
    }

    return {
      /** Copies the piece. The promise is null if that was done at once. */
      add(piece: Uint8Array): Promise<void> | null {
        size += piece.byteLength;
        const added = pending.add(piece);
        return added === piece.byteLength ? null : addRest(piece.subarray(added));
      },

      /** Called once, after the last piece. */
      end: (): ArrivedMail => ({ size, rest: pending.take(), stored }),

      /** Removes what was stored. */
      async discard(): Promise<void> {
        const known = stored;
        if (known !== null) await writer.write(() => rows.remove(known.seq));
      },
    };
  };
}
