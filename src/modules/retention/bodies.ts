/**
 * Bodies of mail that left long ago: variables of each mail, and what mails share (body source,
 * headers, attachments) once the last of them is old. The records stay, with sender, subject and
 * attempts, and so do the links in the mail.
 *
 * A pass goes through the mails by `seq`, which is their age. What still waits to be sent is passed
 * by and looked at again in the next pass, which begins at the mark: all up to it is done.
 */

import type { Db } from "../../db/open.ts";
import type { Purge } from "./purge.ts";

type Row = {
  seq: number;
  messageSeq: number;
  createdAt: number;
  isQueued: number;
  hasVariables: number;
};

/** Rows read at once. */
const PAGE = 100;

/** One pass. */
export function createBodyPurge({ sqlite }: Db): Purge {
  const readMark = sqlite.prepare<{ seq: number }, []>(
    "SELECT seq FROM purge_marks WHERE name = 'bodies'",
  );
  const writeMark = sqlite.prepare<unknown, [number]>(`
    INSERT INTO purge_marks (name, seq) VALUES ('bodies', ?)
    ON CONFLICT (name) DO UPDATE SET seq = excluded.seq`);
  const readPage = sqlite.prepare<Row, [number, number]>(`
    SELECT seq, message_seq AS messageSeq, created_at AS createdAt,
           next_at IS NOT NULL AS isQueued, variables IS NOT NULL AS hasVariables
    FROM emails WHERE seq > ? ORDER BY seq LIMIT ?`);
  const clearVariables = sqlite.prepare<unknown, [number]>(
    "UPDATE emails SET variables = NULL WHERE seq = ?",
  );
  const newestOf = sqlite.prepare<{ seq: number | null }, [number]>(
    "SELECT max(seq) AS seq FROM emails WHERE message_seq = ?",
  );
  // Under its old digest the message would be found again, and sent empty.
  const clearMessage = sqlite.prepare<{ hadAttachments: number }, [number]>(`
    UPDATE messages SET html = '', headers = '[]', digest = 'purged ' || seq
    WHERE seq = ? AND digest NOT LIKE 'purged %' RETURNING has_attachments AS hadAttachments`);
  const dropAttachments = sqlite.prepare<{ digest: string }, [number]>(
    "DELETE FROM message_attachments WHERE message_seq = ? RETURNING content_digest AS digest",
  );
  const dropContent = sqlite.prepare<unknown, [string]>(`
    DELETE FROM attachment_contents WHERE digest = ?1
      AND NOT EXISTS (SELECT 1 FROM message_attachments WHERE content_digest = ?1)`);

  /** Where the pass is; null before it begins. */
  let position: number | null = null;
  /** Messages of mails that this pass met waiting. */
  const needed = new Set<number>();
  let isPassClean = true;

  function clear({ seq, messageSeq, hasVariables }: Row): void {
    if (hasVariables === 1) clearVariables.run(seq);
    // The pass comes to the newest last: all the others are old as well.
    if (newestOf.get(messageSeq)?.seq !== seq || needed.has(messageSeq)) return;
    if (clearMessage.get(messageSeq)?.hadAttachments !== 1) return;
    for (const { digest } of dropAttachments.all(messageSeq)) dropContent.run(digest);
  }

  function passBy({ seq, messageSeq, isQueued }: Row): void {
    if (isQueued === 1) {
      needed.add(messageSeq);
      isPassClean = false;
    }
    position = seq;
  }

  return (before, hasTime) => {
    position ??= readMark.get()?.seq ?? 0;
    const start = position;
    let isOver = false;
    while (hasTime() && !isOver) {
      const page = readPage.all(position, PAGE);
      isOver = page.length === 0;
      for (const row of page) {
        isOver = row.createdAt >= before;
        if (isOver || !hasTime()) break;
        if (row.isQueued === 0) clear(row);
        passBy(row);
      }
    }
    if (isPassClean && position > start) writeMark.run(position);
    return !isOver;
  };
}
