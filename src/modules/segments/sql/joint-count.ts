/**
 * Counts many audiences of one project in one walk over its contacts: each row is read once, each
 * event that is asked for in a sequence of its own beside it, and then every condition is asked of
 * what was read.
 */

import type { Database } from "bun:sqlite";
import { isRecord } from "../../../http/validation.ts";
import { bind, type Bound, type Fragment } from "./bind.ts";
import { eventName } from "./compile.ts";
import type { Audience } from "./plan.ts";
import { type Batch, type Needs, type Predicate, predicateOfAll } from "./predicate.ts";
import type { Range, Slices } from "./slices.ts";

/** Tests in SQL of one walk; a statement may not have columns without end. */
const MOST_SQL_TESTS = 200;

type JointCount = {
  audiences: readonly Audience[];
  /** How many belong to each: a number for each audience, in their order. */
  open: (sqlite: Database) => Slices;
};

/** As few walks as there can be. All audiences are of one project. */
export function planJointCounts(audiences: readonly Audience[]): JointCount[] {
  const counts: JointCount[] = [];
  let open = newGroup();
  for (const audience of audiences) {
    if (open.audiences.length > 0 && open.needs.sqlTests.length > MOST_SQL_TESTS) {
      counts.push(planned(open));
      open = newGroup();
    }
    open.predicates.push(predicateOfAll(audience.tests, open.needs, audience));
    open.audiences.push(audience);
  }
  if (open.audiences.length > 0) counts.push(planned(open));
  return counts;
}

type Group = { audiences: Audience[]; predicates: Predicate[]; needs: Collected };

function newGroup(): Group {
  return { audiences: [], predicates: [], needs: collectNeeds() };
}

function planned({ audiences, predicates, needs }: Group): JointCount {
  return {
    audiences,
    open(sqlite) {
      const [first] = audiences;
      if (first === undefined) throw new Error("nothing to count");
      return openSlices(sqlite, first, { predicates, needs });
    },
  };
}

type Collected = Needs & {
  paths: readonly (readonly string[])[];
  events: readonly string[];
  sqlTests: readonly Fragment[];
};

/** The same is asked for once. */
function collectNeeds(): Collected {
  const paths: (readonly string[])[] = [];
  const events: string[] = [];
  const sqlTests: Fragment[] = [];
  const known = new Map<string, number>();

  function placeOf<T>(kind: string, value: T, list: T[]): number {
    const key = kind + JSON.stringify(value, (_, inner) => textOf(inner));
    const place = known.get(key) ?? list.push(value) - 1;
    known.set(key, place);
    return place;
  }

  return {
    paths,
    events,
    sqlTests,
    path: (keys) => placeOf("path", keys, paths),
    event: (name) => placeOf("event", name, events),
    sql: (test) => placeOf("sql", test, sqlTests),
  };
}

/** JSON has no big integers. */
function textOf(value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

/** The contact's `seq`, subscription, two times and data; then the answers of tests in SQL. */
const FIXED_COLUMNS = 5;

function openSlices(
  sqlite: Database,
  { whole, projectSeq, now }: Audience,
  { predicates, needs }: { predicates: readonly Predicate[]; needs: Collected },
): Slices {
  const { paths, events, sqlTests } = needs;
  const answers = sqlTests.reduce((list, test) => bind`${list}, (${test}) IS TRUE`, bind``);
  const data = paths.length > 0 ? bind`contacts.data` : bind`''`;
  const nearest = prepareRanged(
    sqlite,
    bind`SELECT contacts.seq FROM ${whole.from} WHERE ${whole.stretch} AND contacts.seq`,
    "ORDER BY contacts.seq LIMIT 1",
  );
  const contacts = prepareRanged(
    sqlite,
    bind`SELECT contacts.seq, contacts.is_subscribed, contacts.created_at, contacts.updated_at,
           ${data} ${answers}
         FROM ${whole.from} WHERE ${whole.stretch} AND contacts.seq`,
    "ORDER BY contacts.seq",
  );
  const histories = events.map((name) =>
    prepareRanged(
      sqlite,
      bind`SELECT contact_seq, last_at FROM contact_events
           WHERE name_seq = ${eventName(name, { projectSeq, now })} AND contact_seq`,
      "ORDER BY contact_seq",
    ),
  );

  function read(range: Range): number[] {
    const rows = contacts.run(range);
    const seqs = column(rows, 0);
    const batch = batchOf(rows, {
      values: valuesAt(rows, paths),
      lastAt: histories.map((history) => lastTimes(seqs, history.run(range))),
      answers: sqlTests.map((_, i) => column(rows, FIXED_COLUMNS + i)),
    });
    return predicates.map((predicate) => countOf(batch, predicate));
  }

  return {
    order: "ascending",
    next({ first, last }, width) {
      const [row] = nearest.run({ first, last });
      if (row === undefined) return null;
      const start = Number(row[0]);
      return { first: start, last: Math.min(last, start + width - 1) };
    },
    read,
    close() {
      for (const statement of [nearest, contacts, ...histories]) statement.close();
    },
  };
}

type Rows = readonly unknown[][];

function batchOf(rows: Rows, rest: Pick<Batch, "values" | "lastAt" | "answers">): Batch {
  return {
    size: rows.length,
    subscribed: column(rows, 1),
    createdAt: column(rows, 2),
    updatedAt: column(rows, 3),
    ...rest,
  };
}

function column(rows: Rows, place: number): Float64Array {
  const values = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) values[i] = Number(rows[i]?.[place]);
  return values;
}

function countOf(batch: Batch, predicate: Predicate): number {
  let count = 0;
  for (let i = 0; i < batch.size; i++) if (predicate(batch, i)) count++;
  return count;
}

/** Both in the order of contacts. */
function lastTimes(seqs: Float64Array, history: Rows): Float64Array {
  const times = new Float64Array(seqs.length).fill(Number.NaN);
  let at = 0;
  for (const [contactSeq, lastAt] of history) {
    const seq = Number(contactSeq);
    while (at < seqs.length && (seqs[at] ?? 0) < seq) at++;
    if (seqs[at] === seq) times[at] = Number(lastAt);
  }
  return times;
}

function valuesAt(rows: Rows, paths: readonly (readonly string[])[]): unknown[][] {
  if (paths.length === 0) return [];
  const columns = paths.map(() => Array.from<unknown>({ length: rows.length }));
  rows.forEach((row, i) => {
    const data: unknown = JSON.parse(String(row[4]));
    columns.forEach((values, j) => (values[i] = valueAt(data, paths[j] ?? [])));
  });
  return columns;
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** `<head> BETWEEN … AND … <tail>`. */
function prepareRanged(sqlite: Database, { text, values }: Fragment, tail: string) {
  const statement = sqlite.prepare<unknown, Bound[]>(`${text} BETWEEN ? AND ? ${tail}`);
  return {
    run: ({ first, last }: Range): Rows => statement.values(...values, first, last),
    close: () => statement.finalize(),
  };
}
