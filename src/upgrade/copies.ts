/** The copies of the database that an upgrade makes, beside a server and after it has stopped. */

import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncPath } from "../backup/files.ts";
import { openForReading } from "../db/open-stored.ts";
import type { Clock } from "../lib/clock.ts";
import { asOwner, type Programs, requireSuccess, runVersion } from "./programs.ts";
import { STOPPED_FOLDER } from "./rollback.ts";

/**
 * Where the scheduled backups are, if there are any and a recovery key, with the variables of
 * `mailstead backup run`; null for a plain copy.
 */
export type BackupBefore = { to: string; variables: Record<string, string> } | null;

type Places = {
  data: string;
  /** The folder of upgrades in it. */
  work: string;
  /** The installed executable. */
  executable: string;
  programs: Programs;
};

const PLAIN = "before-";
const PARTIAL = ".partial";
const NOTHING_CHANGED = "Nothing was changed.";

/** Makes a backup and verifies it. Returns a sentence that tells which. */
export async function makeVerifiedBackup(
  places: Places,
  target: BackupBefore,
  version: string,
): Promise<string> {
  return target === null ? plainBackup(places, version) : encryptedBackup(places, target);
}

async function encryptedBackup(
  { executable, programs }: Places,
  { to, variables }: NonNullable<BackupBefore>,
): Promise<string> {
  const env = { ...programs.env, ...variables };
  const ran = await runVersion(executable, ["backup", "run"], { ...programs, env });
  requireSuccess(ran, "The backup failed", NOTHING_CHANGED);
  return `An encrypted backup was made in ${to} and verified.`;
}

/** The copy of an earlier upgrade is removed when the new one is verified. */
async function plainBackup(places: Places, version: string): Promise<string> {
  const { work, executable, programs } = places;
  const name = PLAIN + version;
  const partial = join(work, name + PARTIAL);
  await copyTo(places, partial);
  const ran = await runVersion(executable, ["check", "--data", partial], programs);
  requireSuccess(
    ran,
    "The database has faults already, which mailstead check found in a copy",
    "Nothing was changed. Mend them first: see docs/operations.md, “When something is wrong”.",
  );
  const complete = join(work, name);
  asOwner(programs, () => {
    rmSync(complete, { recursive: true, force: true });
    renameSync(partial, complete);
    syncPath(work);
    const others = readdirSync(work).filter((each) => each.startsWith(PLAIN) && each !== name);
    for (const each of others) rmSync(join(work, each), { recursive: true, force: true });
  });
  return `A plain copy was made in ${complete} and checked. It is kept until the next upgrade.`;
}

async function copyTo({ data, executable, programs }: Places, folder: string): Promise<void> {
  asOwner(programs, () => rmSync(folder, { recursive: true, force: true }));
  const ran = await runVersion(executable, ["backup", folder, "--data", data], programs);
  requireSuccess(ran, "The database could not be copied", NOTHING_CHANGED);
}

/** The names of the migrations that the new version applied to a copy, and the time that they took. */
export type CopyTrial = { migrations: string[]; migratedInMs: number };

/** Lets the new version migrate and check a copy. */
export async function tryOnCopy(
  places: Places,
  { next, version, clock }: { next: string; version: string; clock: Pick<Clock, "elapsed"> },
): Promise<CopyTrial> {
  const trial = join(places.work, "trial");
  try {
    await copyTo(places, trial);
    const before = appliedMigrations(trial, places.programs);
    const run = async (command: string): Promise<void> => {
      const ran = await runVersion(next, [command, "--data", trial], places.programs);
      const message = `mailstead ${command} of version ${version} fails on a copy of the database`;
      requireSuccess(ran, message, `${NOTHING_CHANGED} Tell the makers of Mailstead.`);
    };
    const startedAt = clock.elapsed();
    await run("migrate");
    const migratedInMs = clock.elapsed() - startedAt;
    await run("check");
    const migrations = appliedMigrations(trial, places.programs).filter(
      (name) => !before.includes(name),
    );
    return { migrations, migratedInMs };
  } finally {
    asOwner(places.programs, () => rmSync(trial, { recursive: true, force: true }));
  }
}

/** Copies the database of a stopped server, so that the old version can come back to it. */
export async function copyStopped(places: Places): Promise<void> {
  await copyTo(places, join(places.work, STOPPED_FOLDER));
}

/** The names of the migrations that a database has. */
export function appliedMigrations(data: string, programs: Programs): string[] {
  return asOwner(programs, () => {
    const { sqlite } = openForReading(join(data, "mailstead.db"));
    try {
      return sqlite
        .query<{ name: string }, []>("SELECT name FROM migrations")
        .all()
        .map(({ name }) => name);
    } finally {
      sqlite.close();
    }
  });
}
