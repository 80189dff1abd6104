/** Removes old messages that the capture transport stored. */

import type { Db } from "../db/open.ts";
import type { Purge } from "../db/purge.ts";

type Row = { seq: number; createdAt: number };

/** Rows of one query; few, because a message may be large. */
const PAGE = 50;

export function createRawPurge({ sqlite }: Db): Purge {
  const oldest = sqlite.prepare<Row, [number]>(`
    SELECT c.email_seq AS seq, e.created_at AS createdAt
    FROM captured_messages c JOIN emails e ON e.seq = c.email_seq
    ORDER BY c.email_seq LIMIT ?`);
  const drop = sqlite.prepare<unknown, [number]>(
    "DELETE FROM captured_messages WHERE email_seq = ?",
  );

  return (before, hasTime) => {
    const rows = oldest.all(PAGE);
    const old = rows.filter(({ createdAt }) => createdAt < before);
    for (const { seq } of old) {
      if (!hasTime()) return true;
      drop.run(seq);
    }
    return old.length === PAGE;
  };
}
