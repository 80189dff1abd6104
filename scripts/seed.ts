/**
 * Fills a data folder with a project that has contacts, events and segments. The content is the same
 * in every run.
 *
 * `bun scripts/seed.ts --data FOLDER [--contacts 1000000] [--events 10000000] [--segments 500]
 *   [--until 2026-01-31]`
 *
 * The newest data is of the day before `--until` (default: today). The folder must not contain
 * contacts yet. Prints the secret key of the project.
 *
 * `bun scripts/seed.ts --demo --data FOLDER [--scale small|full|large|million] [--seed NUMBER]
 *   [--until 2026-01-31T12:00:00Z]`
 *
 * This makes the project "Harbour Books" with a year of mails instead (seed/demo.ts), whose newest
 * data is of the time `--until` (default: now). Prints how to start the server and sign in.
 */

import "../src/lib/production.ts";
import { parseArgs } from "node:util";
import { openDataFolder } from "../src/db/folder.ts";
import { migrate } from "../src/db/migrate.ts";
import { type Db, openDatabase } from "../src/db/open.ts";
import { createWriter } from "../src/db/writer.ts";
import { systemClock } from "../src/lib/clock.ts";
import { silentLog } from "../src/lib/log.ts";
import { createReader } from "../src/events/reader.ts";
import { createKey } from "../src/modules/keys.ts";
import { createProject, findProject } from "../src/modules/projects.ts";
import { type Demo, seedDemo } from "./seed/demo.ts";
import { DEMO_SCALES } from "./seed/demo/year.ts";
import { dropIndexes } from "./seed/indexes.ts";
import { seedContacts } from "./seed/contacts.ts";
import { seedEvents } from "./seed/events.ts";
import { seedSegments } from "./seed/segments.ts";

export type SeedSizes = { contacts: number; events: number; segments: number };

type Log = (text: string) => void;

const DAY_MS = 24 * 60 * 60 * 1000;
const PROJECT = "Seed";
const TABLES = ["contacts", "events"];
/** Names of the readers of the event log. */
const READERS = ["workflows", "webhooks"];

/** Fills the folder and returns the secret key. `log` receives a line for each step. */
export async function seed(
  folder: string,
  sizes: SeedSizes,
  { untilMs = startOfToday(), log = silent }: { untilMs?: number; log?: Log } = {},
): Promise<string> {
  const { databaseFile } = openDataFolder(folder, null);
  const db = openDatabase(databaseFile);
  migrate(db.sqlite);
  const { sqlite } = db;
  const [existing] = sqlite.query("SELECT seq FROM contacts LIMIT 1").values();
  if (existing !== undefined) throw new Error(`${folder} already contains contacts`);
  const { projectSeq, key } = await prepareProject(db);

  const step = (name: string, work: () => void) => {
    const startedAt = performance.now();
    work();
    log(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  };
  // Durability is not needed: an interrupted run is repeated in a new folder.
  sqlite.run("PRAGMA synchronous = OFF");
  sqlite.run("PRAGMA foreign_keys = OFF");
  const createIndexes = dropIndexes(sqlite, TABLES);
  let firstContact = 0;
  step(`${sizes.contacts} contacts`, () => {
    firstContact = seedContacts(sqlite, { projectSeq, count: sizes.contacts, untilMs });
  });
  step(`${sizes.events} events`, () => {
    const { contacts, events: count } = sizes;
    seedEvents(sqlite, { projectSeq, count, untilMs, firstContact, contacts });
  });
  // The readers of the log have read all events, as they would have in a real project.
  for (const name of READERS) createReader({ db, name }).skip();
  step(`${sizes.segments} segments`, () =>
    seedSegments(sqlite, { projectSeq, count: sizes.segments, untilMs }),
  );
  step("indexes", createIndexes);
  step("checkpoint", () => sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)"));
  sqlite.close();
  return key;
}

function prepareProject(db: Db): Promise<{ projectSeq: number; key: string }> {
  const clock = systemClock;
  return createWriter(db, silentLog).write(() => {
    const { seq } = findProject({ db }, PROJECT) ?? createProject({ db, clock }, PROJECT);
    const options = { kind: "SECRET", name: "seed", expiresAt: null } as const;
    return { projectSeq: seq, key: createKey({ db, clock }, seq, options).text };
  });
}

function silent(): void {}

function startOfToday(): number {
  return Math.floor(Date.now() / DAY_MS) * DAY_MS;
}

function parseCount(text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`${text} is not a whole number`);
  return value;
}

function parseTime(text: string | undefined, fallback: number): number {
  const time = text === undefined ? fallback : Date.parse(text);
  if (Number.isNaN(time)) throw new Error("--until must be a date such as 2026-01-31");
  return time;
}

function describeDemo(folder: string, { projectId, secretKey, password, users }: Demo): string {
  const width = Math.max(...users.map(({ email }) => email.length));
  return [
    `The project Harbour Books (${projectId}) is in ${folder}.`,
    `Start the server:  bun src/main.ts serve --transport capture --data ${folder}`,
    `Secret key:        ${secretKey}`,
    `Sign in at /app with one of these addresses and the password ${password}`,
    ...users.map(
      ({ email, role, isDisabled }) =>
        `  ${email.padEnd(width)}  ${role ?? "OWNER"}${isDisabled ? " (disabled)" : ""}`,
    ),
  ].join("\n");
}

async function runDemo(
  folder: string,
  values: { scale?: string | undefined; seed?: string | undefined; until?: string | undefined },
): Promise<void> {
  const { scale = "full" } = values;
  const sizes = new Map(Object.entries(DEMO_SCALES)).get(scale);
  if (sizes === undefined) throw new Error("--scale must be small, full, large or million");
  const demo = await seedDemo(folder, {
    sizes,
    untilMs: parseTime(values.until, Date.now()),
    seed: parseCount(values.seed, 1),
    log: (text) => console.error(text),
  });
  console.log(describeDemo(folder, demo));
  if (demo.violations.length === 0) return console.log("All checks passed.");
  console.error(["The checks found faults:", ...demo.violations].join("\n"));
  process.exitCode = 1;
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      data: text,
      contacts: text,
      events: text,
      segments: text,
      until: text,
      scale: text,
      seed: text,
      demo: { type: "boolean", default: false },
    },
  });
  if (values.data === undefined) throw new Error("--data FOLDER is required");
  if (values.demo) await runDemo(values.data, values);
  else {
    const sizes = {
      contacts: parseCount(values.contacts, 1_000_000),
      events: parseCount(values.events, 10_000_000),
      segments: parseCount(values.segments, 500),
    };
    const untilMs = parseTime(values.until, startOfToday());
    console.log(await seed(values.data, sizes, { untilMs, log: (line) => console.error(line) }));
  }
}
