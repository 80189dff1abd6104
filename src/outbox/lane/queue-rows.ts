/**
 * SQL of the queue as a whole: which projects, campaigns and wait lists have mail, when it is due,
 * and the changes of all mails at once. rows.ts explains the plus signs.
 */

import type { Db } from "../../db/open.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { stateAfter } from "../states.ts";
import { NO_WAIT_LIST } from "./wait-lists.ts";

/** A campaign that is SENDING. */
export type Campaign = {
  key: number;
  projectSeq: number;
  /** Mails per second; null if it has no rate of its own. */
  rate: number | null;
};

/** A project or campaign (`key`) within a wait list (`line`, as the column is called). */
export type InList = { line: string; key: number };

/** A mail that waits for the time that its sender chose, which stays the same if the clock is set. */
const IS_SCHEDULED = "(scheduled_at IS NOT NULL AND attempts = 0)";
/** SQLite uses the queue's partial index only if these conditions are written as in the index. */
const TRANSACTIONAL = "campaign_seq IS NULL AND next_at IS NOT NULL";

export function prepareQueue({ sqlite }: Db) {
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

  return {
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
  };
}

function* skipping(next: (line: string) => string | null | undefined): Generator<string> {
  for (let line = next(NO_WAIT_LIST); typeof line === "string"; line = next(line)) yield line;
}

/** Changes of all mails in the queue: after a restart, and after the clock was set. */
export function prepareBulkChanges({ sqlite }: Db) {
  const returnTransactional = sqlite.prepare<{ seq: number }, []>(`
    UPDATE emails SET status = ${stateAfter("requeue")}
    WHERE ${TRANSACTIONAL} AND status = 'SENDING' RETURNING seq`);
  const returnOfCampaigns = sqlite.prepare<{ seq: number }, []>(`
    UPDATE emails SET status = ${stateAfter("requeue")}
    WHERE campaign_seq IN (SELECT seq FROM campaigns) AND status = 'SENDING' AND next_at IS NOT NULL
    RETURNING seq`);
  const shiftTransactional = sqlite.prepare<unknown, [DueShift]>(`
    UPDATE emails SET next_at = next_at + $byMs
    WHERE ${TRANSACTIONAL} AND status IN ('QUEUED', 'SENDING') AND next_at > +$after
      AND NOT ${IS_SCHEDULED}`);
  const shiftOfCampaigns = sqlite.prepare<unknown, [DueShift]>(`
    UPDATE emails SET next_at = next_at + $byMs
    WHERE campaign_seq IN (SELECT seq FROM campaigns WHERE status IN ('SENDING', 'PAUSED'))
      AND status IN ('QUEUED', 'SENDING') AND next_at IS NOT NULL AND next_at > +$after`);

  return {
    /** Change: all SENDING mails become QUEUED; returns their number. */
    returnLeases: (): number => returnTransactional.all().length + returnOfCampaigns.all().length,

    /** Change: reads only mail that is QUEUED or SENDING. */
    shift(shift: DueShift): void {
      shiftTransactional.run(shift);
      shiftOfCampaigns.run(shift);
    },
  };
}
