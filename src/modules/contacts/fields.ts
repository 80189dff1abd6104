/**
 * The keys in the data of a project's contacts, with their types and the number of contacts that
 * have them. A survey reads all contacts in readers. Its result is cached for twenty times its
 * duration, so that surveys use at most a twentieth of the time. A summary updated by triggers would
 * be available immediately, but would make every import a tenth slower, and contacts are written far
 * more often than this list is read.
 */

import type { App } from "../../core/app.ts";
import { inTimeBy } from "../../db/queries.ts";
import { statement } from "../../db/statement.ts";
import { systemClock } from "../../lib/clock.ts";
import { perApp } from "../../lib/per-app.ts";
import { UNCLEAR_NUMBER } from "./import/cells.ts";
import type { Field, FieldType } from "./model.ts";
import { contactRanges } from "./search.ts";

/** `isComplete` is false if there are more than MOST_SURVEYED_KEYS keys. */
type Survey = {
  fields: Field[];
  contacts: number;
  isComplete: boolean;
  /** Keys with a number such as 1.234, of which a CSV file does not show that it is no thousand. */
  unclearKeys: ReadonlySet<string>;
};

type Tally = { count: number; types: Map<FieldType, number>; dates: number; empty: number };
type Counts = Pick<Survey, "contacts" | "isComplete"> & {
  keys: Map<string, Tally>;
  unclearKeys: Set<string>;
};

/** Contacts of a survey that must not wait. */
const NEWEST = 10_000;
/** Most keys of one survey, to limit its memory; it counts no others. */
export const MOST_SURVEYED_KEYS = 10_000;
/** Most keys with a type and a kind that one read returns. */
const MAX_ROWS = 8 * MOST_SURVEYED_KEYS;
/** A survey that took less time is not cached. */
const CACHED_FROM_MS = 20;
/** A survey is cached for its duration times this factor. */
const CACHE_FACTOR = 20;
/** Longest time that a survey is cached. */
const MAX_CACHED_MS = 60_000;
/** Most projects with a cached survey. */
const MAX_PROJECTS = 100;

/** Surveys all contacts now, or those whose `seq` is above `after`. */
export async function surveyFields(app: App, projectSeq: number, after = 0): Promise<Survey> {
  const counts: Counts = { contacts: 0, isComplete: true, keys: new Map(), unclearKeys: new Set() };
  for (const range of contactRanges(app, projectSeq, after)) {
    await addRange(app, projectSeq, range, counts);
  }
  const { contacts, isComplete, keys, unclearKeys } = counts;
  const fields = [...keys].map(([key, tally]) => present(key, tally, contacts));
  return { contacts, isComplete, unclearKeys, fields: fields.sort(byCoverage) };
}

const findFirstOfNewest = statement<{ seq: number }, [number]>(`
  SELECT seq FROM contacts WHERE project_seq = +? ORDER BY seq DESC LIMIT 1 OFFSET ${NEWEST - 1}`);

/** Surveys the newest 10,000 contacts now, which takes some hundredths of a second. */
export function surveyNewest(app: App, projectSeq: number): Promise<Survey> {
  const first = findFirstOfNewest(app).get(projectSeq);
  return surveyFields(app, projectSeq, first === null ? 0 : first.seq - 1);
}

const cachedSurveys = perApp(() => new Map<number, { survey: Promise<Survey>; until: number }>());

/** The cached survey, at most a minute old; a new one if none is cached. */
export async function recentSurvey(app: App, projectSeq: number): Promise<Survey> {
  const cached = cachedSurveys(app).get(projectSeq);
  if (cached !== undefined && systemClock.elapsed() < cached.until) return cached.survey;
  const startedAt = systemClock.elapsed();
  const result = surveyFields(app, projectSeq);
  store(app, projectSeq, Infinity, result);
  try {
    await result;
  } catch (error) {
    cachedSurveys(app).delete(projectSeq); // The next request scans again.
    throw error;
  }
  const tookMs = systemClock.elapsed() - startedAt;
  const cachedMs = tookMs < CACHED_FROM_MS ? 0 : Math.min(CACHE_FACTOR * tookMs, MAX_CACHED_MS);
  store(app, projectSeq, systemClock.elapsed() + cachedMs, result);
  return result;
}

