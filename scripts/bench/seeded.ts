/**
 * Provides data folders at full size: a million contacts, ten million events, 500 segments. The data
 * is created once per run, or read from `--seeded=FOLDER` (filled by scripts/seed.ts), and copied for
 * every measurement.
 */

import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { openDataFolder } from "../../src/db/folder.ts";
import { openDatabase } from "../../src/db/open.ts";
import { createWriter } from "../../src/db/writer.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { createKey } from "../../src/modules/keys.ts";
import { seed, type SeedSizes } from "../seed.ts";
import { temporaryFolder } from "./children.ts";
import { whole } from "./report.ts";

export type SeedOptions = { isQuick: boolean; seeded: string | null };

/** A copy of the seeded data for one measurement, which removes it at its end. */
export type Seeded = { data: string; key: string; sizes: SeedSizes };

const FULL: SeedSizes = { contacts: 1_000_000, events: 10_000_000, segments: 500 };
const QUICK: SeedSizes = { contacts: 100_000, events: 1_000_000, segments: 500 };

/** The folder created in this run; null before the first measurement that needs it. */
let created: string | null = null;

export async function seededFolder({ isQuick, seeded }: SeedOptions): Promise<Seeded> {
  const sizes = isQuick ? QUICK : FULL;
  const original = seeded ?? (created ??= await makeFolder(sizes));
  const data = temporaryFolder();
  for (const name of ["mailstead.db", "secret"]) {
    if (!existsSync(join(original, name))) throw new Error(`${original} has no ${name}`);
    cpSync(join(original, name), join(data, name));
  }
  Bun.spawnSync(["sync"]); // Otherwise the copy is written to disk during the measurement.
  return { data, key: await makeKey(data), sizes };
}

async function makeFolder(sizes: SeedSizes): Promise<string> {
  const folder = temporaryFolder();
  console.log(`seed: ${whole(sizes.contacts)} contacts, ${whole(sizes.events)} events`);
  await seed(folder, sizes);
  return folder;
}

async function makeKey(data: string): Promise<string> {
  const db = openDatabase(openDataFolder(data, null).databaseFile);
  const writer = createWriter(db, silentLog);
  const options = { kind: "SECRET", name: "bench", expiresAt: null } as const;
  const { text } = await writer.write(() => createKey({ db, clock: systemClock }, 1, options));
  await writer.drain();
  db.sqlite.close();
  return text;
}
