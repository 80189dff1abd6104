/** The statements of one walk: where the next slice is, and what is in it. */

import type { Database } from "bun:sqlite";
import { bind, type Bound, type Fragment } from "./bind.ts";
import type { Audience, Plan } from "./plan.ts";

export type Order = "ascending" | "descending";

/** Values of `contacts.seq`; both ends belong to it. */
export type Range = { first: number; last: number };

export type Slices = {
  /** A stretch of `left` that is `width` wide and begins with a row to visit; null: none is left. */
  next(left: Range, width: number): Range | null;
  /** How many contacts belong, as one number, or their `seq` in order. */
  read(slice: Range): number[];
  close(): void;
};

/** Rows looked at to compare plans, and plans compared: a millisecond each. */
const ESTIMATE_LIMIT = 50_000;
const MOST_ESTIMATES = 8;

export function createSlices(
  sqlite: Database,
  audience: Audience,
  { yields, order }: { yields: "count" | "contacts"; order: Order },
): Slices {
  const plan = choosePlan(sqlite, audience);
  const { from, key, stretch } = plan;
  const isAscending = order === "ascending";
  const sorted = bind`ORDER BY ${key} ${isAscending ? bind`ASC` : bind`DESC`}`;
  const seek = prepare(
    sqlite,
    bind`SELECT ${key} FROM ${from} WHERE ${within(key)} AND ${stretch} ${sorted} LIMIT 1`,
  );
  const visit = prepare(
    sqlite,
    yields === "count"
      ? bind`SELECT count(*) FROM ${visited(plan, audience.projectSeq)}`
      : bind`SELECT ${key} FROM ${visited(plan, audience.projectSeq)} ${sorted}`,
  );

  return {
    next({ first, last }, width) {
      const [end] = seek.run({ first, last });
      if (end === undefined) return null;
      return isAscending
        ? { first: end, last: Math.min(last, end + width - 1) }
        : { first: Math.max(first, end - width + 1), last: end };
    },
    read: visit.run,
    close() {
      seek.close();
      visit.close();
    },
  };
}

/** Rows of the plan and, where more is asked of them, their contacts, in this order. */
function visited(plan: Plan, projectSeq: number): Fragment {
  const { from, key, stretch, filter, rest } = plan;
  const rows = bind`${within(key)} AND ${stretch} AND ${filter}`;
  if (!plan.isJoined) return bind`${from} WHERE ${rows} AND ${rest}`;
  return bind`${from} CROSS JOIN contacts WHERE ${rows}
    AND contacts.seq = ${key} AND +contacts.project_seq = ${projectSeq} AND ${rest}`;
}

/** The one that visits the fewest rows, as far as a look at the beginning of its index tells. */
function choosePlan(sqlite: Database, { whole, narrow }: Audience): Plan {
  const estimates = narrow
    .slice(0, MOST_ESTIMATES)
    .map((plan) => ({ plan, rows: estimate(sqlite, plan) }));
  return estimates.sort((a, b) => a.rows - b.rows)[0]?.plan ?? whole;
}

function estimate(sqlite: Database, { from, stretch }: Plan): number {
  const { text, values } = bind`
    SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${stretch} LIMIT ${ESTIMATE_LIMIT})`;
  const statement = sqlite.prepare<unknown, Bound[]>(text);
  try {
    return Number(statement.values(...values)[0]?.[0]);
  } finally {
    statement.finalize();
  }
}

/** A prepared statement whose first two values are the ends of a range. */
type Ranged = { run(range: Range): number[]; close(): void };

function prepare(sqlite: Database, { text, values }: Fragment): Ranged {
  const statement = sqlite.prepare<unknown, Bound[]>(text);
  return {
    run: ({ first, last }) =>
      statement.values(first, last, ...values).map(([value]) => Number(value)),
    close: () => statement.finalize(),
  };
}

function within(key: Fragment): Fragment {
  return { text: `${key.text} BETWEEN ? AND ?`, values: [] };
}
