/**
 * Makes an encrypted and verified backup, also while a server uses the database. The files of this folder,
 * in the order of their use:
 *
 * 1. The lock of the work folder, `backup` in the data folder, prevents a second backup. What an
 *    interrupted one has left is removed, here and in the folder of the backups (folder.ts).
 * 2. SQLite copies the database (VACUUM INTO); the manifest counts its rows (manifest.ts).
 * 3. The manifest, the secret and the copy become a tar file (archive.ts), which is compressed (zstd) and
 *    encrypted (age.ts) to the recovery key and to a key that only this process has.
 * 4. With the second key, the file is opened again and compared (extract.ts).
 * 5. The backup gets its name, and the oldest ones are removed.
 *
 * `restore.ts` brings a backup back.
 */

import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type DataFolder, freeBytes, tryLockDataFolder } from "../db/folder.ts";
import { openForReading } from "../db/open-stored.ts";
import { isoTime } from "../lib/clock.ts";
import { VERSION } from "../lib/version.ts";
import { encryptStream, generateKeyPair } from "./age.ts";
import { writeArchive } from "./archive.ts";
import { ARCHIVE_NAME, extractBackup, MANIFEST_NAME, streamOf } from "./extract.ts";
import { digestFile, readPieces, syncPath, writePieces, type Written } from "./files.ts";
import {
  beginBackup,
  prefixOf,
  publishBackup,
  removeOldBackups,
  removeParts,
  type StoredBackup,
} from "./folder.ts";
import { type Contents, countAllRows, type Manifest, newestMigration } from "./manifest.ts";
import { BackupError, BackupRunsError } from "./refusal.ts";

type Phase = "copy" | "encrypt" | "verify" | "publish";

type BackupOptions = {
  data: DataFolder;
  /** The folder of the backups. */
  folder: string;
  /** The number of backups that are kept. */
  keep: number;
  /** The public half of the recovery key. */
  recipient: string;
  now: () => number;
  onPhase: (phase: Phase) => void | Promise<void>;
};

type MadeBackup = StoredBackup & { removed: string[] };

/** Free space that must be left beside the copies. */
const SPARE_BYTES = 64 * 1024 * 1024;

/** Throws BackupError if another backup runs, or if the space is too small. */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const { data, folder, keep } = options;
  const prefix = prefixOf(data.secret);
  const unlock = lockWork(data.path);
  if (unlock === null) throw new BackupRunsError();
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeParts(folder, prefix);
    requireSpace(data, folder);
    const partial = beginBackup(folder, prefix, options.now());
    try {
      const manifest = await writeVerified(options, partial);
      await options.onPhase("publish");
      writeFileSync(join(partial, MANIFEST_NAME), `${JSON.stringify(manifest, null, 2)}\n`, {
        mode: 0o600,
        flush: true,
      });
      const path = publishBackup(folder, partial);
      const removed = removeOldBackups(folder, prefix, keep);
      return { name: basename(path), path, manifest, removed };
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      throw error;
    }
  } finally {
    clearWork(data.path);
    unlock();
  }
}

/** Removes what an interrupted backup has left, unless a backup runs. */
export function cleanBackups(data: Pick<DataFolder, "path" | "secret">, folder: string): void {
  const unlock = lockWork(data.path);
  if (unlock === null) return;
  try {
    removeParts(folder, prefixOf(data.secret));
  } finally {
    unlock();
  }
}

const workOf = (path: string): string => join(path, "backup");
const copyOf = (path: string): string => join(workOf(path), "work");

function lockWork(path: string): (() => void) | null {
  mkdirSync(workOf(path), { recursive: true, mode: 0o700 });
  const unlock = tryLockDataFolder(workOf(path));
  if (unlock !== null) clearWork(path);
  return unlock;
}

function clearWork(path: string): void {
  rmSync(copyOf(path), { recursive: true, force: true });
}

/** There is at most one copy of the database at a time beside the data, and one in the folder. */
function requireSpace({ path, databaseFile }: DataFolder, folder: string): void {
  const copyBytes = sizeOf(databaseFile) + sizeOf(`${databaseFile}-wal`);
  const isOneDisk = statSync(path).dev === statSync(folder).dev;
  const needed = (isOneDisk ? 2 : 1) * copyBytes + SPARE_BYTES;
  for (const place of [path, folder]) {
    const free = freeBytes(place);
    if (free !== null && free < needed) {
      throw new BackupError(
        `${place} has ${free} free bytes, and a backup needs up to ${needed}.`,
        "Free some space, or put the backups on another disk.",
      );
    }
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

async function writeVerified(options: BackupOptions, partial: string): Promise<Manifest> {
  const { data, recipient, now, onPhase } = options;
  const work = copyOf(data.path);
  const [copy, check] = [join(work, "copy.db"), join(work, "verify")];
  mkdirSync(check, { recursive: true, mode: 0o700 });
  await onPhase("copy");
  const contents = await copyDatabase(data.databaseFile, copy, now());
  await onPhase("encrypt");
  const file = join(partial, ARCHIVE_NAME);
  const { identity, recipient: own } = await generateKeyPair();
  const written = await encryptCopy(file, [recipient, own], {
    contents,
    secret: data.secret,
    copy,
  });
  rmSync(copy);
  await onPhase("verify");
  const read = await digestFile(file);
  if (read.sha256 !== written.sha256) {
    throw new BackupError(`${file} was not stored as it was written. Check the disk.`);
  }
  await extractBackup({ file, manifest: null }, identity, check);
  return { contents, ...written, verifiedAt: isoTime(now()) };
}

async function copyDatabase(from: string, to: string, now: number): Promise<Contents> {
  const source = openForReading(from);
  try {
    source.sqlite.query("VACUUM INTO ?").run(to);
  } finally {
    source.sqlite.close();
  }
  syncPath(to);
  return describeCopy(to, now);
}

/** The manifest of a database that no one changes. */
export async function describeCopy(copy: string, now: number): Promise<Contents> {
  const { bytes, sha256 } = await digestFile(copy);
  const { sqlite } = openForReading(copy);
  try {
    return {
      format: 1,
      version: VERSION,
      createdAt: isoTime(now),
      migration: newestMigration(sqlite),
      databaseBytes: bytes,
      databaseSha256: sha256,
      rows: countAllRows(sqlite),
    };
  } finally {
    sqlite.close();
  }
}

export async function encryptCopy(
  file: string,
  recipients: readonly string[],
  { contents, secret, copy }: { contents: Contents; secret: string; copy: string },
): Promise<Written> {
  const archive = writeArchive([
    member(MANIFEST_NAME, JSON.stringify(contents)),
    member("secret", `${secret}\n`),
    { name: "mailstead.db", bytes: contents.databaseBytes, content: readPieces(copy) },
  ]);
  const zipped = streamOf(archive).pipeThrough(new CompressionStream("zstd"));
  return writePieces(file, await encryptStream(zipped, recipients));
}

function member(name: string, text: string) {
  const bytes = Buffer.from(text);
  return { name, bytes: bytes.byteLength, content: oneOf(bytes) };
}

async function* oneOf(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}
