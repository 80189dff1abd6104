/**
 * Reads messages of inboxes, newest first. `write.ts` changes them, and `numbers.ts` reads what looks at
 * all messages of an inbox.
 */

import type { Db } from "../../../db/open.ts";
import {
  MESSAGE_COLUMNS,
  type MessageRecord,
  type MessageRow,
  type Part,
  recordOf,
} from "./record.ts";
import { createMessageWrites } from "./write.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";

/** Messages that are in lists: all but those that are still arriving. */
const VISIBLE = "m.state <> 'ARRIVING'";

/**
 * A small message is stored as it is, because to compress it takes longer than to write it; all others
 * are compressed by zstd. The first four bytes tell which: those of zstd (RFC 8878 §3.1.1) mean that
 * the bytes are compressed. A small message that begins with these four is therefore compressed, too.
 */
const MIN_COMPRESSED_BYTES = 4 * 1024;
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const LEVEL = { level: 1 };

const isZstd = (bytes: Uint8Array): boolean => ZSTD.equals(bytes.subarray(0, ZSTD.byteLength));

/** Returns the bytes of a message as they are stored: the same ones, or others. */
export function storedForm(raw: Uint8Array): Uint8Array {
  const isSmall = raw.byteLength < MIN_COMPRESSED_BYTES && !isZstd(raw);
  return isSmall ? raw : Bun.zstdCompressSync(raw, LEVEL);
}

/** The same for a large piece, which a thread compresses. */
export const storedPiece = (raw: Uint8Array): Promise<Uint8Array> => Bun.zstdCompress(raw, LEVEL);

export function rawForm(stored: Uint8Array): Uint8Array {
  return isZstd(stored) ? Bun.zstdDecompressSync(stored) : stored;
}

export type MessageStore = ReturnType<typeof createMessageStore>;

export const messageStore = perApp((app: App) => createMessageStore(app));

export function createMessageStore({ db }: { db: Db }) {
  const { sqlite } = db;
  const select = (rest: string) => `SELECT ${MESSAGE_COLUMNS} FROM inbox_messages m ${rest}`;
  const findBySeq = sqlite.prepare<MessageRow, [number]>(select("WHERE m.seq = +?"));
  const findById = sqlite.prepare<MessageRow, [string, number]>(
    select(`WHERE m.id = +? AND m.inbox_seq = +? AND ${VISIBLE}`),
  );
  const pageBySeq = sqlite.prepare<MessageRow, [number, number, number]>(
    select(`WHERE m.inbox_seq = +? AND m.seq < +? AND ${VISIBLE} ORDER BY m.seq DESC LIMIT +?`),
  );
  const pieces = sqlite.prepare<{ bytes: Uint8Array }, [number]>(
    "SELECT bytes FROM inbox_raw WHERE message_seq = +? ORDER BY position",
  );
  const selectParts = sqlite.prepare<Omit<Part, "isInline"> & { isInline: number }, [number]>(`
    SELECT part_id AS partId, is_inline AS isInline, filename, content_type AS contentType,
           content_id AS contentId, size, md5, sha1, sha256
    FROM inbox_parts WHERE message_seq = +? ORDER BY rowid`);
  const find = (row: MessageRow | null): MessageRecord | null =>
    row === null ? null : recordOf(row);

  return {
    ...createMessageWrites(sqlite),

    /** A message by its position in the order of arrival; null if it was removed. */
    bySeq: (seq: number): MessageRecord | null => find(findBySeq.get(seq)),

    /** A message of the inbox by its id; null if there is none. */
    byId: (inboxSeq: number, id: string): MessageRecord | null => find(findById.get(id, inboxSeq)),

    /** The newest message; null if the inbox is empty. */
    latest: (inboxSeq: number): MessageRecord | null =>
      find(pageBySeq.get(inboxSeq, Number.MAX_SAFE_INTEGER, 1)),

    /** Messages that arrived before the message `before`, newest first. */
    page: (inboxSeq: number, before: number | null, limit: number): MessageRecord[] =>
      pageBySeq.all(inboxSeq, before ?? Number.MAX_SAFE_INTEGER, limit).map(recordOf),

    /** The raw message, as it was received. */
    raw(seq: number): Uint8Array {
      const all = pieces.all(seq).map(({ bytes }) => rawForm(bytes));
      return all.length === 1 && all[0] !== undefined ? all[0] : Buffer.concat(all);
    },

    parts: (seq: number): Part[] =>
      selectParts.all(seq).map((part) => ({ ...part, isInline: part.isInline === 1 })),
  };
}
