/** The queue's rows: where mails wait, who is first there, and how they are taken or moved. */

import type { Db } from "../db/open.ts";
import type { DueShift } from "../lib/steady-clock.ts";
import { NO_LINE } from "./lines.ts";

/** One that is SENDING. */
export type Campaign = {
  key: number;
  projectSeq: number;
  /** Mails per second; null: no limit of its own. */
  rate: number | null;
};

/** A mail that is due. */
export type Candidate = {
  seq: number;
  to: string | null;
  attempts: number;
  priority: number;
  dueAt: number;
  /** When its lifetime began (retry.ts). */
  since: number;
};

/** A project or campaign within a line. */
type Place = { line: string; key: number };
type Find = Place & { now: number; limit: number };

/** Word for word as in the index of the queue. */
const TRANSACTIONAL = "campaign_seq IS NULL AND next_at IS NOT NULL";

/*
 * The plus signs: SQLite plans with the values that are bound to a bare `= ?`, `<= ?` or `LIMIT ?`,
 * and so prepares the whole statement anew each time, for ten times its price. It does not look
 * behind a sign.
 */

export function prepareQueue({ sqlite }: Db) {
  const findTransactional = sqlite.prepare<Candidate, [Find]>(
    findSql("campaign_seq IS NULL AND line = +$line AND project_seq = +$key"),
  );
  const findOfCampaign = sqlite.prepare<Candidate, [Find]>(
    findSql("line = +$line AND campaign_seq = +$key"),
  );
  const take = sqlite.prepare<unknown, [number, number]>(`
    UPDATE emails SET status = 'SENDING', attempts = attempts + 1, line = '', next_at = ?
    WHERE seq = +?`);
  const move = sqlite.prepare<unknown, [string, number]>(`
    UPDATE emails SET line = ? WHERE seq = +?`);
  const nextProject = sqlite.prepare<{ key: number | null }, [Place]>(`
    SELECT min(project_seq) AS key FROM emails
    WHERE ${TRANSACTIONAL} AND status = 'QUEUED' AND line = +$line AND project_seq > +$key`);
  const dueInProject = sqlite.prepare<{ at: number | null }, [Place]>(`
    SELECT min(next_at) AS at FROM emails
    WHERE ${TRANSACTIONAL} AND status = 'QUEUED' AND line = +$line AND project_seq = +$key`);
  const dueInCampaign = sqlite.prepare<{ at: number | null }, [Place]>(`
    SELECT min(next_at) AS at FROM emails
    WHERE campaign_seq = +$key AND status = 'QUEUED' AND line = +$line AND next_at IS NOT NULL`);
  const nextLine = sqlite.prepare<{ line: string | null }, [string]>(`
    SELECT min(line) AS line FROM emails
    WHERE ${TRANSACTIONAL} AND status = 'QUEUED' AND line > +?`);
  const nextLineInCampaign = sqlite.prepare<{ line: string | null }, [Place]>(`
    SELECT min(line) AS line FROM emails
    WHERE campaign_seq = +$key AND status = 'QUEUED' AND line > +$line AND next_at IS NOT NULL`);
  const findInLine = sqlite.prepare<{ yes: number }, [string]>(`
    SELECT 1 AS yes FROM emails WHERE ${TRANSACTIONAL} AND status = 'QUEUED' AND line = +? LIMIT 1`);
  const findUnfinished = sqlite.prepare<{ key: number }, []>(
    "SELECT seq AS key FROM campaigns WHERE status IN ('SENDING', 'PAUSED')",
  );
  const findDisabled = sqlite.prepare<{ seq: number }, []>(
    "SELECT seq FROM projects WHERE is_enabled = 0",
  );
  // Its first condition is that of the index, word for word.
  const findCampaigns = sqlite.prepare<Campaign, []>(`
    SELECT seq AS key, project_seq AS projectSeq, rate FROM campaigns
    WHERE status IN ('SENDING', 'PAUSED') AND status = 'SENDING'`);
  const giveBack = sqlite.prepare<{ seq: number }, []>(`
    UPDATE emails SET status = 'QUEUED' WHERE ${TRANSACTIONAL} AND status = 'SENDING' RETURNING seq`);
  const shiftTransactional = sqlite.prepare<unknown, [DueShift]>(`
    UPDATE emails SET next_at = next_at + $byMs
    WHERE ${TRANSACTIONAL} AND status IN ('QUEUED', 'SENDING') AND next_at > +$after`);
  const shiftOfCampaigns = sqlite.prepare<unknown, [DueShift]>(`
    UPDATE emails SET next_at = next_at + $byMs
    WHERE campaign_seq IN (SELECT seq FROM campaigns WHERE status IN ('SENDING', 'PAUSED'))
      AND status IN ('QUEUED', 'SENDING') AND next_at IS NOT NULL AND next_at > +$after`);
  const giveBackOfCampaigns = sqlite.prepare<{ seq: number }, []>(`
    UPDATE emails SET status = 'QUEUED'
    WHERE campaign_seq IN (SELECT seq FROM campaigns) AND status = 'SENDING' AND next_at IS NOT NULL
    RETURNING seq`);

  return {
    findTransactional,
    findOfCampaign,
    take,
    move,
    nextProject,
    dueInProject,
    dueInCampaign,
    findDisabled,
    findCampaigns,

    /** All in which mail waits, found by skipping from one to the next. */
    *lines(): Generator<string> {
      yield* skipping((line) => nextLine.get(line)?.line);
      for (const { key } of findUnfinished.all()) {
        yield* skipping((line) => nextLineInCampaign.get({ line, key })?.line);
      }
    },

    /** Mail of what is paused or disabled included. */
    hasMail(line: string): boolean {
      const waits = ({ key }: { key: number }) =>
        (dueInCampaign.get({ line, key })?.at ?? null) !== null;
      return findInLine.get(line) !== null || findUnfinished.all().some(waits);
    },

    /** Part of a change. Nothing but mail that waits or is under way is read. */
    shift(shift: DueShift): void {
      shiftTransactional.run(shift);
      shiftOfCampaigns.run(shift);
    },

    /** Part of a change: whatever is SENDING is QUEUED again; how many those were. */
    giveBack: (): number => giveBack.all().length + giveBackOfCampaigns.all().length,
  };
}

function* skipping(next: (line: string) => string | null | undefined): Generator<string> {
  for (let line = next(NO_LINE); typeof line === "string"; line = next(line)) yield line;
}

/** Campaign mail: its lifetime begins with it (retry.ts). */
const FIRST_TRY = "(SELECT min(started_at) FROM attempts WHERE email_seq = emails.seq)";

function findSql(lane: string): string {
  return `
    SELECT seq, to_address AS "to", attempts, priority, next_at AS dueAt,
           CASE WHEN priority = 0 THEN created_at WHEN attempts = 0 THEN $now
                ELSE coalesce(${FIRST_TRY}, $now) END AS since
    FROM emails
    WHERE status = 'QUEUED' AND ${lane} AND next_at <= +$now
    ORDER BY next_at LIMIT +$limit`;
}
