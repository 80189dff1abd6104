/**
 * The data folder: database, installation secret, and the lock that keeps a second server out.
 * The lock is an open transaction on a file of its own: the system drops it with the process,
 * however that ends.
 */

import { Database, SQLiteError } from "bun:sqlite";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { systemClock } from "../lib/clock.ts";
import { randomBase62 } from "../lib/crypto.ts";

export type DataFolder = {
  /** Absolute. */
  path: string;
  databaseFile: string;
  secret: string;
};

/** Something about the folder that the operator has to mend; the message says what. */
export class DataFolderError extends Error {
  /** What to do, where the message does not say it. */
  readonly suggestion: string | null;

  constructor(message: string, suggestion: string | null = null) {
    super(message);
    this.suggestion = suggestion;
  }
}

const DATABASE = "mailstead.db";
const LOG = `${DATABASE}-wal`;
const SECRET_CHARACTERS = 43;
const LOCK_LIMIT_MS = 2_000;
const LOCK_PAUSE_MS = 20;
const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;

/** True if the folder holds a database, or its log, whatever state they are in. Makes nothing. */
export function hasInstallation(folder: string): boolean {
  return [DATABASE, LOG].some((file) => existsSync(join(folder, file)));
}

/** For commands that only make sense where there is something to work on. */
export function requireInstallation(folder: string): void {
  const path = resolve(folder);
  if (hasInstallation(path)) return;
  throw new DataFolderError(
    `There is no installation in the data folder ${path}.`,
    "Name the folder of yours with --data, or make one there: mailstead serve",
  );
}

/** The database file of an installation, for commands that change nothing in the folder. */
export function findDatabase(folder: string): string {
  requireInstallation(folder);
  const file = join(resolve(folder), DATABASE);
  ensureUsable(file);
  return file;
}

/**
 * Makes the folder where it is missing, and the secret of a new installation. `given` overrides
 * the kept secret.
 */
export function openDataFolder(folder: string, given: string | null): DataFolder {
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY_FOLDER });
    ensureUsable(join(path, DATABASE));
    return {
      path,
      databaseFile: join(path, DATABASE),
      secret: given ?? keptSecret(path),
    };
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new DataFolderError(`The data folder ${path} cannot be used: ${why}`);
  }
}

/** Throws DataFolderError on a state that no start leaves behind, since databases are made whole. */
function ensureUsable(file: string): void {
  const database = statSync(file, { throwIfNoEntry: false });
  const log = `${file}-wal`;
  if (database === undefined) {
    if (!existsSync(log)) return;
    throw new DataFolderError(
      `${file} is missing, but its log ${log} is there.`,
      "Put the database back beside its log, or restore the newest backup. " +
        "To begin with a new database, move the log away.",
    );
  }
  if (!database.isFile()) throw new DataFolderError(`${file} is not a file.`);
  if (database.size > 0) return;
  throw new DataFolderError(
    `${file} is empty, so it is not a database.`,
    "Restore it from the newest backup. If nothing was ever stored here, delete it: " +
      "the next start makes a new one.",
  );
}

function keptSecret(path: string): string {
  const file = join(path, "secret");
  // Asked first: another process that makes the installation makes its secret before the database.
  const isInUse = hasInstallation(path);
  if (!existsSync(file)) {
    // A new secret would not open the keys in the database: all signed mail would wait in vain.
    if (isInUse) throw lostSecret(file);
    // "wx": of two processes that start at once, one writes and both read the same.
    try {
      writeFileSync(file, `${randomBase62(SECRET_CHARACTERS)}\n`, {
        mode: OWNER_ONLY_FILE,
        flag: "wx",
        flush: true,
      });
    } catch (error) {
      if (!existsSync(file)) throw error;
    }
  }
  const secret = readFileSync(file, "utf8").trim();
  if (secret.length < SECRET_CHARACTERS) {
    throw new DataFolderError(
      `${file} is damaged: it must hold the installation secret. Restore it from a backup; ` +
        "without it, links in mails that were sent and stored keys are lost.",
    );
  }
  chmodSync(file, OWNER_ONLY_FILE);
  return secret;
}

function lostSecret(file: string): DataFolderError {
  return new DataFolderError(
    `${file} is missing: the database beside it was made with that installation secret.`,
    "Restore the file secret from the backup, or give the old secret with --secret; " +
      "without it, links in mails that were sent and stored keys are lost.",
  );
}

export function lockFileOf(path: string): string {
  return join(path, "lock");
}

/** Keeps other servers out until the returned function is called or the process ends. */
export function lockDataFolder(path: string): () => void {
  const unlock = tryLockDataFolder(path);
  if (unlock !== null) return unlock;
  throw new DataFolderError(
    `Another mailstead serves the data folder ${path}. ` +
      "Stop it first, or give this one a folder of its own with --data.",
  );
}

/** As `lockDataFolder`, but waits for a command that has the lock for a moment to make or upgrade a database. */
export async function awaitDataFolder(path: string): Promise<() => void> {
  const deadline = systemClock.elapsed() + LOCK_LIMIT_MS;
  while (systemClock.elapsed() < deadline) {
    const unlock = tryLockDataFolder(path);
    if (unlock !== null) return unlock;
    await Bun.sleep(LOCK_PAUSE_MS);
  }
  return lockDataFolder(path);
}

/** As `lockDataFolder`, but null where another process has the lock. */
export function tryLockDataFolder(path: string): (() => void) | null {
  const file = lockFileOf(path);
  let lock: Database | null = null;
  try {
    lock = new Database(file, { create: true });
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (error instanceof SQLiteError && error.code === "SQLITE_BUSY") return null;
    const why = error instanceof Error ? error.message : String(error);
    throw new DataFolderError(
      `The file ${file} cannot be used: ${why}.`,
      "No data is in it: delete it while no server runs.",
    );
  }
  const held = lock;
  return () => {
    held.run("ROLLBACK");
    held.close();
  };
}

/** Bytes that may still be written there; null where the folder is missing or cannot be examined. */
export function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}
