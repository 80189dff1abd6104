/** Inserts contacts that have data of every type. */

import { recountUsage } from "../../src/db/usage-recount.ts";
import type { Database } from "bun:sqlite";
import { createRandom, type Random, uuidAt } from "./random.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS = 730;
const NAMES = ["ada", "grace", "linus", "mary", "john", "zoe", "peter", "olga", "ivan", "wei"];
export const DOMAINS = [
  "gmail.com",
  "example.com",
  "mail.example.org",
  "firma.example",
  "outlook.com",
];
const COUNTRIES = ["DE", "US", "FR", "JP", "BR", "IN", "GB", "ES", "IT", "PL"];

export type SeedOptions = {
  projectSeq: number;
  count: number;
  /** End of the data, as epoch milliseconds; the newest row is shortly before it. */
  untilMs: number;
};

/** Returns the `seq` of the first contact; the others follow without gaps. */
export function seedContacts(sqlite: Database, options: SeedOptions): number {
  const { projectSeq, count, untilMs } = options;
  const random = createRandom(20_260_101);
  const insert = sqlite.prepare(`
    INSERT INTO contacts (seq, id, project_seq, email, is_subscribed, data, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const [row] = sqlite.query("SELECT coalesce(max(seq), 0) + 1 FROM contacts").values();
  const first = Number(row?.[0]);
  const begin = untilMs - DAYS * DAY_MS;
  sqlite.transaction(() => {
    for (let i = 0; i < count; i++) {
      const at = begin + Math.floor((i / count) * DAYS * DAY_MS);
      const name = random.pick(NAMES);
      const email = `${name}.${random.bits().toString(36)}${i.toString(36)}@${random.pick(DOMAINS)}`;
      const isSubscribed = random.integer(10) > 0 ? 1 : 0;
      const data = JSON.stringify(dataOf(name, at, random));
      insert.run(first + i, uuidAt(at, random), projectSeq, email, isSubscribed, data, at, at);
    }
  })();
  recountUsage(sqlite);
  return first;
}

function dataOf(name: string, at: number, random: Random) {
  const dice = random.integer(10);
  return {
    name,
    plan: dice < 7 ? "free" : dice < 9 ? "pro" : "team",
    country: random.pick(COUNTRIES),
    score: random.integer(1000),
    signupDate: new Date(at).toISOString().slice(0, 10),
    ...(random.integer(10) < 6 ? { newsletter: random.integer(2) === 1 } : {}),
    ...(random.integer(10) < 2 ? { tags: [random.pick(COUNTRIES).toLowerCase(), "beta"] } : {}),
  };
}
