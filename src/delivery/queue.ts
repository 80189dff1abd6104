/**
 * The queue is the emails table: QUEUED rows with a due time. Leasing turns rows SENDING and sets
 * the time at which they are due again if this process dies, so a crash never re-sends at once.
 */

import type { Db } from "../db/open.ts";

/** The lease: a settlement counts only if the row still has this number of attempts. */
export type Lease = { seq: number; attempts: number };

export type Queue = {
  /** Part of a change: takes up to `limit` due mails, transactional ones first. */
  lease(limit: number, now: number): Lease[];
  /** When the next mail is due; null if none waits. */
  nextDueAt(): number | null;
  /** Part of a change: mails that an earlier process was sending wait for their time again. */
  returnLeases(): number;
};

/** 0 transactional, 1 campaign. */
const PRIORITIES = [0, 1] as const;

/** Due again this long after a lease that was never settled; doubles with each attempt. */
const ORPHAN_DELAY_MS = 30_000;
const MOST_DOUBLINGS = 9;

/*
 * The plus signs: SQLite plans with the values that are bound to a bare `= ?`, `<= ?` or `LIMIT ?`,
 * and so prepares the whole statement anew each time, for ten times its price. It does not look
 * behind a sign.
 */

export function createQueue({ sqlite }: Db): Queue {
  const lease = sqlite.prepare<
    Lease,
    [{ now: number; priority: number; limit: number; delay: number; doublings: number }]
  >(`
    UPDATE emails
    SET status = 'SENDING', attempts = attempts + 1,
        next_at = $now + $delay * (1 << min(attempts, $doublings))
    WHERE seq IN (
      SELECT seq FROM emails
      WHERE status = 'QUEUED' AND priority = +$priority AND next_at <= +$now
      ORDER BY next_at LIMIT +$limit)
    RETURNING seq, attempts`);
  const earliest = sqlite.prepare<{ at: number | null }, [number]>(`
    SELECT min(next_at) AS at FROM emails
    WHERE status = 'QUEUED' AND priority = +? AND next_at IS NOT NULL`);
  const giveBack = sqlite.prepare<{ seq: number }, []>(`
    UPDATE emails SET status = 'QUEUED'
    WHERE status = 'SENDING' AND next_at IS NOT NULL RETURNING seq`);

  return {
    lease(limit, now) {
      const taken: Lease[] = [];
      for (const priority of PRIORITIES) {
        const left = limit - taken.length;
        if (left === 0) break;
        const leases = lease.all({
          now,
          priority,
          limit: left,
          delay: ORPHAN_DELAY_MS,
          doublings: MOST_DOUBLINGS,
        });
        // RETURNING names no order.
        taken.push(...leases.sort((a, b) => a.seq - b.seq));
      }
      return taken;
    },
    nextDueAt() {
      const times = PRIORITIES.flatMap((priority) => earliest.get(priority)?.at ?? []);
      return times.length === 0 ? null : Math.min(...times);
    },
    returnLeases: () => giveBack.all().length,
  };
}
