/** SQL of the queue: finds due mail, leases it, and moves it between wait lists. */

import type { Db } from "../db/open.ts";
import { stateAfter } from "./states.ts";
import type { DueShift } from "../lib/steady-clock.ts";
import { NO_WAIT_LIST } from "./wait-lists.ts";

/** A campaign that is SENDING. */
export type Campaign = {
  key: number;
  projectSeq: number;
  /** Mails per second; null if it has no rate of its own. */
  rate: number | null;
};

/** A mail that is due. */
export type Candidate = {
  seq: number;
  to: string | null;
  attempts: number;
  priority: number;
  dueAt: number;
  /** Start of its lifetime (retry.ts). */
  since: number;
};

/** A project or campaign (`key`) within a wait list (`line`, as the column is called). */
type InList = { line: string; key: number };
type Find = InList & { now: number; limit: number };

/** SQLite uses the queue's partial index only if these conditions are written as in the index. */
const TRANSACTIONAL = "campaign_seq IS NULL AND next_at IS NOT NULL";

/*
 * Why there are plus signs: SQLite uses the values bound to a bare `= ?`, `<= ?` or `LIMIT ?` for
 * its query plan, and therefore prepares the whole statement again each time, which takes ten times
 * as long. It does not do so for an expression such as `+?`.
 */

export type QueueRows = ReturnType<typeof prepareQueue>;

export function prepareQueue({ sqlite }: Db) {
  const findTransactional = sqlite.prepare<Candidate, [Find]>(
    findSql("campaign_seq IS NULL AND line = +$line AND project_seq = +$key"),
  );
  const findOfCampaign = sqlite.prepare<Candidate, [Find]>(
    findSql("line = +$line AND campaign_seq = +$key"),
  );
  const lease = sqlite.prepare<unknown, [number, number]>(`
    UPDATE emails SET status = ${stateAfter("lease")}, attempts = attempts + 1, line = '', next_at = ?
    WHERE seq = +?`);
  const move = sqlite.prepare<unknown, [string, number]>(`
    UPDATE emails SET line = ? WHERE seq = +?`);
  const nextProject = sqlite.prepare<{ key: number | null }, [InList]>(`
    SELECT min(project_seq) AS key FROM emails
    WHERE ${TRANSACTIONAL} AND status = 'QUEUED' AND line = +$line AND project_seq > +$key`);
  const dueInProject = sqlite.prepare<{ at: number | null }, [InList]>(`
    SELECT min(next_at) AS at FROM emails
    WHERE ${TRANSACTIONAL} AND status = 'QUEUED' AND line = +$line AND project_seq = +$key`);
  const dueInCampaign = sqlite.prepare<{ at: number | null }, [InList]>(`
    SELECT min(next_at) AS at FROM emails
    WHERE campaign_seq = +$key AND status = 'QUEUED' AND line = +$line AND next_at IS NOT NULL`);
  const nextLine = sqlite.prepare<{ line: string | null }, [string]>(`
    SELECT min(line) AS line FROM emails
    WHERE ${TRANSACTIONAL} AND status = 'QUEUED' AND line > +?`);
  const nextLineInCampaign = sqlite.prepare<{ line: string | null }, [InList]>(`
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
  // The first condition must be written as in the index.
  const findCampaigns = sqlite.prepare<Campaign, []>(`
    SELECT seq AS key, project_seq AS projectSeq, rate FROM campaigns
    WHERE status IN ('SENDING', 'PAUSED') AND status = 'SENDING'`);
  const returnLeases = sqlite.prepare<{ seq: number }, []>(`
    UPDATE emails SET status = ${stateAfter("requeue")}
    WHERE ${TRANSACTIONAL} AND status = 'SENDING' RETURNING seq`);
  const shiftTransactional = sqlite.prepare<unknown, [DueShift]>(`
    UPDATE emails SET next_at = next_at + $byMs
    WHERE ${TRANSACTIONAL} AND status IN ('QUEUED', 'SENDING') AND next_at > +$after`);
  const shiftOfCampaigns = sqlite.prepare<unknown, [DueShift]>(`
    UPDATE emails SET next_at = next_at + $byMs
    WHERE campaign_seq IN (SELECT seq FROM campaigns WHERE status IN ('SENDING', 'PAUSED'))
      AND status IN ('QUEUED', 'SENDING') AND next_at IS NOT NULL AND next_at > +$after`);
  const returnLeasesOfCampaigns = sqlite.prepare<{ seq: number }, []>(`
    UPDATE emails SET status = ${stateAfter("requeue")}
    WHERE campaign_seq IN (SELECT seq FROM campaigns) AND status = 'SENDING' AND next_at IS NOT NULL
    RETURNING seq`);

  return {
    findTransactional,
    findOfCampaign,
    lease,
    move,
    nextProject,
    dueInProject,
    dueInCampaign,
    findDisabled,
    findCampaigns,

    /** All wait lists with mail, found by skipping from one to the next. */
    *waitLists(): Generator<string> {
      yield* skipping((line) => nextLine.get(line)?.line);
      for (const { key } of findUnfinished.all()) {
        yield* skipping((line) => nextLineInCampaign.get({ line, key })?.line);
      }
    },

    /** Includes the mail of paused campaigns and disabled projects. */
    hasMail(line: string): boolean {
      const hasMailOf = ({ key }: { key: number }) =>
        (dueInCampaign.get({ line, key })?.at ?? null) !== null;
      return findInLine.get(line) !== null || findUnfinished.all().some(hasMailOf);
    },

    /** Change: reads only mail that is QUEUED or SENDING. */
    shift(shift: DueShift): void {
      shiftTransactional.run(shift);
      shiftOfCampaigns.run(shift);
    },

    /** Change: all SENDING mails become QUEUED; returns their number. */
    returnLeases: (): number => returnLeases.all().length + returnLeasesOfCampaigns.all().length,
  };
}

function* skipping(next: (line: string) => string | null | undefined): Generator<string> {
  for (let line = next(NO_WAIT_LIST); typeof line === "string"; line = next(line)) yield line;
}

/** The lifetime of campaign mail begins with its first attempt (retry.ts). */
const FIRST_ATTEMPT_AT = "(SELECT min(started_at) FROM attempts WHERE email_seq = emails.seq)";

function findSql(flow: string): string {
  return `
    SELECT seq, to_address AS "to", attempts, priority, next_at AS dueAt,
           CASE WHEN priority = 0 THEN created_at WHEN attempts = 0 THEN $now
                ELSE coalesce(${FIRST_ATTEMPT_AT}, $now) END AS since
    FROM emails
    WHERE status = 'QUEUED' AND ${flow} AND next_at <= +$now
    ORDER BY next_at LIMIT +$limit`;
}
