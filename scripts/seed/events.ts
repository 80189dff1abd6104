/** Events of a year, and the summaries that are written beside the log. */

import type { Database } from "bun:sqlite";
import type { SeedOptions } from "./contacts.ts";
import { createRandom, type Random, uuidAt } from "./random.ts";

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
/** Of a hundred events. */
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
  /** By contact: when it last had one; 0 for never. */
  lastAt: Float64Array;
};

export function seedEvents(
  sqlite: Database,
  options: SeedOptions & { firstContact: number; contacts: number },
): void {
  const { projectSeq, contacts } = options;
  const names = NAMES.map(([name], i): Name => {
    return { name, seq: i + 1, count: 0, lastAt: new Float64Array(contacts) };
  });
  seedLog(sqlite, names, options);
  const insertName = sqlite.prepare(
    "INSERT INTO event_names (seq, project_seq, name, count) VALUES (?, ?, ?, ?)",
  );
  sqlite.transaction(() => {
    for (const { seq, name, count } of names) insertName.run(seq, projectSeq, name, count);
  })();
  for (const name of names) seedHistory(sqlite, name, options.firstContact);
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
    INSERT INTO events (id, project_seq, name, contact_seq, email_seq, data, created_at)
    VALUES (?, ?, ?, ?, NULL, ?, ?)`);
  const begin = untilMs - YEAR_MS;
  for (let batch = 0; batch < count; batch += BATCH) {
    sqlite.transaction(() => {
      for (let i = batch; i < Math.min(count, batch + BATCH); i++) {
        const at = begin + Math.floor((i / count) * YEAR_MS);
        const contact = random.integer(contacts);
        const name = random.pick(byShare);
        name.count++;
        name.lastAt[contact] = at;
        const data = dataOf(name.name, random);
        insert.run(uuidAt(at, random), projectSeq, name.name, firstContact + contact, data, at);
      }
    })();
  }
}

function seedHistory(sqlite: Database, { seq, lastAt }: Name, firstContact: number): void {
  const insert = sqlite.prepare(
    "INSERT INTO contact_events (name_seq, contact_seq, last_at) VALUES (?, ?, ?)",
  );
  sqlite.transaction(() => {
    lastAt.forEach((at, i) => {
      if (at > 0) insert.run(seq, firstContact + i, at);
    });
  })();
}

function dataOf(name: string, random: Random): string | null {
  if (name === "purchase") return JSON.stringify({ amount: random.integer(50_000) / 100 });
  return name === "page.view" ? JSON.stringify({ path: random.pick(PATHS) }) : null;
}
