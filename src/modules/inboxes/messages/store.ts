/** Reads messages of inboxes, newest first. `write.ts` changes them. */

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

export type Counts = { total: number; unread: number };

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
  const pageByOffset = sqlite.prepare<MessageRow, [number, number, number]>(
    select(`WHERE m.inbox_seq = +? AND ${VISIBLE} ORDER BY m.seq DESC LIMIT +? OFFSET +?`),
  );
  const countAll = sqlite.prepare<Counts, [number]>(`
    SELECT count(*) AS total, coalesce(sum(is_read = 0), 0) AS unread
    FROM inbox_messages INDEXED BY inbox_messages_unread WHERE inbox_seq = +?`);
  /** A value that changes with each write, of this connection or another one. */
  const stateOfData = sqlite.prepare<{ state: string }, []>(
    "SELECT total_changes() || '-' || data_version AS state FROM pragma_data_version",
  );
  /** Counts that are valid until the next write. */
  let counted = { at: "", byInbox: new Map<number, Counts>() };
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

    pageAt: (inboxSeq: number, offset: number, limit: number): MessageRecord[] =>
      pageByOffset.all(inboxSeq, limit, offset).map(recordOf),

    counts(inboxSeq: number): Counts {
      const at = stateOfData.get()?.state ?? "";
      if (at !== counted.at) counted = { at, byInbox: new Map() };
      const known = counted.byInbox.get(inboxSeq);
      if (known !== undefined) return known;
      const counts = countAll.get(inboxSeq) ?? { total: 0, unread: 0 };
      counted.byInbox.set(inboxSeq, counts);
      return counts;
    },

    /** The raw message, as it was received. */
    raw(seq: number): Uint8Array {
      const all = pieces.all(seq).map(({ bytes }) => Bun.zstdDecompressSync(bytes));
      return all.length === 1 && all[0] !== undefined ? all[0] : Buffer.concat(all);
    },

    parts: (seq: number): Part[] =>
      selectParts.all(seq).map((part) => ({ ...part, isInline: part.isInline === 1 })),
  };
}
