/** The mails that have not left, for the list of the operator. */

import type { App } from "../core/app.ts";
import type { Db } from "../db/open.ts";
import { NO_OWNER } from "../db/reader.ts";

export type HeldMail = {
  id: string;
  project: string;
  to: string | null;
  subject: string;
  source: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
};

/** The first `limit` mails of all projects that have not left, the oldest first. */
export function listHeldMails({ sqlite }: Pick<Db, "sqlite">, limit: number): HeldMail[] {
  return sqlite
    .query<HeldMail, [number]>(
      `SELECT emails.id, projects.name AS project, to_address AS "to", subject, source,
              emails.created_at AS createdAt
       FROM emails JOIN projects ON projects.seq = emails.project_seq
       WHERE next_at IS NOT NULL ORDER BY emails.seq LIMIT ?`,
    )
    .all(limit);
}

/** The upper limits of ages, with their names. */
const AGES = [
  { name: "under 1 hour", belowMs: 3_600_000 },
  { name: "1 to 24 hours", belowMs: 86_400_000 },
  { name: "1 to 7 days", belowMs: 604_800_000 },
  { name: "over 7 days", belowMs: Infinity },
] as const;

type AgeCount = { age: string; mails: number };

/** The number of mails that have not left, by the time since they were accepted. */
export function countHeldMails({ sqlite }: Pick<Db, "sqlite">, now: number): AgeCount[] {
  const counts = AGES.map(({ name: age }) => ({ age, mails: 0 }));
  const count = sqlite.query<{ mails: number }, [number, number]>(
    `SELECT count(*) AS mails FROM emails
     WHERE next_at IS NOT NULL AND created_at > ? AND created_at <= ?`,
  );
  let newest = Number.MAX_SAFE_INTEGER;
  for (const [i, { belowMs }] of AGES.entries()) {
    const oldest = belowMs === Infinity ? -1 : now - belowMs;
    const counted = counts[i];
    if (counted !== undefined) counted.mails = count.get(oldest, newest)?.mails ?? 0;
    newest = oldest;
  }
  return counts;
}

/** The number of mails that wait and were accepted before a time. */
export function countMailsBefore({ sqlite }: Pick<Db, "sqlite">, before: number): number {
  const count = `SELECT count(*) AS mails FROM emails
                 WHERE next_at IS NOT NULL AND created_at < ?`;
  return sqlite.query<{ mails: number }, [number]>(count).get(before)?.mails ?? 0;
}

/**
 * The time at which the first transactional mail of all projects is or was due; null if none waits.
 * Mail that waits for a site or for a slot of one is left out. Read in a thread, because it looks at
 * every project.
 */
export async function firstTransactionalDueAt({
  reader,
}: Pick<App, "reader">): Promise<number | null> {
  const { rows } = await reader.find(NO_OWNER, {
    sql: `SELECT min((
            SELECT min(next_at) FROM emails
            WHERE campaign_seq IS NULL AND next_at IS NOT NULL AND status = 'QUEUED' AND line = ''
              AND project_seq = projects.seq))
          FROM projects WHERE in_time() AND is_enabled = 1`,
    values: [],
  });
  const dueAt = rows[0]?.[0];
  return typeof dueAt === "number" ? dueAt : null;
}
