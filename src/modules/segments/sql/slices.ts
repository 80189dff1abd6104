/** The SQL statements of one scan: one finds the next slice, one reads it. */

import type { Database } from "bun:sqlite";
import { bind, type Bound, type Fragment } from "./bind.ts";
import type { Audience, Plan } from "./plan.ts";

type Order = "ascending" | "descending";

/** Range of `contacts.seq`, with both ends included. */
export type Range = { first: number; last: number };

export type Slices = {
  order: Order;
  /**
   * Returns the next range within `left`: it is up to `width` wide and begins with a row of the
   * plan. Null if no row is left.
   */
  next(left: Range, width: number): Range | null;
  read(slice: Range): number[];
  close(): void;
};

/** Largest number of rows counted to compare plans; counting them takes a millisecond per plan. */
const ESTIMATE_LIMIT = 50_000;
/** Largest number of plans compared. */
const MAX_ESTIMATES = 8;

/** Slices that read the `contacts.seq` of the audience, in order. */
export function memberSlices(sqlite: Database, audience: Audience, order: Order): Slices {
  const plan = choosePlan(sqlite, audience);
  const members = prepareScan(sqlite, plan, {
    audience,
    columns: plan.key,
    tail: orderBy(plan, order),
  });
  return createSlices(sqlite, { plan, order, read: members });
}

/** Slices that count the audience: each slice reads one number. */
export function countSlices(sqlite: Database, audience: Audience): Slices {
  const plan = choosePlan(sqlite, audience);
  const count = prepareScan(sqlite, plan, { audience, columns: bind`count(*)`, tail: bind`` });
  return createSlices(sqlite, { plan, order: "ascending", read: count });
}

function createSlices(
  sqlite: Database,
  { plan, order, read }: { plan: Plan; order: Order; read: RangeStatement },
): Slices {
  const { from, key, stretch } = plan;
  const nearest = prepareRange(sqlite, {
    head: bind`SELECT ${key} FROM ${from} WHERE ${stretch} AND`,
    key,
    tail: bind`${orderBy(plan, order)} LIMIT 1`,
  });
  return {
    order,
    next({ first, last }, width) {
      const [end] = nearest.run({ first, last });
      if (end === undefined) return null;
      return order === "ascending"
        ? { first: end, last: Math.min(last, end + width - 1) }
        : { first: Math.max(first, end - width + 1), last: end };
    },
    read: read.run,
    close() {
      nearest.close();
      read.close();
    },
  };
}

/**
 * Prepares the statement that reads the rows of the plan. It joins the contacts only if the plan
 * needs them; CROSS JOIN keeps SQLite from changing the order of the tables.
 */
function prepareScan(
  sqlite: Database,
  { from, key, stretch, filter, rest, isJoined }: Plan,
  { audience, columns, tail }: { audience: Audience; columns: Fragment; tail: Fragment },
): RangeStatement {
  const rows = bind`WHERE ${stretch} AND ${filter}`;
  const contacts = bind`CROSS JOIN contacts ${rows}
    AND contacts.seq = ${key} AND +contacts.project_seq = ${audience.projectSeq}`;
  return prepareRange(sqlite, {
    head: bind`SELECT ${columns} FROM ${from} ${isJoined ? contacts : rows} AND ${rest} AND`,
    key,
    tail,
  });
}

/** Chooses the plan with the fewest rows, by counting up to `ESTIMATE_LIMIT` rows of each index. */
export function choosePlan(sqlite: Database, { whole, narrow }: Audience): Plan {
  const estimates = narrow
    .slice(0, MAX_ESTIMATES)
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

function orderBy({ key }: Plan, order: Order): Fragment {
  return order === "ascending" ? bind`ORDER BY ${key} ASC` : bind`ORDER BY ${key} DESC`;
}

/** A prepared statement for any range. `run` returns all values of its rows in one flat list. */
type RangeStatement = { run(range: Range): number[]; close(): void };

/** Prepares `<head> <key> BETWEEN … AND … <tail>`. */
function prepareRange(
  sqlite: Database,
  { head, key, tail }: { head: Fragment; key: Fragment; tail: Fragment },
): RangeStatement {
  const text = `${head.text} ${key.text} BETWEEN ? AND ? ${tail.text}`;
  const statement = sqlite.prepare<unknown, Bound[]>(text);
  return {
    run: ({ first, last }) =>
      statement
        .values(...head.values, first, last, ...tail.values)
        .flat()
        .map(Number),
    close: () => statement.finalize(),
  };
}
