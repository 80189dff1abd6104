/**
 * Removes the bodies of old mail: the variables of each mail, and the content that mails share
 * (body source, headers, attachments, submitted message) once the newest of these mails is old. The
 * records stay, with sender, subject and attempts, and so do the links in the mail.
 *
 * A scan reads the mails by `seq`, in the order of their age. It skips mails that still wait to be
 * sent, and the next scan reads them again. It starts at the mark, before which all mails are done.
 */

import type { Db } from "../db/open.ts";
import { createPurgeMark, type ProjectScope, type Purge } from "../db/purge.ts";
import { LEAVING } from "./purge-recipients.ts";

type Row = {
  seq: number;
  messageSeq: number;
  createdAt: number;
  isQueued: number;
  hasVariables: number;
};

/** Rows of one query. */
const PAGE = 100;

const COLUMNS = `seq, message_seq AS messageSeq, created_at AS createdAt,
           next_at IS NOT NULL AS isQueued, variables IS NOT NULL AS hasVariables`;

/** The function that it returns creates the purge for one scan. */
export function createBodyPurges({ sqlite }: Db): (projectSeq: ProjectScope) => Purge {
  const pageOfAll = sqlite.prepare<Row, [number, number]>(
    `SELECT ${COLUMNS} FROM emails WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const pageOfProject = sqlite.prepare<Row, [number, number, number]>(`
    SELECT ${COLUMNS} FROM emails WHERE project_seq = +? AND seq > +? ORDER BY seq LIMIT +?`);
  const clearVariables = sqlite.prepare<unknown, [number]>(
    "UPDATE emails SET variables = NULL WHERE seq = ?",
  );
  const newestOf = sqlite.prepare<{ seq: number | null }, [number]>(
    "SELECT max(seq) AS seq FROM emails WHERE message_seq = ?",
  );
  // With its old digest, a new mail would reuse the purged message and be sent empty.
  const clearMessage = sqlite.prepare<{ hadAttachments: number }, [number]>(`
    UPDATE messages SET html = '', headers = '[]', text = NULL, digest = 'purged ' || seq,
                        recipients = iif(digest LIKE '${LEAVING} %', NULL, recipients)
    WHERE seq = ? AND digest NOT LIKE 'purged %' RETURNING has_attachments AS hadAttachments`);
  const dropAttachments = sqlite.prepare<{ digest: string }, [number]>(
    "DELETE FROM message_attachments WHERE message_seq = ? RETURNING content_digest AS digest",
  );
  const dropContent = sqlite.prepare<unknown, [string]>(`
    DELETE FROM attachment_contents WHERE digest = ?1
      AND NOT EXISTS (SELECT 1 FROM message_attachments WHERE content_digest = ?1)`);

  const dropPieces = sqlite.prepare<unknown, [number]>(
    "DELETE FROM message_pieces WHERE message_seq = ?",
  );

  return (projectSeq) => {
    const mark = createPurgeMark(sqlite, "bodies", projectSeq);
    const readPage = (after: number): Row[] =>
      projectSeq === null ? pageOfAll.all(after, PAGE) : pageOfProject.all(projectSeq, after, PAGE);
    /** Position of the scan; null before it starts. */
    let position: number | null = null;
    /** Messages of the skipped mails. */
    const needed = new Set<number>();
    let isWithoutGap = true;

    function clear({ seq, messageSeq, hasVariables }: Row): void {
      if (hasVariables === 1) clearVariables.run(seq);
      // The scan reaches the newest mail last, so all other mails of the message are old as well.
      if (newestOf.get(messageSeq)?.seq !== seq || needed.has(messageSeq)) return;
      const cleared = clearMessage.get(messageSeq);
      if (cleared === null) return;
      dropPieces.run(messageSeq);
      if (cleared.hadAttachments !== 1) return;
      for (const { digest } of dropAttachments.all(messageSeq)) dropContent.run(digest);
    }

    function advance({ seq, messageSeq, isQueued }: Row): void {
      if (isQueued === 1) {
        needed.add(messageSeq);
        isWithoutGap = false;
      }
      position = seq;
    }

    return (before, hasTime) => {
      position ??= mark.read();
      const start = position;
      let isOver = false;
      while (hasTime() && !isOver) {
        const page = readPage(position);
        isOver = page.length === 0;
        for (const row of page) {
          isOver = row.createdAt >= before;
          if (isOver || !hasTime()) break;
          if (row.isQueued === 0) clear(row);
          advance(row);
        }
      }
      if (isWithoutGap && position > start) mark.write(position);
      return !isOver;
    };
  };
}
