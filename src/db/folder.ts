/**
 * The data folder: database, installation secret, and the lock that prevents a second server.
 * The lock is an open transaction on a separate file, and a lock of the folder, which holds also if
 * that file is deleted (folder-lock.ts). The operating system releases both when the process ends,
 * also after a crash.
 */

import { Database, SQLiteError } from "bun:sqlite";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { systemClock } from "../lib/clock.ts";
import { randomBase62 } from "../lib/crypto.ts";
import { tryLockFolder } from "./folder-lock.ts";

export type DataFolder = {
  /** Absolute path. */
  path: string;
  databaseFile: string;
  secret: string;
};

/** A problem of the data folder that the operator must fix; the message describes it. */
export class DataFolderError extends Error {
  /** The fix, if the message does not contain it. */
  readonly suggestion: string | null;

  constructor(message: string, suggestion: string | null = null, cause?: unknown) {
    super(message, { cause });
    this.suggestion = suggestion;
  }
}

const DATABASE = "mailstead.db";
const LOG = `${DATABASE}-wal`;
/** Folder in the data folder in which a restore works. It is left if the restore was interrupted. */
export const RESTORE_FOLDER = "restore.partial";
/** Folder in the data folder in which an import of a project works. */
export const IMPORT_FOLDER = "import.partial";
const SECRET_CHARACTERS = 43;
const LOCK_LIMIT_MS = 2_000;
const LOCK_PAUSE_MS = 20;
const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;

/** Whether the folder contains a database, its log or an interrupted restore. Creates nothing. */
export function hasInstallation(folder: string): boolean {
  return [DATABASE, LOG, RESTORE_FOLDER].some((file) => existsSync(join(folder, file)));
}

/** Throws DataFolderError if the folder has no installation. Creates nothing. */
export function requireInstallation(folder: string): void {
  const path = resolve(folder);
  if (hasInstallation(path)) return;
  requireVisible(path);
  throw new DataFolderError(
    `There is no installation in the data folder ${path}.`,
    "Name another data folder with --data, or create an installation there: mailstead serve",
  );
}

/** To a user without the permission, the files of an installation look as if they were missing. */
export function requireVisible(path: string): void {
  try {
    statSync(join(path, DATABASE));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EACCES")) return;
    throw new DataFolderError(
      `This user may not look into the data folder ${path}.`,
      "Run the command as its owner, such as: runuser -u mailstead -- mailstead …",
      error,
    );
  }
}

/** Returns the database file of an installation. Changes nothing in the folder. */
export function findDatabase(folder: string): string {
  requireInstallation(folder);
  const file = join(resolve(folder), DATABASE);
  ensureUsable(file);
  return file;
}

/**
 * Creates the folder if it is missing, and the secret of a new installation. `given` is used
 * instead of the stored secret.
 */
export function openDataFolder(folder: string, given: string | null): DataFolder {
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY_FOLDER });
    ensureUsable(join(path, DATABASE));
    return {
      path,
      databaseFile: join(path, DATABASE),
      secret: given ?? storedSecret(path),
    };
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const message = `The data folder ${path} cannot be used: ${why}`;
    throw new DataFolderError(message, accessFix(error, path), error);
  }
}

/** The fix for a folder of another user, such as a volume that root created; null for other errors. */
function accessFix(error: unknown, folder: string): string | null {
  const isDenied = error instanceof Error && "code" in error && error.code === "EACCES";
  const user = process.getuid?.();
  if (!isDenied || user === undefined) return null;
  return (
    `This process runs as user ${user}, who must own the folder and its files. As root: chown -R ${user} ${folder}, ` +
    "or run this process as their owner."
  );
}

/**
 * Throws DataFolderError if the database file is missing, empty or not a file. An interrupted first
 * start leaves none of these states, because a database gets its name when it is complete.
 */
function ensureUsable(file: string): void {
  const database = statSync(file, { throwIfNoEntry: false });
  const log = `${file}-wal`;
  if (database === undefined) {
    if (existsSync(join(file, "..", RESTORE_FOLDER))) {
      throw new DataFolderError(
        `${file} is missing, because a restore was interrupted.`,
        "Run mailstead restore again. The files that were there before are in a folder before-restore-….",
      );
    }
    if (!existsSync(log)) return;
    throw new DataFolderError(
      `${file} is missing, but its log ${log} is there.`,
      "Put the database back into the same folder, or restore the newest backup. " +
        "To start with a new database, move the log away.",
    );
  }
  if (!database.isFile()) throw new DataFolderError(`${file} is not a file.`);
  if (database.size > 0) return;
  throw new DataFolderError(
    `${file} is empty, so it is not a database.`,
    "Restore it from the newest backup. If nothing was ever stored here, delete it: " +
      "the next start creates a new database.",
  );
}

