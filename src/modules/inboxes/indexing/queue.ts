/** Messages that wait for the parser. Only some of them are kept in memory. */

import { freeMemory } from "../../../lib/free-memory.ts";
import type { MessageRecord } from "../messages/record.ts";

const BATCH_MESSAGES = 64;
const BATCH_BYTES = 2 * 1024 * 1024;
/** Bytes of raw messages that are kept in memory for the parser; others are read from the database. */
const KEPT_BYTES = 4 * 1024 * 1024;

export type Entry = {
  record: MessageRecord;
  recipients: readonly string[];
  /** Null if the message is read from the database when the parser needs it. */
  raw: Uint8Array | null;
};

/** A message with its bytes. */
export type LoadedEntry = Entry & { raw: Uint8Array };

/** `readRaw` reads a stored message. */
export function createIndexQueue(readRaw: (seq: number) => Uint8Array) {
  const queue: Entry[] = [];
  let keptBytes = 0;
  /** Bytes of all messages of the queue. */
  let queuedBytes = 0;

  return {
    isEmpty: () => queue.length === 0,

    /** True if there are enough messages for a batch. */
    isFull: () => queue.length >= BATCH_MESSAGES || queuedBytes >= BATCH_BYTES,

    add({ record, recipients, raw }: Entry): void {
      const isKept = raw !== null && keptBytes + raw.byteLength <= KEPT_BYTES;
      if (isKept) keptBytes += raw.byteLength;
      else if (raw !== null) freeMemory(raw);
      queue.push({ record, recipients, raw: isKept ? raw : null });
      queuedBytes += record.size;
    },

    /** Removes and returns the oldest messages, each with its bytes. */
    takeBatch(): LoadedEntry[] {
      const batch: LoadedEntry[] = [];
      let bytes = 0;
      while (queue.length > 0 && batch.length < BATCH_MESSAGES && bytes < BATCH_BYTES) {
        const entry = queue.shift();
        if (entry === undefined) break;
        if (entry.raw !== null) keptBytes -= entry.raw.byteLength;
        queuedBytes -= entry.record.size;
        const raw = entry.raw ?? readRaw(entry.record.seq);
        bytes += raw.byteLength;
        batch.push({ ...entry, raw });
      }
      return batch;
    },
  };
}
