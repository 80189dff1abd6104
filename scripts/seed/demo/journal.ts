/**
 * The event log of the demonstration. Events are collected while mails and executions are made, and
 * written in the order of their times, together with events that the shop itself tracked, and the
 * summaries by name and by contact.
 */

import type { Database } from "bun:sqlite";
import { type Random, uuidAt } from "../random.ts";
import { DAY_MS, type Person } from "./people.ts";

export type JournalEvent = {
  at: number;
  name: string;
  contactSeq: number | null;
  emailSeq?: number;
  data?: object;
};

export type Journal = ReturnType<typeof createJournal>;

type Row = { at: number; name: string; contactSeq: number; emailSeq: number; data: string | null };

/** State of one event name while the log is written. Index 0 of the arrays is not used. */
type Name = {
  seq: number;
  count: number;
  lastSeq: Uint32Array;
  lastAt: Float64Array;
  counts: Uint32Array;
};

type WriteOptions = {
  projectSeq: number;
  people: readonly Person[];
  random: Random;
  untilMs: number;
  /** Number of events that the shop tracked. */
  tracked: number;
  log: (text: string) => void;
};

const BATCH = 250_000;
const YEAR_MS = 365 * DAY_MS;
/** Names of the tracked events with their weights. */
const TRACKED: readonly (readonly [name: string, weight: number])[] = [
  ["page.viewed", 48],
  ["account.login", 24],
  ["search.made", 12],
  ["wishlist.added", 9],
  ["book.rated", 7],
];
const PAGES = ["/", "/new", "/books/tide-tables", "/lists/crime", "/events", "/club"];
const SEARCHES = ["lighthouse", "Krimi", "poesía", "maps", "sea", "神話"];

export function createJournal({ untilMs }: { untilMs: number }) {
  const rows: Row[] = [];

  return {
    /** Events after the end of the demonstration are left out. Returns false for these. */
    add({ at, name, contactSeq, emailSeq = 0, data }: JournalEvent): boolean {
      if (at > untilMs) return false;
      const json = data === undefined ? null : JSON.stringify(data);
      rows.push({ at, name, contactSeq: contactSeq ?? 0, emailSeq, data: json });
      return true;
    },

    size: (): number => rows.length,

    /** Writes all events and their summaries into empty tables. */
    write(sqlite: Database, options: WriteOptions): void {
      rows.sort((a, b) => a.at - b.at);
      const names = writeLog(sqlite, merged(rows, trackedEvents(options)), options);
      writeNames(sqlite, names, options.projectSeq);
      writeSummaries(sqlite, names);
    },
  };
}

/** The events of the shop, in the order of their times. */
function* trackedEvents({ random, people, untilMs, tracked }: WriteOptions): Generator<Row> {
  const byWeight = TRACKED.flatMap(([name, weight]) => Array<string>(weight).fill(name));
  const begin = untilMs - YEAR_MS;
  let registered = 0;
  for (let i = 0; i < tracked; i++) {
    const at = begin + Math.floor(((i + 0.5) / tracked) * YEAR_MS);
    while (registered < people.length && (people[registered]?.createdAt ?? at) < at) registered++;
    if (registered === 0) continue;
    const name = random.pick(byWeight);
    // Few readers come often and many come rarely.
    const rank =
      (random.integer(registered + 1) * random.integer(registered + 1)) / (registered + 1);
    const contactSeq = 1 + Math.min(registered - 1, Math.floor(rank));
    yield { at, name, contactSeq, emailSeq: 0, data: dataOf(name, random) };
  }
}

function dataOf(name: string, random: Random): string | null {
  if (name === "page.viewed") return `{"path":"${random.pick(PAGES)}"}`;
  if (name === "search.made") return `{"query":"${random.pick(SEARCHES)}"}`;
  return name === "book.rated" ? `{"stars":${1 + random.integer(5)}}` : null;
}

function* merged(rows: readonly Row[], tracked: Generator<Row>): Generator<Row> {
  let next = tracked.next();
  for (const row of rows) {
    for (; next.done !== true && next.value.at <= row.at; next = tracked.next()) yield next.value;
    yield row;
  }
  for (; next.done !== true; next = tracked.next()) yield next.value;
}

function writeLog(
  sqlite: Database,
  rows: Generator<Row>,
  { projectSeq, people, random, log }: WriteOptions,
): Map<string, Name> {
  const names = new Map<string, Name>();
  const insert = sqlite.prepare(`
    INSERT INTO events
      (seq, id, project_seq, name, contact_seq, previous_seq, email_seq, data, created_at)
    VALUES (?, ?, ?, ?, nullif(?, 0), nullif(?, 0), nullif(?, 0), ?, ?)`);
  let seq = 0;
  const writeBatch = sqlite.transaction(() => {
    for (let i = 0; i < BATCH; i++) {
      const next = rows.next();
      if (next.done === true) return false;
      const { at, name, contactSeq, emailSeq, data } = next.value;
      const state = names.get(name) ?? newName(names.size + 1, people.length);
      names.set(name, state);
      seq++;
      const previous = contactSeq === 0 ? 0 : (state.lastSeq[contactSeq] ?? 0);
      const id = uuidAt(at, random);
      insert.run(seq, id, projectSeq, name, contactSeq, previous, emailSeq, data, at);
      note(state, contactSeq, seq, at);
    }
    return true;
  });
  while (writeBatch()) log(`  ${(seq / 1e6).toFixed(2)} million events`);
  return names;
}

function newName(seq: number, people: number): Name {
  return {
    seq,
    count: 0,
    lastSeq: new Uint32Array(people + 1),
    lastAt: new Float64Array(people + 1),
    counts: new Uint32Array(people + 1),
  };
}

function note(state: Name, contactSeq: number, seq: number, at: number): void {
  state.count++;
  if (contactSeq === 0) return;
  state.lastSeq[contactSeq] = seq;
  state.lastAt[contactSeq] = at;
  state.counts[contactSeq] = (state.counts[contactSeq] ?? 0) + 1;
}

function writeNames(sqlite: Database, names: ReadonlyMap<string, Name>, projectSeq: number): void {
  const insert = sqlite.prepare(
    "INSERT INTO event_names (seq, project_seq, name, count) VALUES (?, ?, ?, ?)",
  );
  sqlite.transaction(() => {
    for (const [name, { seq, count }] of names) insert.run(seq, projectSeq, name, count);
  })();
}

function writeSummaries(sqlite: Database, names: ReadonlyMap<string, Name>): void {
  const insert = sqlite.prepare(`
    INSERT INTO contact_events (name_seq, contact_seq, last_at, last_seq, count)
    VALUES (?, ?, ?, ?, ?)`);
  sqlite.transaction(() => {
    for (const { seq, lastSeq, lastAt, counts } of names.values()) {
      counts.forEach((count, contactSeq) => {
        if (count === 0) return;
        insert.run(seq, contactSeq, lastAt[contactSeq] ?? 0, lastSeq[contactSeq] ?? 0, count);
      });
    }
  })();
}
