/**
 * Exact numbers of rows, counted in slices: counting a million entries of an index takes a tenth of
 * a second, for which no other work should wait.
 */

import { startSlices } from "../lib/slices.ts";
import type { FairScheduler } from "../lib/slice-queue.ts";
import type { Db } from "./open.ts";

/**
 * Rows of a table with the column `seq`. `from` names the table, the index whose entries are counted
 * and the condition, such as `mails INDEXED BY mails_state WHERE state = +?`. The index must have
 * the rows of the condition in the order of `seq`.
 */
export type CountedRows = { from: string; values: readonly (string | number)[] };

/** Counts in the queue of the project. */
export type SlicedCount = (projectSeq: number, rows: CountedRows) => Promise<number>;

/** Index entries of one step; counting them takes half a millisecond. */
const STEP = 5_000;

export function createSlicedCount(deps: { db: Db; scheduler: FairScheduler }): SlicedCount {
  const { sqlite } = deps.db;
  return async (projectSeq, { from, values }) => {
    // Finds the last entry of a step.
    const findEnd = sqlite.query<{ seq: number }, (string | number)[]>(
      `SELECT seq FROM ${from} AND seq > ? ORDER BY seq LIMIT 1 OFFSET ${STEP - 1}`,
    );
    const countRest = sqlite.query<{ total: number }, (string | number)[]>(
      `SELECT count(*) AS total FROM ${from} AND seq > ?`,
    );
    const slices = await startSlices(deps.scheduler.queueOf(projectSeq));
    let total = 0;
    let after = 0;
    for (;;) {
      const end = findEnd.get(...values, after);
      if (end === null) return total + (countRest.get(...values, after)?.total ?? 0);
      total += STEP;
      after = end.seq;
      if (slices.isOver()) await slices.next();
    }
  };
}
