/**
 * Removes old messages that the capture transport stored.
 *
 * The scan of one project reads its mails by `seq`, in the order of their age, from the mark on, before
 * which all mails are done. It skips mails that still wait to be sent, and the next scan reads them again.
 */

import type { Db } from "../db/open.ts";
import { createPurgeMark, type Purge } from "../db/purge.ts";

type Row = { seq: number; createdAt: number };
type MailRow = Row & { isQueued: number };

/** Rows of one query; few, because a message may be large. */
const PAGE = 50;
/** These rows have no message. */
const MAIL_PAGE = 100;

export function createRawPurges({ sqlite }: Db): (projectSeq: number | null) => Purge {
  const oldest = sqlite.prepare<Row, [number]>(`
    SELECT c.email_seq AS seq, e.created_at AS createdAt
    FROM captured_messages c JOIN emails e ON e.seq = c.email_seq
    ORDER BY c.email_seq LIMIT ?`);
  const mailsOfProject = sqlite.prepare<MailRow, [number, number, number]>(`
    SELECT seq, created_at AS createdAt, next_at IS NOT NULL AS isQueued
    FROM emails WHERE project_seq = +? AND seq > +? ORDER BY seq LIMIT +?`);
  const drop = sqlite.prepare<unknown, [number]>(
    "DELETE FROM captured_messages WHERE email_seq = ?",
  );

  const purgeAll: Purge = (before, hasTime) => {
    const rows = oldest.all(PAGE);
    const old = rows.filter(({ createdAt }) => createdAt < before);
    for (const { seq } of old) {
      if (!hasTime()) return true;
      drop.run(seq);
    }
    return old.length === PAGE;
  };

  function purgeOfProject(projectSeq: number): Purge {
    const mark = createPurgeMark(sqlite, "captured", projectSeq);
    /** Position of the scan; null before it starts. */
    let position: number | null = null;
    let isWithoutGap = true;

    return (before, hasTime) => {
      position ??= mark.read();
      const start = position;
      let isOver = false;
      while (hasTime() && !isOver) {
        const page = mailsOfProject.all(projectSeq, position, MAIL_PAGE);
        isOver = page.length === 0;
        for (const { seq, createdAt, isQueued } of page) {
          isOver = createdAt >= before;
          if (isOver || !hasTime()) break;
          if (isQueued === 0) drop.run(seq);
          else isWithoutGap = false;
          position = seq;
        }
      }
      if (isWithoutGap && position > start) mark.write(position);
      return !isOver;
    };
  }

  return (projectSeq) => (projectSeq === null ? purgeAll : purgeOfProject(projectSeq));
}
