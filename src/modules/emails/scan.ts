/**
 * Searches mails newest first, by an index and in slices, so that other work of the event loop runs
 * in between. It first fills the page and counts the older mails that match, and then counts those
 * that are newer than the page.
 *
 * A search has a time limit, because the mails of ten million take many seconds. At the limit it
 * returns what it has found. The total is then unknown, and a page that is not full names the `seq`
 * at which the search stopped.
 */

import type { Db } from "../../db/open.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SliceQueue } from "../../lib/slice-queue.ts";
import { startSlices } from "../../lib/slices.ts";

type Value = string | number;
/** An SQL condition on `emails e` with the values that are bound to it. */
export type Criterion = { sql: string; values: readonly Value[] };
/** The mails to scan: a condition of equality on the columns of an index before its `seq`. */
export type MailSource = Criterion & { index: string };

type Search = {
  source: MailSource;
  criteria: readonly Criterion[];
  /** True for a subject that is searched for; null if all subjects match. */
  isWanted: ((subject: string) => boolean) | null;
};

/** The page to return: the newest `limit` of the found mails whose `seq` is below `before`. */
export type PageBounds = { before: number; limit: number };

/**
 * `total` is null if the search stopped at its time limit. `stoppedAt` is the smallest `seq` that
 * was searched if the page may be incomplete.
 */
export type FoundEmails = { seqs: number[]; total: number | null; stoppedAt: number | null };

/** Rows of one statement: a fifth of a millisecond, and few enough if they are read from a disk. */
const STEP = 200;
/** Longest time of a search, in milliseconds. */
const LIMIT_MS = 2_000;
const NEWEST = Number.MAX_SAFE_INTEGER;

export function createScan({ db, clock }: { db: Db; clock: Pick<Clock, "elapsed"> }) {
  const { sqlite } = db;

  /** Prepares the statements of a search over the mails with `end <= seq < start`. */
  function statementsOf({ source, criteria, isWanted }: Search) {
    const rows = `FROM emails e INDEXED BY ${source.index} WHERE ${source.sql} AND e.seq < +?`;
    const matching = ["e.seq >= +?", ...criteria.map(({ sql }) => sql)].join(" AND ");
    const values = criteria.flatMap((criterion) => criterion.values);
    const findEnd = sqlite.query<{ seq: number }, Value[]>(
      `SELECT e.seq ${rows} ORDER BY e.seq DESC LIMIT 1 OFFSET ${STEP - 1}`,
    );
    const count = sqlite.query<{ total: number }, Value[]>(
      `SELECT count(*) AS total ${rows} AND ${matching}`,
    );
    const find = sqlite.query<{ seq: number; subject: string }, Value[]>(
      `SELECT e.seq, ${isWanted === null ? "''" : "e.subject"} AS subject ${rows} AND ${matching}
       ORDER BY e.seq DESC`,
    );

    function seqsIn(start: number, end: number): number[] {
      const found = find.all(...source.values, start, end, ...values);
      const wanted = isWanted === null ? found : found.filter(({ subject }) => isWanted(subject));
      return wanted.map(({ seq }) => seq);
    }

    return {
      /** The end of the step that begins below `start`. */
      endBelow: (start: number) => findEnd.get(...source.values, start)?.seq ?? 0,
      seqsIn,
      countIn(start: number, end: number): number {
        if (isWanted !== null) return seqsIn(start, end).length;
        return count.get(...source.values, start, end, ...values)?.total ?? 0;
      },
    };
  }

  return async function scan(
    search: Search,
    { before, limit }: PageBounds,
    sliceQueue: SliceQueue,
  ): Promise<FoundEmails> {
    const { endBelow, seqsIn, countIn } = statementsOf(search);
    const stopsAt = clock.elapsed() + LIMIT_MS;
    const slices = await startSlices(sliceQueue);
    const seqs: number[] = [];
    let total = 0;

    /** Searches below `start`, down to `least`. Returns where it ended: at `least` or at the limit. */
    async function searchDown(start: number, least: number): Promise<number> {
      for (let last = start; ;) {
        const end = Math.max(endBelow(last), least);
        if (seqs.length < limit && last <= before) {
          const found = seqsIn(last, end);
          total += found.length;
          seqs.push(...found.slice(0, limit - seqs.length));
        } else total += countIn(last, end);
        if (end === least || clock.elapsed() >= stopsAt) return end;
        last = end;
        if (slices.isOver()) await slices.next();
      }
    }

    const end = await searchDown(before, 0);
    if (end > 0) return { seqs, total: null, stoppedAt: seqs.length < limit ? end : null };
    const isComplete = before === NEWEST || (await searchDown(NEWEST, before)) === before;
    return { seqs, total: isComplete ? total : null, stoppedAt: null };
  };
}
