/**
 * The keys that the data of a project's contacts has: of which types, and how many contacts have
 * them. All contacts are looked through, in turns of a few milliseconds; what took long is kept for
 * twenty times as long, so that it never takes more than a twentieth of the time. A summary kept by
 * triggers would answer at once and make every import a tenth slower: people look at this list now
 * and then, and write all day.
 */

import type { Db } from "../../db/open.ts";
import { systemClock } from "../../lib/clock.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { parseData } from "./data.ts";
import { FIELD_TYPES, type Field, type FieldType } from "./model.ts";

export type Survey = { fields: Field[]; contacts: number };
export type Fields = ReturnType<typeof createFields>;

type Tally = { count: number; types: Map<FieldType, number> };
type Counts = { contacts: number; keys: Map<string, Tally> };

const PAGE = 512;
/** Bounds memory where keys are made up without end; those beyond are left out. */
const MOST_KEYS = 10_000;
const SHORT_MS = 20;
const KEPT_TIMES = 20;
const LONGEST_KEPT_MS = 60_000;
const MOST_PROJECTS = 100;

export function createFields(deps: { db: Db; scheduler: FairScheduler }) {
  const { scheduler } = deps;
  const { sqlite } = deps.db;
  const readPage = sqlite.prepare<unknown, [number, number, number]>(`
    SELECT seq, data FROM contacts WHERE project_seq = ? AND seq > ? ORDER BY seq LIMIT ?`);
  const kept = new Map<number, { survey: Promise<Survey>; until: number }>();

  async function count(projectSeq: number): Promise<Counts> {
    const slices = await startSlices(scheduler.of(projectSeq));
    const counts: Counts = { contacts: 0, keys: new Map() };
    let after = 0;
    for (;;) {
      const rows = readPage.values(projectSeq, after, PAGE);
      for (const [, data] of rows) tallyContact(counts.keys, String(data));
      counts.contacts += rows.length;
      const last = rows.at(-1);
      if (rows.length < PAGE || last === undefined) return counts;
      after = Number(last[0]);
      if (slices.isOver()) await slices.next();
    }
  }

  async function survey(projectSeq: number): Promise<Survey> {
    const { contacts, keys } = await count(projectSeq);
    const fields = [...keys].map(([key, tally]) => present(key, tally, contacts));
    return { contacts, fields: fields.sort(byCoverage) };
  }

  function keep(projectSeq: number, until: number, found: Promise<Survey>): void {
    kept.delete(projectSeq);
    kept.set(projectSeq, { survey: found, until });
    const [oldest] = kept.keys();
    if (kept.size > MOST_PROJECTS && oldest !== undefined) kept.delete(oldest);
  }

  return {
    /** As it is right now. */
    survey,

    /** As it was at most a minute ago, and right now where there are few contacts. */
    async known(projectSeq: number): Promise<Survey> {
      const earlier = kept.get(projectSeq);
      if (earlier !== undefined && systemClock.elapsed() < earlier.until) return earlier.survey;
      const startedAt = systemClock.elapsed();
      const found = survey(projectSeq);
      keep(projectSeq, Infinity, found);
      try {
        return await found;
      } finally {
        const tookMs = systemClock.elapsed() - startedAt;
        const keptMs = tookMs < SHORT_MS ? 0 : Math.min(KEPT_TIMES * tookMs, LONGEST_KEPT_MS);
        keep(projectSeq, systemClock.elapsed() + keptMs, found);
      }
    },
  };
}

function tallyContact(keys: Map<string, Tally>, text: string): void {
  if (text === "{}") return;
  for (const [key, value] of Object.entries(parseData(text))) {
    const tally = keys.get(key) ?? { count: 0, types: new Map() };
    if (keys.size >= MOST_KEYS && tally.count === 0) continue;
    tally.count++;
    const type = typeOf(value);
    tally.types.set(type, (tally.types.get(type) ?? 0) + 1);
    keys.set(key, tally);
  }
}

function typeOf(value: unknown): FieldType {
  if (Array.isArray(value)) return "array";
  return FIELD_TYPES.find((type) => type === typeof value) ?? "object";
}

function present(key: string, { count, types }: Tally, contacts: number): Field {
  const ranked = [...types].sort(([, a], [, b]) => b - a).map(([type]) => type);
  return { key, type: ranked[0] ?? "string", types: ranked, count, coverage: count / contacts };
}

function byCoverage(a: Field, b: Field): number {
  return b.count - a.count || (a.key < b.key ? -1 : 1);
}
