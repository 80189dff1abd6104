/** Changes messages of inboxes. All functions are parts of a change; publish it after the commit. */

import type { Database } from "bun:sqlite";
import type { SearchFields } from "../search/fold.ts";
import { createSearchIndex, type IndexedText } from "../search/index-rows.ts";
import {
  listedMembers,
  type ParsedColumns,
  parsedColumns,
  type ParsedMessage,
  type Part,
} from "./record.ts";
import { sortedTags } from "./tags.ts";

export function createMessageWrites(sqlite: Database) {
  const setRead = sqlite.prepare<unknown, [number, number, number]>(
    "UPDATE inbox_messages SET is_read = ? WHERE seq = +? AND is_read <> +?",
  );
  const setPinned = sqlite.prepare<unknown, [number, number]>(
    "UPDATE inbox_messages SET is_pinned = ? WHERE seq = +?",
  );
  const setTags = sqlite.prepare<unknown, [string, number]>(
    "UPDATE inbox_messages SET tags = ? WHERE seq = +?",
  );
  const setParsed = sqlite.prepare<unknown, [ParsedColumns & PartCounts]>(`
    UPDATE inbox_messages
    SET state = 'PARSED', message_id = $messageId, subject = $subject, addresses = $addresses,
        date = $date, snippet = $snippet, attachments = $attachments, inlines = $inlines,
        tags = $tags
    WHERE seq = +$seq AND state = 'RECEIVED'`);
  const setUnreadable = sqlite.prepare<unknown, [string, number]>(`
    UPDATE inbox_messages SET state = 'UNREADABLE', parse_error = ?
    WHERE seq = +? AND state = 'RECEIVED'`);
  const insertTexts = sqlite.prepare<unknown, [TextColumns]>(`
    INSERT INTO inbox_texts (message_seq, is_long, signature, sender, recipients, cc, bcc,
                             reply_to, subject, message_id, text, rest)
    VALUES ($seq, $rest IS NOT NULL, $signature, $from, $to, $cc, $bcc, $replyTo, $subject,
            $messageId, $text, $rest)`);
  const insertPart = sqlite.prepare<unknown, [Omit<Part, "isInline"> & PartRest]>(`
    INSERT INTO inbox_parts (message_seq, part_id, is_inline, filename, content_type, content_id,
                             size, md5, sha1, sha256)
    VALUES ($seq, $partId, $isInline, $filename, $contentType, $contentId, $size, $md5, $sha1,
            $sha256)`);
  const textOf = sqlite.prepare<IndexedText, [number]>(
    "SELECT message_seq AS seq, text FROM inbox_texts WHERE message_seq = +?",
  );
  const removeMessage = sqlite.prepare<unknown, [number]>(
    "DELETE FROM inbox_messages WHERE seq = +?",
  );
  const index = createSearchIndex(sqlite);

  /** Removes messages with everything that belongs to them. */
  function removeAll(seqs: readonly number[]): void {
    const upTo = index.upTo();
    const indexed = seqs.filter((seq) => seq <= upTo);
    const texts = indexed.flatMap((seq) => textOf.get(seq) ?? []);
    for (const seq of seqs) removeMessage.run(seq);
    index.remove(texts);
  }

  function insertText(seq: number, { search }: ParsedMessage): void {
    const { text, rest, signature, fields } = search;
    insertTexts.run({ ...fields, seq, text, rest, signature });
  }

  return {
    /** Part of a change. Returns true if the message was not in this state before. */
    setRead: (seq: number, isRead: boolean): boolean =>
      setRead.run(Number(isRead), seq, Number(isRead)).changes > 0,

    /** Part of a change. */
    setPinned: (seq: number, isPinned: boolean): void => void setPinned.run(Number(isPinned), seq),

    /** Part of a change. */
    setTags: (seq: number, tags: readonly string[]): void =>
      void setTags.run(JSON.stringify(sortedTags([...new Set(tags)])), seq),

    /**
     * Part of a change: stores what the parser found, except in the index of texts. Returns false if
     * the message was removed.
     */
    setParsed(seq: number, parsed: ParsedMessage): boolean {
      const { attachments, inlines } = listedMembers(parsed);
      const columns = { ...parsedColumns(parsed), seq, attachments, inlines };
      const { changes } = setParsed.run(columns);
      if (changes === 0) return false;
      insertText(seq, parsed);
      for (const part of parsed.parts)
        insertPart.run({ ...part, isInline: Number(part.isInline), seq });
      return true;
    },

    /** Part of a change: stores the texts of a message that searches compare. */
    insertText,

    /**
     * Part of a change: adds the texts of messages to the index that it has passed already, after
     * all other writes.
     */
    addPassedToIndex: index.addPassed,

    /** Part of a change: the parser failed. The message stays, and is shown raw. */
    setUnreadable: (seq: number, reason: string): boolean =>
      setUnreadable.run(reason, seq).changes > 0,

    /** Part of a change. */
    remove: (seq: number): void => removeAll([seq]),

    /** Part of a change. */
    removeAll,
  };
}

type TextColumns = SearchFields & {
  seq: number;
  text: string;
  rest: Uint8Array | null;
  signature: Uint8Array | null;
};

type PartRest = { seq: number; isInline: number };

type PartCounts = { seq: number; attachments: number; inlines: number };
