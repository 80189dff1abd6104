/**
 * The keys in the data of a project's contacts, with their types and the number of contacts that
 * have them. A survey scans all contacts in slices of a few milliseconds. Its result is cached for
 * twenty times its duration, so that surveys use at most a twentieth of the time. A summary updated
 * by triggers would be available immediately, but would make every import a tenth slower, and
 * contacts are written far more often than this list is read.
 */

import type { Db } from "../../db/open.ts";
import { systemClock } from "../../lib/clock.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { parseData } from "./data.ts";
import { isUnclearNumber } from "./import/cells.ts";
import { FIELD_TYPES, type Field, type FieldType } from "./model.ts";

/** `isComplete` is false if there are more than MOST_SURVEYED_KEYS keys. */
type Survey = {
  fields: Field[];
  contacts: number;
  isComplete: boolean;
  /** Keys with a number such as 1.234, of which a CSV file does not show that it is no thousand. */
  unclearKeys: ReadonlySet<string>;
};
export type Fields = ReturnType<typeof createFields>;

type Tally = {
  count: number;
  types: Map<FieldType, number>;
  dates: number;
  /** Whether no value is anything but a date or empty, so far. */
  isWithoutOthers: boolean;
};
type Counts = Pick<Survey, "contacts" | "isComplete"> & {
  keys: Map<string, Tally>;
  unclearKeys: Set<string>;
};

/** Contacts read by one statement. */
const PAGE_SIZE = 512;
/** Contacts of a survey that must not wait. */
const NEWEST = 10_000;
/** Most keys of one survey, to limit its memory; it counts no others. */
export const MOST_SURVEYED_KEYS = 10_000;
/** A survey that took less time is not cached. */
const CACHED_FROM_MS = 20;
/** A survey is cached for its duration times this factor. */
const CACHE_FACTOR = 20;
/** Longest time that a survey is cached. */
const MAX_CACHED_MS = 60_000;
/** Most projects with a cached survey. */
const MAX_PROJECTS = 100;

export function createFields(deps: { db: Db; scheduler: FairScheduler }) {
  const { scheduler } = deps;
  const { sqlite } = deps.db;
  const readPage = sqlite.prepare<unknown, [number, number, number]>(`
    SELECT seq, data FROM contacts WHERE project_seq = ? AND seq > ? ORDER BY seq LIMIT ?`);
  const readFirstOfNewest = sqlite.prepare<unknown, [number]>(`
    SELECT seq FROM contacts WHERE project_seq = ? ORDER BY seq DESC LIMIT 1 OFFSET ${NEWEST - 1}`);
  const cache = new Map<number, { survey: Promise<Survey>; until: number }>();

  /** Counts the contacts whose `seq` is above `first`. */
  async function count(projectSeq: number, first: number): Promise<Counts> {
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    const counts: Counts = {
      contacts: 0,
      isComplete: true,
      keys: new Map(),
      unclearKeys: new Set(),
    };
    let after = first;
    for (;;) {
      const rows = readPage.values(projectSeq, after, PAGE_SIZE);
      for (const [, data] of rows) tallyContact(counts, String(data));
      counts.contacts += rows.length;
      const last = rows.at(-1);
      if (rows.length < PAGE_SIZE || last === undefined) return counts;
      after = Number(last[0]);
      if (slices.isOver()) await slices.next();
    }
  }

  async function survey(projectSeq: number, first = 0): Promise<Survey> {
    const { contacts, isComplete, keys, unclearKeys } = await count(projectSeq, first);
    const fields = [...keys].map(([key, tally]) => present(key, tally, contacts));
    return { contacts, isComplete, unclearKeys, fields: fields.sort(byCoverage) };
  }

  function store(projectSeq: number, until: number, result: Promise<Survey>): void {
    cache.delete(projectSeq);
    cache.set(projectSeq, { survey: result, until });
    const [oldest] = cache.keys();
    if (cache.size > MAX_PROJECTS && oldest !== undefined) cache.delete(oldest);
  }

  return {
    /** Scans all contacts now. */
    survey: async (projectSeq: number): Promise<Survey> => await survey(projectSeq),

    /** Scans the newest 10,000 contacts now, which takes some hundredths of a second. */
    newest: async (projectSeq: number): Promise<Survey> => {
      const [row] = readFirstOfNewest.values(projectSeq);
      return await survey(projectSeq, row === undefined ? 0 : Number(row[0]) - 1);
    },

    /** The cached survey, at most a minute old; a new one if none is cached. */
    async recent(projectSeq: number): Promise<Survey> {
      const cached = cache.get(projectSeq);
      if (cached !== undefined && systemClock.elapsed() < cached.until) return cached.survey;
      const startedAt = systemClock.elapsed();
      const result = survey(projectSeq);
      store(projectSeq, Infinity, result);
      try {
        await result;
      } catch (error) {
        cache.delete(projectSeq); // The next request scans again.
        throw error;
      }
      const tookMs = systemClock.elapsed() - startedAt;
      const cachedMs = tookMs < CACHED_FROM_MS ? 0 : Math.min(CACHE_FACTOR * tookMs, MAX_CACHED_MS);
      store(projectSeq, systemClock.elapsed() + cachedMs, result);
      return result;
    },
  };
}

function tallyContact(counts: Counts, text: string): void {
  const { keys } = counts;
  if (text === "{}") return;
  for (const [key, value] of Object.entries(parseData(text))) {
    const tally = keys.get(key) ?? newTally();
    if (keys.size >= MOST_SURVEYED_KEYS && tally.count === 0) {
      counts.isComplete = false;
      continue;
    }
    tally.count++;
    const type = typeOf(value);
    tally.types.set(type, (tally.types.get(type) ?? 0) + 1);
    if (tally.isWithoutOthers) tallyDate(tally, value);
    keys.set(key, tally);
    if (typeof value === "number" && isUnclearNumber(String(value))) counts.unclearKeys.add(key);
  }
}

const newTally = (): Tally => ({ count: 0, types: new Map(), dates: 0, isWithoutOthers: true });

/** A date, or a date and a time, as conditions compare them. */
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[\d:.]{0,14}(?:Z|[+-]\d\d:?\d\d)?)?$/i;

function tallyDate(tally: Tally, value: unknown): void {
  if (value === "") return;
  if (typeof value === "string" && DATE.test(value)) tally.dates++;
  else tally.isWithoutOthers = false;
}

function typeOf(value: unknown): FieldType {
  if (Array.isArray(value)) return "array";
  return FIELD_TYPES.find((type) => type === typeof value) ?? "object";
}

function present(key: string, tally: Tally, contacts: number): Field {
  const { count, types, dates, isWithoutOthers } = tally;
  const ranked = [...types].sort(([, a], [, b]) => b - a).map(([type]) => type);
  return {
    key,
    type: ranked[0] ?? "string",
    types: ranked,
    areDates: isWithoutOthers && dates > 0,
    count,
    coverage: count / contacts,
  };
}

function byCoverage(a: Field, b: Field): number {
  return b.count - a.count || (a.key < b.key ? -1 : 1);
}