function storedSecret(path: string): string {
  const file = join(path, "secret");
  // This is checked before the secret: another process that creates the installation at the same
  // time writes the secret before the database.
  const isInUse = hasInstallation(path);
  if (!existsSync(file)) {
    // A new secret could not open the DKIM keys in the database, so no signed mail could leave.
    if (isInUse) throw lostSecret(file);
    // "wx": if two processes start at once, one of them writes the file and both read it.
    try {
      writeFileSync(file, `${randomBase62(SECRET_CHARACTERS)}\n`, {
        mode: OWNER_ONLY_FILE,
        flag: "wx",
        flush: true,
      });
    } catch (error) {
      const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
      if (!isThere) {
        // On a full disk the file was created, but has no content.
        rmSync(file, { force: true });
        throw error;
      }
    }
  }
  const secret = readFileSync(file, "utf8").trim();
  if (secret.length < SECRET_CHARACTERS) {
    throw new DataFolderError(
      `${file} is damaged: it must contain the installation secret. Restore it from a backup; ` +
        "without it, links in sent mails stop working and stored keys cannot be read.",
    );
  }
  chmodSync(file, OWNER_ONLY_FILE);
  return secret;
}

function lostSecret(file: string): DataFolderError {
  return new DataFolderError(
    `${file} is missing: the database beside it was created with that installation secret.`,
    "Restore the file secret from the backup, or pass the old secret with --secret; " +
      "without it, links in sent mails stop working and stored keys cannot be read.",
  );
}

export function lockFileOf(path: string): string {
  return join(path, "lock");
}

/**
 * Prevents other servers from using the folder until the returned function is called or the process
 * ends. Throws DataFolderError if another process has the lock.
 */
export function lockDataFolder(path: string): () => void {
  const unlock = tryLockDataFolder(path);
  if (unlock !== null) return unlock;
  throw new DataFolderError(
    `Another mailstead serves the data folder ${path}. ` +
      "Stop it first, or name a different folder with --data.",
  );
}

/**
 * Like `lockDataFolder`, but waits up to LOCK_LIMIT_MS for a command that holds the lock while it
 * creates or upgrades a database.
 */
export async function awaitDataFolder(path: string): Promise<() => void> {
  const deadline = systemClock.elapsed() + LOCK_LIMIT_MS;
  while (systemClock.elapsed() < deadline) {
    const unlock = tryLockDataFolder(path);
    if (unlock !== null) return unlock;
    await Bun.sleep(LOCK_PAUSE_MS);
  }
  return lockDataFolder(path);
}

/** Like `lockDataFolder`, but returns null if another process has the lock. */
export function tryLockDataFolder(path: string): (() => void) | null {
  const unlockFolder = tryLockFolder(path);
  if (unlockFolder === null) return null;
  try {
    const unlockFile = tryLockFile(lockFileOf(path));
    if (unlockFile === null) unlockFolder();
    else return joined(unlockFile, unlockFolder);
  } catch (error) {
    unlockFolder();
    throw error;
  }
  return null;
}

function joined(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}

/** Returns null if another process has the lock. */

function tryLockFile(file: string): (() => void) | null {
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
      "It contains no data: delete it while no server runs.",
      error,
    );
  }
  const held = lock;
  return () => {
    held.run("ROLLBACK");
    held.close();
  };
}

/** Returns the free bytes of the file system; null if the folder cannot be examined. */
export const freeBytes = (path: string): number | null => diskSpace(path)?.freeBytes ?? null;

/**
 * The bytes that a user without privileges may still write, and those that such users may use in
 * all, as `df` counts them. Null if the folder cannot be examined.
 */
export function diskSpace(path: string): { freeBytes: number; totalBytes: number } | null {
  try {
    const { bavail, bfree, blocks, bsize } = statfsSync(path);
    return { freeBytes: bavail * bsize, totalBytes: (blocks - bfree + bavail) * bsize };
  } catch {
    return null;
  }
}

/** Files whose lengths are added. A data folder has about ten. */
const MAX_FILES = 1_000;

/** The lengths of the files in a data folder, which has no folders of its own. */
export function usedBytes(folder: string): number {
  return readdirSync(folder)
    .slice(0, MAX_FILES)
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