function store(app: App, projectSeq: number, until: number, survey: Promise<Survey>): void {
  const cache = cachedSurveys(app);
  cache.delete(projectSeq);
  cache.set(projectSeq, { survey, until });
  const [oldest] = cache.keys();
  if (cache.size > MAX_PROJECTS && oldest !== undefined) cache.delete(oldest);
}

/** The name of each type of JSON in SQLite. */
const TYPES: Readonly<Record<string, FieldType>> = {
  text: "string",
  integer: "number",
  real: "number",
  true: "boolean",
  false: "boolean",
  array: "array",
};

const OF_RANGE = `project_seq = ? AND seq > ? AND seq <= ? AND ${inTimeBy("seq")}`;
/** Patterns of GLOB, which exclude most values faster than an expression. */
const DATE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
const THREE_DECIMALS = "*.[0-9][0-9][0-9]";
/** A date and a time, as conditions compare them. */
const DATE_AND_TIME = /^.{10}[Tt ]\d\d:\d\d[\d:.]{0,14}(?:[Zz]|[+-]\d\d:?\d\d)?$/;
/**
 * The keys with their types, in the order in which they were used first, and the kind of values that
 * are noticed.
 */
const KEYS_OF_RANGE = `
  SELECT item.key, item.type,
         CASE item.type
         WHEN 'text' THEN CASE
           WHEN item.atom = '' THEN 'EMPTY'
           WHEN item.atom GLOB '${DATE}' THEN 'DATE'
           WHEN item.atom GLOB '${DATE}?*' AND item.atom REGEXP ? THEN 'DATE'
           END
         WHEN 'real' THEN CASE
           WHEN item.atom GLOB '${THREE_DECIMALS}' AND item.atom REGEXP ? THEN 'UNCLEAR'
           END
         END AS kind, count(*)
  FROM contacts INDEXED BY contacts_page CROSS JOIN json_each(contacts.data) AS item
  WHERE ${OF_RANGE} GROUP BY item.key, item.type, kind
  ORDER BY min(contacts.seq) LIMIT ${MAX_ROWS}`;
const COUNT_OF_RANGE = `
  SELECT count(*) FROM contacts INDEXED BY contacts_page WHERE ${OF_RANGE}`;

async function addRange(
  { reader }: App,
  projectSeq: number,
  { after, until }: { after: number; until: number },
  counts: Counts,
): Promise<void> {
  const values = [projectSeq, after, until];
  const { rows, total } = await reader.find(projectSeq, {
    sql: KEYS_OF_RANGE,
    values: [DATE_AND_TIME.source, UNCLEAR_NUMBER.source, ...values],
    total: { sql: COUNT_OF_RANGE, values, unlessFewerThan: 0 },
  });
  const { keys, unclearKeys } = counts;
  counts.contacts += Number(total);
  for (const [name, typeName, kind, found] of rows) {
    const [key, count] = [String(name), Number(found)];
    const tally = keys.get(key) ?? { count: 0, types: new Map(), dates: 0, empty: 0 };
    if (keys.size >= MOST_SURVEYED_KEYS && tally.count === 0) {
      counts.isComplete = false;
      continue;
    }
    const type = TYPES[String(typeName)] ?? "object";
    tally.types.set(type, (tally.types.get(type) ?? 0) + count);
    tally.count += count;
    if (kind === "DATE") tally.dates += count;
    if (kind === "EMPTY") tally.empty += count;
    if (kind === "UNCLEAR") unclearKeys.add(key);
    keys.set(key, tally);
  }
}

function present(key: string, tally: Tally, contacts: number): Field {
  const { count, types, dates, empty } = tally;
  const ranked = [...types].sort(([, a], [, b]) => b - a).map(([type]) => type);
  return {
    key,
    type: ranked[0] ?? "string",
    types: ranked,
    areDates: dates > 0 && dates + empty === count,
    count,
    coverage: count / contacts,
  };
}

function byCoverage(a: Field, b: Field): number {
  return b.count - a.count || (a.key < b.key ? -1 : 1);
}
