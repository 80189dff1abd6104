/** Inserts the events of one year, and the summaries by name and by contact. */

import type { Database } from "bun:sqlite";
import type { SeedOptions } from "./contacts.ts";
import { createRandom, type Random, uuidAt } from "./random.ts";

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
/** Names of events and their shares in percent. */
const NAMES: readonly (readonly [name: string, share: number])[] = [
  ["page.view", 30],
  ["login", 25],
  ["email.sent", 15],
  ["email.delivered", 13],
  ["email.opened", 8],
  ["purchase", 5],
  ["email.clicked", 2],
  ["support.ticket", 2],
];
const PATHS = ["/", "/pricing", "/docs", "/blog", "/account"];
const BATCH = 250_000;

type Name = {
  name: string;
  seq: number;
  count: number;
  /** Time of the last event by contact, 0 if there is none. */
  lastAt: Float64Array;
  /** `seq` of the last event by contact. */
  lastSeq: Uint32Array;
  /** Number of events by contact. */
  counts: Uint32Array;
};

export function seedEvents(
  sqlite: Database,
  options: SeedOptions & { firstContact: number; contacts: number },
): void {
  const { projectSeq, contacts } = options;
  const names = NAMES.map(([name], i): Name => {
    const [lastSeq, counts] = [new Uint32Array(contacts), new Uint32Array(contacts)];
    return { name, seq: i + 1, count: 0, lastAt: new Float64Array(contacts), lastSeq, counts };
  });
  seedLog(sqlite, names, options);
  const insertName = sqlite.prepare(
    "INSERT INTO event_names (seq, project_seq, name, count) VALUES (?, ?, ?, ?)",
  );
  sqlite.transaction(() => {
    for (const { seq, name, count } of names) insertName.run(seq, projectSeq, name, count);
  })();
  for (const name of names) seedContactEvents(sqlite, name, options.firstContact);
}

function seedLog(
  sqlite: Database,
  names: readonly Name[],
  options: SeedOptions & { firstContact: number; contacts: number },
): void {
  const { projectSeq, count, untilMs, firstContact, contacts } = options;
  const random = createRandom(20_260_202);
  const byShare = names.flatMap((name, i) => Array<Name>(NAMES[i]?.[1] ?? 0).fill(name));
  const insert = sqlite.prepare(`
    INSERT INTO events
      (seq, id, project_seq, name, contact_seq, previous_seq, email_seq, data, created_at)
    VALUES (?, ?, ?, ?, ?, nullif(?, 0), NULL, ?, ?)`);
  const begin = untilMs - YEAR_MS;
  const firstEvent = 1 + lastSeqIn(sqlite);
  for (let batch = 0; batch < count; batch += BATCH) {
    sqlite.transaction(() => {
      for (let i = batch; i < Math.min(count, batch + BATCH); i++) {
        const at = begin + Math.floor((i / count) * YEAR_MS);
        const contact = random.integer(contacts);
        const name = random.pick(byShare);
        const data = dataOf(name.name, random);
        const previous = name.lastSeq[contact] ?? 0;
        insert.run(
          firstEvent + i,
          uuidAt(at, random),
          projectSeq,
          name.name,
          firstContact + contact,
          previous,
          data,
          at,
        );
        name.count++;
        name.lastAt[contact] = at;
        name.lastSeq[contact] = firstEvent + i;
        name.counts[contact] = (name.counts[contact] ?? 0) + 1;
      }
    })();
  }
}

function seedContactEvents(sqlite: Database, name: Name, firstContact: number): void {
  const { seq, lastAt, lastSeq, counts } = name;
  const insert = sqlite.prepare(`
    INSERT INTO contact_events (name_seq, contact_seq, last_at, last_seq, count)
    VALUES (?, ?, ?, ?, ?)`);
  sqlite.transaction(() => {
    lastAt.forEach((at, i) => {
      if (at > 0) insert.run(seq, firstContact + i, at, lastSeq[i] ?? 0, counts[i] ?? 0);
    });
  })();
}

function dataOf(name: string, random: Random): string | null {
  if (name === "purchase") return JSON.stringify({ amount: random.integer(50_000) / 100 });
  return name === "page.view" ? JSON.stringify({ path: random.pick(PATHS) }) : null;
}

function lastSeqIn(sqlite: Database): number {
  const [row] = sqlite.query<{ seq: number }, []>("SELECT max(seq) AS seq FROM events").all();
  return row?.seq ?? 0;
}
