/** The statements of one walk: where the next slice is, and what is in it. */

import type { Database } from "bun:sqlite";
import { bind, type Bound, type Fragment } from "./bind.ts";
import type { Audience, Plan } from "./plan.ts";

export type Order = "ascending" | "descending";

/** Values of `contacts.seq`; both ends belong to it. */
export type Range = { first: number; last: number };

export type Slices = {
  order: Order;
  /** A stretch of `left` that is `width` wide and begins with a row to visit; null: none is left. */
  next(left: Range, width: number): Range | null;
  read(slice: Range): number[];
  close(): void;
};

/** Rows looked at to compare plans, and plans compared: a millisecond each. */
const ESTIMATE_LIMIT = 50_000;
const MOST_ESTIMATES = 8;
/** So few that they are visited on their own rather than with everybody else's. */
const FEW_ROWS = 2_000;

/** Who belongs: their `contacts.seq`, in order. */
export function memberSlices(sqlite: Database, audience: Audience, order: Order): Slices {
  const plan = choosePlan(sqlite, audience);
  const who = prepareVisit(sqlite, plan, {
    audience,
    columns: plan.key,
    tail: sorted(plan, order),
  });
  return createSlices(sqlite, { plan, order, read: who });
}

/** How many belong: one number. */
export function countSlices(sqlite: Database, audience: Audience): Slices {
  const plan = choosePlan(sqlite, audience);
  const count = prepareVisit(sqlite, plan, { audience, columns: bind`count(*)`, tail: bind`` });
  return createSlices(sqlite, { plan, order: "ascending", read: count });
}

function createSlices(
  sqlite: Database,
  { plan, order, read }: { plan: Plan; order: Order; read: Ranged },
): Slices {
  const { from, key, stretch } = plan;
  const nearest = prepare(sqlite, {
    head: bind`SELECT ${key} FROM ${from} WHERE ${stretch} AND`,
    key,
    tail: bind`${sorted(plan, order)} LIMIT 1`,
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

/** Rows of the plan and, where more is asked of them, their contacts, in this order. */
function prepareVisit(
  sqlite: Database,
  { from, key, stretch, filter, rest, isJoined }: Plan,
  { audience, columns, tail }: { audience: Audience; columns: Fragment; tail: Fragment },
): Ranged {
  const rows = bind`WHERE ${stretch} AND ${filter}`;
  const contacts = bind`CROSS JOIN contacts ${rows}
    AND contacts.seq = ${key} AND +contacts.project_seq = ${audience.projectSeq}`;
  return prepare(sqlite, {
    head: bind`SELECT ${columns} FROM ${from} ${isJoined ? contacts : rows} AND ${rest} AND`,
    key,
    tail,
  });
}

/** The one that visits the fewest rows, as far as a look at the beginning of its index tells. */
function choosePlan(sqlite: Database, { whole, narrow }: Audience): Plan {
  const estimates = narrow
    .slice(0, MOST_ESTIMATES)
    .map((plan) => ({ plan, rows: estimate(sqlite, plan, ESTIMATE_LIMIT) }));
  return estimates.sort((a, b) => a.rows - b.rows)[0]?.plan ?? whole;
}

/** Whether some way to go through it visits next to nobody. */
export function isNarrow(sqlite: Database, { narrow }: Audience): boolean {
  const plans = narrow.slice(0, MOST_ESTIMATES);
  return plans.some((plan) => estimate(sqlite, plan, FEW_ROWS) < FEW_ROWS);
}

function estimate(sqlite: Database, { from, stretch }: Plan, limit: number): number {
  const { text, values } = bind`
    SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${stretch} LIMIT ${limit})`;
  const statement = sqlite.prepare<unknown, Bound[]>(text);
  try {
    return Number(statement.values(...values)[0]?.[0]);
  } finally {
    statement.finalize();
  }
}

function sorted({ key }: Plan, order: Order): Fragment {
  return order === "ascending" ? bind`ORDER BY ${key} ASC` : bind`ORDER BY ${key} DESC`;
}

/** A prepared statement for any range; returns the values of its rows, one after the other. */
type Ranged = { run(range: Range): number[]; close(): void };

/** `<head> <key> BETWEEN … AND … <tail>`. */
function prepare(
  sqlite: Database,
  { head, key, tail }: { head: Fragment; key: Fragment; tail: Fragment },
): Ranged {
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
