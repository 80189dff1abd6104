/**
 * The contacts of the demonstration. They are made in memory first, because the mails and events of
 * a year change them; `insertContacts` writes their last state.
 */

import type { Database } from "bun:sqlite";
import { type Random, uuidAt } from "../random.ts";
import { REGIONS, spellings } from "./names.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;
const YEARS_MS = 900 * DAY_MS;
/** All domains end in .example, which no mail reaches (RFC 2606 §2). */
const MAIL_DOMAINS = [
  "gmail.example",
  "gmail.example",
  "gmail.example",
  "outlook.example",
  "outlook.example",
  "icloud.example",
  "post.example",
  "uni.example",
  "fastpost.example",
];
const PLANS = ["reader", "reader", "reader", "reader", "reader", "club", "club", "patron"];
const GENRES = ["crime", "fantasy", "travel", "history", "poetry", "children", "science"];

export type Person = {
  /** `seq` of its row. */
  seq: number;
  id: string;
  email: string;
  name: string;
  language: string;
  city: string;
  plan: string;
  genre: string;
  createdAt: number;
  /** Infinity while the contact is subscribed; 0 if it never was. */
  unsubscribedAt: number;
  /** Infinity while the address is not suppressed. */
  suppressedAt: number;
  suppression: "HARD_BOUNCE" | "COMPLAINT" | "MANUAL" | null;
  /** The mail that bounced or was reported; null if the address is not suppressed for a mail. */
  suppressedByMail: number | null;
};

const byShare = REGIONS.flatMap((region) =>
  Array<(typeof REGIONS)[number]>(region.share).fill(region),
);

/** People in the order of their registration; more of them registered recently. */
export function makePeople(
  random: Random,
  { count, untilMs }: { count: number; untilMs: number },
): Person[] {
  const taken = new Set<string>();
  return Array.from({ length: count }, (_, i) => {
    const createdAt = Math.floor(untilMs - YEARS_MS * (1 - Math.sqrt((i + 1) / (count + 1))) - 1);
    return makePerson(random, { seq: i + 1, createdAt, taken });
  });
}

function makePerson(
  random: Random,
  { seq, createdAt, taken }: { seq: number; createdAt: number; taken: Set<string> },
): Person {
  const region = random.pick(byShare);
  const given = spellings(random.pick(region.given));
  const family = spellings(random.pick(region.family));
  const name =
    region.isFamilyFirst === true
      ? `${family.shown} ${given.shown}`
      : `${given.shown} ${family.shown}`;
  const [first, last] = [given.ascii, family.ascii];
  const local = random.pick([
    `${first}.${last}`,
    `${first}${last}`,
    `${first.slice(0, 1)}.${last}`,
  ]);
  const domain = random.pick(MAIL_DOMAINS);
  const isTaken = taken.has(`${local}@${domain}`);
  const email = isTaken ? `${local}${seq}@${domain}` : `${local}@${domain}`;
  taken.add(email);
  return {
    seq,
    id: uuidAt(createdAt, random),
    email,
    name,
    language: region.language,
    city: random.pick(region.cities),
    plan: random.pick(PLANS),
    genre: random.pick(GENRES),
    createdAt,
    unsubscribedAt: random.integer(100) < 5 ? 0 : Infinity,
    suppressedAt: Infinity,
    suppression: null,
    suppressedByMail: null,
  };
}

/** Number of people who had registered by this time. */
export function countBefore(people: readonly Person[], at: number): number {
  let [low, high] = [0, people.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((people[middle]?.createdAt ?? Infinity) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function insertContacts(
  sqlite: Database,
  { projectSeq, people }: { projectSeq: number; people: readonly Person[] },
): void {
  const insert = sqlite.prepare(`
    INSERT INTO contacts (seq, id, project_seq, email, is_subscribed, data, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  sqlite.transaction(() => {
    for (const person of people) {
      const { seq, id, email, createdAt, unsubscribedAt } = person;
      const isSubscribed = unsubscribedAt === Infinity ? 1 : 0;
      const updatedAt = isSubscribed === 1 ? createdAt : Math.max(createdAt, unsubscribedAt);
      const data = JSON.stringify(dataOf(person));
      insert.run(seq, id, projectSeq, email, isSubscribed, data, createdAt, updatedAt);
    }
  })();
}

function dataOf({ seq, name, language, city, plan, genre, createdAt }: Person) {
  return {
    name,
    language,
    city,
    plan,
    favouriteGenre: genre,
    signupDate: new Date(createdAt).toISOString().slice(0, 10),
    ...(seq % 3 === 0 ? { loyaltyPoints: (seq * 37) % 2400 } : {}),
    ...(seq % 7 === 0 ? { wantsParcelNews: seq % 2 === 0 } : {}),
  };
}

/** Writes the suppressed addresses of contacts, and some that an administrator entered. */
export function insertSuppressions(
  sqlite: Database,
  {
    projectSeq,
    people,
    untilMs,
  }: { projectSeq: number; people: readonly Person[]; untilMs: number },
): void {
  const manual = Array.from({ length: 12 }, (_, i) => ({
    email: i % 4 === 0 ? `do-not-write-${i}@press.example` : `former.member${i}@post.example`,
    suppression: "MANUAL" as const,
    suppressedByMail: null,
    suppressedAt: untilMs - (i + 1) * 23 * DAY_MS,
  }));
  const rows = [...people.filter(({ suppression }) => suppression !== null), ...manual];
  rows.sort((a, b) => a.suppressedAt - b.suppressedAt);
  const insert = sqlite.prepare(
    "INSERT INTO suppressions (project_seq, email, reason, created_at, email_seq) VALUES (?, ?, ?, ?, ?)",
  );
  sqlite.transaction(() => {
    for (const { email, suppression, suppressedAt, suppressedByMail } of rows) {
      insert.run(projectSeq, email, suppression, suppressedAt, suppressedByMail);
    }
  })();
}
