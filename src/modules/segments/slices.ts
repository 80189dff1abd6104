/** The statements of one walk: where a slice ends, and what is in it. */

import type { Database } from "bun:sqlite";
import { bind, type Bound, type Fragment } from "./bind.ts";
import type { Audience, Plan } from "./plan.ts";

export type Order = "ascending" | "descending";

/** Values of `contacts.seq`; both ends belong to it. */
export type Range = { first: number; last: number };

export type Slices = {
  /** The next stretch of `left` with at most `size` rows to visit. */
  cut(left: Range, size: number): Range;
  /** How many contacts belong, as one number, or their `seq` in order. */
  read(slice: Range, size: number): number[];
  close(): void;
};

/** Where the contacts of a project lie this thin among others, an index is better than the table. */
const THIN = 4;
/** Rows looked at to compare plans, and plans compared: a millisecond each. */
const ESTIMATE_LIMIT = 50_000;
const MOST_ESTIMATES = 8;

export function createSlices(
  sqlite: Database,
  audience: Audience,
  options: { yields: "count" | "contacts"; order: Order },
): Slices {
  const plan = choosePlan(sqlite, audience);
  const isWhole = plan === audience.whole;
  const { from, key, stretch } = plan;
  const isAscending = options.order === "ascending";
  const order = bind`ORDER BY ${key} ${isAscending ? bind`ASC` : bind`DESC`}`;
  const wanted = options.yields === "count" ? bind`count(*)` : key;
  const tail = options.yields === "count" ? bind`` : order;
  const select = (tables: Fragment, conditions: Fragment): Ranged =>
    prepare(sqlite, bind`SELECT ${wanted} FROM ${tables} WHERE ${within(key)} AND ${conditions} ${tail}`);

  const byPage = isWhole ? bind`${from} INDEXED BY contacts_page` : from;
  const nth = prepare(
    sqlite,
    bind`SELECT ${key} FROM ${byPage} WHERE ${within(key)} AND ${stretch} ${order} LIMIT 1 OFFSET`,
    " ?",
  );
  const visit = isWhole
    ? select(byPage, bind`${stretch} AND ${plan.rest}`)
    : select(joined(plan), conditionsOf(plan, audience.projectSeq));
  const scan = isWhole
    ? select(bind`${from} NOT INDEXED`, bind`${stretch} AND ${plan.rest}`)
    : visit;

  return {
    cut(left, size) {
      const [end] = nth.run(left, size - 1);
      if (end === undefined) return left;
      return isAscending ? { ...left, last: end } : { ...left, first: end };
    },
    read(slice, size) {
      const isThin = slice.last - slice.first >= size * THIN;
      return (isThin ? visit : scan).run(slice);
    },
    close() {
      for (const statement of new Set([nth, visit, scan])) statement.close();
    },
  };
}

function joined({ from, isCovering }: Plan): Fragment {
  // CROSS JOIN keeps the order: rows of the plan first, then their contacts.
  return isCovering ? from : bind`${from} CROSS JOIN contacts`;
}

function conditionsOf({ key, stretch, filter, rest, isCovering }: Plan, projectSeq: number): Fragment {
  if (isCovering) return bind`${stretch} AND ${filter}`;
  return bind`${stretch} AND ${filter} AND contacts.seq = ${key}
    AND +contacts.project_seq = ${projectSeq} AND ${rest}`;
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
  const statement = sqlite.prepare<Record<string, number>, Bound[]>(text);
  const [row] = statement.values(...values);
  statement.finalize();
  return Number(row?.[0]);
}

/** A prepared statement whose first two values are the ends of a range. */
type Ranged = { run(range: Range, ...more: number[]): number[]; close(): void };

function prepare(sqlite: Database, { text, values }: Fragment, end = ""): Ranged {
  const statement = sqlite.prepare<unknown, Bound[]>(text + end);
  return {
    run: ({ first, last }, ...more) =>
      statement.values(first, last, ...values, ...more).map(([value]) => Number(value)),
    close: () => statement.finalize(),
  };
}

function within(key: Fragment): Fragment {
  return { text: `${key.text} BETWEEN ? AND ?`, values: [] };
}
