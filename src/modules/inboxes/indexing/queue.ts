/** Messages that wait for the parser. Only some of them are kept in memory. */

import { freeMemory } from "../../../lib/free-memory.ts";
import type { MessageRecord } from "../messages/record.ts";

const BATCH_MESSAGES = 64;
const BATCH_BYTES = 2 * 1024 * 1024;
/** Bytes of messages that are kept in memory; others are read from the database, and parsed then. */
const KEPT_BYTES = 4 * 1024 * 1024;

export type Entry = {
  record: MessageRecord;
  recipients: readonly string[];
  /** Null if the message is read from the database when the parser needs it. */
  raw: Uint8Array | null;
};

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

    add(entry: Entry): void {
      const { record, recipients, raw } = entry;
      queuedBytes += record.size;
      if (raw !== null && keptBytes + record.size <= KEPT_BYTES) {
        keptBytes += record.size;
        queue.push(entry);
      } else {
        if (raw !== null) freeMemory(raw);
        queue.push({ record, recipients, raw: null });
      }
    },

    /** Removes and returns the oldest messages, each with its bytes. */
    takeBatch(): LoadedEntry[] {
      const batch: LoadedEntry[] = [];
      let bytes = 0;
      while (queue.length > 0 && batch.length < BATCH_MESSAGES && bytes < BATCH_BYTES) {
        const entry = queue.shift();
        if (entry === undefined) break;
        const { record, raw } = entry;
        if (raw !== null) keptBytes -= record.size;
        queuedBytes -= record.size;
        bytes += record.size;
        batch.push({ ...entry, raw: raw ?? readRaw(record.seq) });
      }
      return batch;
    },
  };
}
