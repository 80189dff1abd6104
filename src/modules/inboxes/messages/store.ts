/**
 * Reads and changes messages of inboxes. Messages are ordered by their arrival, newest first. Every
 * function that writes is part of a change; `publish` it after the commit.
 */

import type { Db } from "../../../db/open.ts";
import {
  MESSAGE_COLUMNS,
  type MessageRecord,
  type MessageRow,
  type Parsed,
  type Part,
  recordOf,
} from "./record.ts";

/** Messages that are in lists: all but those that are still arriving. */
const VISIBLE = "m.state <> 'ARRIVING'";

export type Counts = { total: number; unread: number };

export type MessageStore = ReturnType<typeof createMessageStore>;

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
  const pieces = sqlite.prepare<{ bytes: Uint8Array }, [number]>(
    "SELECT bytes FROM inbox_raw WHERE message_seq = +? ORDER BY position",
  );
  const selectParts = sqlite.prepare<Omit<Part, "isInline"> & { isInline: number }, [number]>(`
    SELECT part_id AS partId, is_inline AS isInline, filename, content_type AS contentType,
           content_id AS contentId, size, md5, sha1, sha256
    FROM inbox_parts WHERE message_seq = +? ORDER BY rowid`);
  const setRead = sqlite.prepare<unknown, [number, number, number]>(
    "UPDATE inbox_messages SET is_read = ? WHERE seq = +? AND is_read <> +?",
  );
  const setPinned = sqlite.prepare<unknown, [number, number]>(
    "UPDATE inbox_messages SET is_pinned = ? WHERE seq = +?",
  );
  const setTags = sqlite.prepare<unknown, [string, number]>(
    "UPDATE inbox_messages SET tags = ? WHERE seq = +?",
  );
  const setParsed = sqlite.prepare<unknown, [ParsedColumns]>(`
    UPDATE inbox_messages
    SET state = 'PARSED', message_id = $messageId, subject = $subject, addresses = $addresses,
        date = $date, snippet = $snippet, attachments = $attachments, inlines = $inlines,
        tags = $tags
    WHERE seq = +$seq AND state = 'RECEIVED'`);
  const setUnreadable = sqlite.prepare<unknown, [string, number]>(`
    UPDATE inbox_messages SET state = 'UNREADABLE', parse_error = ?
    WHERE seq = +? AND state = 'RECEIVED'`);
  const insertText = sqlite.prepare<unknown, [number, string, Uint8Array | null]>(
    "INSERT INTO inbox_texts (message_seq, text, rest) VALUES (?, ?, ?)",
  );
  const insertPart = sqlite.prepare<unknown, [Omit<Part, "isInline"> & PartRest]>(`
    INSERT INTO inbox_parts (message_seq, part_id, is_inline, filename, content_type, content_id,
                             size, md5, sha1, sha256)
    VALUES ($seq, $partId, $isInline, $filename, $contentType, $contentId, $size, $md5, $sha1,
            $sha256)`);
  const removeTexts = sqlite.prepare<unknown, [number]>(
    "DELETE FROM inbox_texts WHERE message_seq = +?",
  );
  const removeMessage = sqlite.prepare<unknown, [number]>(
    "DELETE FROM inbox_messages WHERE seq = +?",
  );

  const find = (row: MessageRow | null): MessageRecord | null =>
    row === null ? null : recordOf(row);

  return {
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

    counts: (inboxSeq: number): Counts => countAll.get(inboxSeq) ?? { total: 0, unread: 0 },

    /** The raw message, as it was received. */
    raw(seq: number): Uint8Array {
      const all = pieces.all(seq).map(({ bytes }) => Bun.zstdDecompressSync(bytes));
      return all.length === 1 && all[0] !== undefined ? all[0] : Buffer.concat(all);
    },

    parts: (seq: number): Part[] =>
      selectParts.all(seq).map((part) => ({ ...part, isInline: part.isInline === 1 })),

    /** Part of a change. Returns true if the message was not in this state before. */
    setRead: (seq: number, isRead: boolean): boolean =>
      setRead.run(Number(isRead), seq, Number(isRead)).changes > 0,

    /** Part of a change. */
    setPinned: (seq: number, isPinned: boolean): void => void setPinned.run(Number(isPinned), seq),

    /** Part of a change. */
    setTags: (seq: number, tags: readonly string[]): void =>
      void setTags.run(JSON.stringify([...new Set(tags)].sort()), seq),

    /** Part of a change: stores what the parser found. */
    setParsed(seq: number, parsed: Parsed): boolean {
      const { messageId, subject, addresses, date, snippet, parts, searchText } = parsed;
      const inlines = parts.filter(({ isInline }) => isInline).length;
      const { changes } = setParsed.run({
        seq,
        messageId,
        subject,
        addresses: JSON.stringify(addresses),
        date,
        snippet,
        attachments: parts.length - inlines,
        inlines,
        tags: JSON.stringify(parsed.tags),
      });
      if (changes === 0) return false;
      const rest = parsed.searchRest;
      insertText.run(seq, searchText, rest === null ? null : Bun.zstdCompressSync(rest));
      for (const part of parts) insertPart.run({ ...part, isInline: Number(part.isInline), seq });
      return true;
    },

    /** Part of a change: the parser failed. The message stays, and is shown raw. */
    setUnreadable: (seq: number, reason: string): boolean =>
      setUnreadable.run(reason, seq).changes > 0,

    /** Part of a change. */
    remove(seq: number): void {
      // Deleting a row by a foreign key runs no trigger, and the index of texts needs its trigger.
      removeTexts.run(seq);
      removeMessage.run(seq);
    },
  };
}

type PartRest = { seq: number; isInline: number };

type ParsedColumns = Pick<
  MessageRow,
  | "seq"
  | "messageId"
  | "subject"
  | "addresses"
  | "date"
  | "snippet"
  | "attachments"
  | "inlines"
  | "tags"
>;
