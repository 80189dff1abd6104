/** Messages that wait for the parser or the index. Only some of them are kept in memory. */

import { freeMemory } from "../../../lib/free-memory.ts";
import type { MessageRecord, ParsedMessage } from "../messages/record.ts";

const BATCH_MESSAGES = 64;
const BATCH_BYTES = 2 * 1024 * 1024;
/** Bytes of messages that are kept in memory; others are read from the database, and parsed then. */
const KEPT_BYTES = 4 * 1024 * 1024;

export type Entry = {
  record: MessageRecord;
  recipients: readonly string[];
  /** Null if the message is read from the database when the parser needs it. */
  raw: Uint8Array | null;
  /** The content of a plain message, which the row has already; null if it has to be parsed. */
  parsed: ParsedMessage | null;
};

export type UnparsedEntry = Entry & { raw: Uint8Array; parsed: null };

/** A message with its bytes, or with what the row has of it. */
export type LoadedEntry = UnparsedEntry | (Entry & { parsed: ParsedMessage });

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
      const { record, recipients, raw, parsed } = entry;
      const isLoaded = raw !== null || parsed !== null;
      queuedBytes += record.size;
      if (isLoaded && keptBytes + record.size <= KEPT_BYTES) {
        keptBytes += record.size;
        queue.push(entry);
      } else {
        if (raw !== null) freeMemory(raw);
        queue.push({ record, recipients, raw: null, parsed: null });
      }
    },

    /** Removes and returns the oldest messages, each with its bytes. */
    takeBatch(): LoadedEntry[] {
      const batch: LoadedEntry[] = [];
      let bytes = 0;
      while (queue.length > 0 && batch.length < BATCH_MESSAGES && bytes < BATCH_BYTES) {
        const entry = queue.shift();
        if (entry === undefined) break;
        const { record, raw, parsed } = entry;
        if (raw !== null || parsed !== null) keptBytes -= record.size;
        queuedBytes -= record.size;
        bytes += record.size;
        if (parsed === null) batch.push({ ...entry, raw: raw ?? readRaw(record.seq), parsed });
        else batch.push({ ...entry, parsed });
      }
      return batch;
    },
  };
}
