/**
 * Finds the suppressions that match a filter, with their exact number. The entries of the project are
 * read in slices of a few milliseconds, newest first, because a project may have suppressed as many
 * addresses as it has contacts. One project has at most `MAX_SCANS` scans at the same time.
 */

import type { Db } from "../../db/open.ts";
import { createOwnerQueues } from "../../lib/owner-queues.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { startSlices } from "../../lib/slices.ts";

type SuppressionFilter = {
  /**
   * A part of an address in the spellings in which it may be stored, one of which must occur. Null
   * for any address.
   */
  part: readonly [spelling: string, other: string] | null;
  /** Null for any reason. */
  reason: string | null;
};

/** `total` counts all matches; `seqs` has the newest ones before `before`, newest first. */
type Found = { total: number; seqs: number[] };

type Position = { before: number; limit: number };

/** Entries that one statement compares, about a millisecond of work. */
const STEP = 2_048;
const MAX_SCANS = 2;

export function createSuppressionSearch({ db, scheduler }: { db: Db; scheduler: FairScheduler }) {
  const { sqlite } = db;
  const queues = createOwnerQueues(MAX_SCANS);
  const ofProject = `
    FROM suppressions INDEXED BY suppressions_page WHERE project_seq = +?1 AND seq < +?2`;
  // The last of the next STEP entries.
  const findEnd = sqlite.prepare<{ seq: number }, [number, number]>(
    `SELECT seq ${ofProject} ORDER BY seq DESC LIMIT 1 OFFSET ${STEP - 1}`,
  );
  const countAll = sqlite.prepare<{ total: number }, [number, number, number]>(
    `SELECT count(*) AS total ${ofProject} AND seq >= +?3`,
  );
  const matching = `
    ${ofProject} AND seq >= +?3
      AND (?4 IS NULL OR instr(email, ?4) > 0 OR instr(email, ?5) > 0)
      AND (?6 IS NULL OR reason = ?6)`;
  type Values = [number, number, number, string | null, string | null, string | null];
  const findMatches = sqlite.prepare<{ seq: number }, Values>(
    `SELECT seq ${matching} ORDER BY seq DESC`,
  );
  const countMatches = sqlite.prepare<{ total: number }, Values>(
    `SELECT count(*) AS total ${matching}`,
  );

  async function scan(
    projectSeq: number,
    { part, reason }: SuppressionFilter,
    { before, limit }: Position,
  ): Promise<Found> {
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    const isFiltered = part !== null || reason !== null;
    const [spelling = null, other = null] = part ?? [];
    const seqs: number[] = [];
    let total = 0;
    let start = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const end = findEnd.get(projectSeq, start)?.seq ?? null;
      const from = end ?? 0;
      const values = [projectSeq, start, from, spelling, other, reason] as const;
      // After the page is complete, the other entries are only counted.
      if (seqs.length >= limit) {
        const counted = isFiltered
          ? countMatches.get(...values)
          : countAll.get(projectSeq, start, from);
        total += counted?.total ?? 0;
      } else {
        const found = findMatches.all(...values);
        total += found.length;
        const wanted = found.filter(({ seq }) => seq < before).map(({ seq }) => seq);
        seqs.push(...wanted.slice(0, limit - seqs.length));
      }
      if (end === null) return { total, seqs };
      start = end;
      if (slices.isOver()) await slices.next();
    }
  }

  return (projectSeq: number, filter: SuppressionFilter, position: Position): Promise<Found> =>
    queues.run(projectSeq, () => scan(projectSeq, filter, position));
}
