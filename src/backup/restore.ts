/**
 * Restores a backup into a data folder. The database is decrypted and verified beside the old one,
 * then the old files are moved aside, then the new ones get their names. An interruption leaves the
 * old installation, or a folder that a server refuses until the restore is repeated (db/folder.ts). The queue
 * is held, because its mail may have left after the backup was made.
 */

import {
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { lockDataFolder, RESTORE_FOLDER } from "../db/folder.ts";
import { missingMigrations } from "../db/migrate.ts";
import { openStoredDatabase } from "../db/open-stored.ts";
import { holdQueue } from "../outbox/queue-hold.ts";
import { extractBackup, type FoundBackup } from "./extract.ts";
import { syncPath } from "./files.ts";
import type { Contents } from "./manifest.ts";
import { BackupError } from "./refusal.ts";

type Restored = {
  contents: Contents;
  /** Names of the migrations that the next start applies. */
  pendingMigrations: string[];
  /** The folder with the files of the installation that was there before; null if there was none. */
  movedTo: string | null;
};

/** Files that a data folder may have without being an installation. */
const HARMLESS: readonly string[] = ["lock", "lock-journal", "backup", RESTORE_FOLDER];
/** The beginning of the name of the folder with the files that were there before. */
const ASIDE = "before-restore-";
const REPLACED = [
  "mailstead.db",
  "mailstead.db-wal",
  "mailstead.db-shm",
  "secret",
  "dev-keys.json",
];

export async function restoreBackup(options: {
  from: FoundBackup;
  identity: string;
  /** Absolute path of the data folder. */
  data: string;
  /** Moves an installation in the folder aside; without it, a folder that is not empty is refused. */
  isReplacing: boolean;
  now: () => number;
}): Promise<Restored> {
  const { data, now } = options;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const unlock = lockDataFolder(data);
  try {
    const isInterrupted =
      existsSync(join(data, RESTORE_FOLDER)) && !existsSync(join(data, "mailstead.db"));
    if (!options.isReplacing && !isInterrupted) requireEmpty(data);
    const part = join(data, RESTORE_FOLDER);
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { mode: 0o700 });
    const { contents, pendingMigrations } = await extractHeld(options, part);
    const owner = statSync(data);
    giveTo(owner, [join(part, "secret"), join(part, "mailstead.db")]);
    const movedTo = moveAside(data, isInterrupted, now());
    if (movedTo !== null) giveTo(owner, [movedTo]);
    renameSync(join(part, "secret"), join(data, "secret"));
    renameSync(join(part, "mailstead.db"), join(data, "mailstead.db"));
    syncPath(data);
    rmSync(part, { recursive: true, force: true });
    return { contents, pendingMigrations, movedTo };
  } finally {
    unlock();
  }
}

const ROOT = 0;

/** The server runs as the owner of the folder, and could not read files that root leaves in it. */
function giveTo({ uid, gid }: { uid: number; gid: number }, paths: readonly string[]): void {
  if (process.geteuid?.() !== ROOT) return;
  for (const path of paths) lchownSync(path, uid, gid);
}

function requireEmpty(data: string): void {
  const found = readdirSync(data).filter((name) => !HARMLESS.includes(name));
  if (found.length === 0) return;
  throw new BackupError(
    `The data folder ${data} is not empty: it has ${found.slice(0, 3).join(", ")}.`,
    "Name another folder with --data, or move its installation aside with --replace.",
  );
}

async function extractHeld(
  { from, identity, now }: Parameters<typeof restoreBackup>[0],
  part: string,
): Promise<Omit<Restored, "movedTo">> {
  try {
    const contents = await extractBackup(from, identity, part);
    const db = openStoredDatabase(join(part, "mailstead.db"));
    try {
      holdQueue(db, now());
      const pendingMigrations = missingMigrations(db.sqlite).map(({ name }) => name);
      // The whole content must be in the file, because only this file gets a new name.
      db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
      return { contents, pendingMigrations };
    } finally {
      db.sqlite.close();
    }
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Moves the files of the installation into a folder of their own, or into that of an interrupted
 * restore, to whose files they belong. Files that are there already are not replaced: a second `secret`
 * is the restored one.
 */
function moveAside(data: string, isInterrupted: boolean, now: number): string | null {
  const begun = isInterrupted ? findAside(data) : null;
  const aside = join(data, begun ?? `${ASIDE}${new Date(now).toISOString().replaceAll(":", "")}`);
  const found = REPLACED.filter(
    (name) => existsSync(join(data, name)) && !existsSync(join(aside, name)),
  );
  if (found.length > 0) mkdirSync(aside, { recursive: true, mode: 0o700 });
  for (const name of found) renameSync(join(data, name), join(aside, name));
  return found.length > 0 || begun !== null ? aside : null;
}

function findAside(data: string): string | null {
  const names = readdirSync(data).filter((name) => name.startsWith(ASIDE));
  return names.toSorted().at(-1) ?? null;
}
