/**
 * Makes an encrypted and verified backup, also while a server uses the database. The files of this folder,
 * in the order of their use:
 *
 * 1. The lock of the work folder, `backup` in the data folder, prevents a second backup. Files that an
 *    interrupted backup has left are removed, here and in the target (stored.ts). Free space is
 *    checked.
 * 2. SQLite copies the database (VACUUM INTO); the manifest counts its rows (manifest.ts).
 * 3. The manifest, the secret and the copy become a tar file (archive.ts), which is compressed (zstd) and
 *    encrypted (age.ts) to the recovery key and to a key that only this process has. It is made in its
 *    place if the target is a folder, else in the work folder.
 * 4. With the second key, the file is opened again and compared (extract.ts).
 * 5. A target in a bucket gets the file (s3-target.ts). Then the file is read back from the target and
 *    its digest compared.
 * 6. The manifest is stored, and from then on the backup counts. Old ones are removed.
 *
 * `restore.ts` brings a backup back.
 */

import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type DataFolder, freeBytes, tryLockDataFolder } from "../db/folder.ts";
import { openForReading } from "../db/open-stored.ts";
import type { BackupKeep } from "../lib/backup-keep.ts";
import { isoTime } from "../lib/clock.ts";
import { VERSION } from "../lib/version.ts";
import { encryptStream, generateKeyPair } from "./age.ts";
import { writeArchive } from "./archive.ts";
import { extractBackup } from "./extract.ts";
import {
  countPieces,
  digestFile,
  digestPieces,
  readPieces,
  streamOf,
  syncPath,
  writePieces,
  type Written,
} from "./files.ts";
import {
  ARCHIVE_NAME,
  type Contents,
  countAllRows,
  type Manifest,
  MANIFEST_NAME,
  newestMigration,
} from "./manifest.ts";
import type { BackupPhase, BackupProgress } from "./phases.ts";
import { BackupError, BackupRunsError } from "./refusal.ts";
import {
  installationId,
  nextName,
  readInventory,
  removeOldBackups,
  removeParts,
  type StoredBackup,
} from "./stored.ts";
import { pathIn, type BackupTarget } from "./target.ts";

/** The copy reads each page once, so a cache helps nothing. */
const COPY_CACHE_KIB = 4 * 1024;

type BackupOptions = {
  data: DataFolder;
  target: BackupTarget;
  keep: BackupKeep;
  /** The public half of the recovery key. */
  recipient: string;
  now: () => number;
  /** Called when a phase begins, and often while it lasts. */
  onProgress: (progress: BackupProgress) => void | Promise<void>;
};

type MadeBackup = StoredBackup & { removed: string[] };

const MIB = 1024 * 1024;
/** Free space that must be left beside the copies. */
const SPARE_BYTES = 64 * MIB;
/** Free space is looked at again after this many bytes. */
const SPACE_CHECK_BYTES = 16 * MIB;

/** Throws BackupError if another backup runs, or if the space is too small. */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const { data, target, keep, now, onProgress } = options;
  const id = installationId(data.secret);
  const unlock = lockWork(data.path);
  if (unlock === null) throw new BackupRunsError();
  try {
    const before = await readInventory(target, id);
    await removeParts(target, id, before.parts);
    const name = nextName(id, before.names, now());
    const archive = join(target.folder ?? copyOf(data.path), name, ARCHIVE_NAME);
    mkdirSync(dirname(archive), { recursive: true, mode: 0o700 });
    requireSpace(data, target, before.complete[0] ?? null);
    const manifest = await storeArchive(options, { id, name, archive });
    await onProgress({ phase: "publish", bytes: 0, totalBytes: null });
    const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    await target.write(`${name}/${MANIFEST_NAME}`, oneOf(text), text.byteLength);
    const made = { name, path: pathIn(target, name), manifest };
    await onProgress({ phase: "remove", bytes: 0, totalBytes: null });
    const removed = await removeOldBackups(target, [made, ...before.complete], keep);
    return { ...made, removed };
  } catch (error) {
    await discardParts(target, id);
    throw explainFullDisk(error, data.path, target.name);
  } finally {
    clearWork(data.path);
    unlock();
  }
}

/** Removes the files that an interrupted backup has left, unless a backup runs. */
export async function cleanBackups(
  { path, secret }: Pick<DataFolder, "path" | "secret">,
  target: BackupTarget,
): Promise<void> {
  const unlock = lockWork(path);
  if (unlock === null) return;
  try {
    await removeAllParts(target, installationId(secret));
  } finally {
    unlock();
  }
}

async function removeAllParts(target: BackupTarget, id: string): Promise<void> {
  const { parts } = await readInventory(target, id);
  await removeParts(target, id, parts);
}

/** Removes the files that a failed backup has stored, so that a full disk has its space again. */
async function discardParts(target: BackupTarget, id: string): Promise<void> {
  try {
    await removeAllParts(target, id);
  } catch {
    // The same fault as that of the backup, usually. The next backup removes the parts or tells of it.
  }
}

/** Returns the error with the remedy if a disk has become full. */
function explainFullDisk(error: unknown, ...places: string[]): unknown {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code !== "ENOSPC" && code !== "SQLITE_FULL") return error;
  return new BackupError(
    `A disk became full while the backup was made (${places.join(", ")}).`,
    "Free some space, and run the backup again.",
    error,
  );
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

/**
 * There are at most a copy of the database and the archive at a time. The archive is as large as the
 * last one was in proportion, with a reserve, and at most as large as the copy.
 */
function requireSpace(
  { path, databaseFile }: DataFolder,
  { folder }: BackupTarget,
  last: StoredBackup | null,
): void {
  const copyBytes = sizeOf(databaseFile) + sizeOf(`${databaseFile}-wal`);
  const share =
    last === null
      ? 1
      : Math.min(1, (1.5 * last.manifest.bytes) / last.manifest.contents.databaseBytes);
  const archiveBytes = Math.ceil(copyBytes * share);
  const isOneDisk = folder === null || statSync(path).dev === statSync(folder).dev;
  requireFree(path, copyBytes + (isOneDisk ? archiveBytes : 0));
  if (folder !== null && !isOneDisk) requireFree(folder, archiveBytes);
}

function requireFree(place: string, bytes: number): void {
  const free = freeBytes(place);
  const needed = bytes + SPARE_BYTES;
  if (free === null || free >= needed) return;
  throw new BackupError(
    `${place} has ${mib(free)} free, and the backup needs up to ${mib(needed)}.`,
    "Free some space, or put the backups or the data on a larger disk.",
  );
}

const mib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

type Place = { id: string; name: string; archive: string };

/** Makes the archive, verifies it, and stores it in the target. */
async function storeArchive(
  { data, target, recipient, now, onProgress }: BackupOptions,
  { id, name, archive }: Place,
): Promise<Manifest> {
  const work = copyOf(data.path);
  const [copy, check] = [join(work, "copy.db"), join(work, "verify")];
  mkdirSync(check, { recursive: true, mode: 0o700 });
  /** Tells of a phase, and returns the function that tells how far it is. */
  const begin = async (phase: BackupPhase, totalBytes: number | null) => {
    await onProgress({ phase, bytes: 0, totalBytes });
    return (bytes: number) => onProgress({ phase, bytes, totalBytes });
  };

  await begin("copy", null);
  const contents = await copyDatabase(data.databaseFile, copy, now());

  const encrypted = await begin("encrypt", contents.databaseBytes);
  const { identity, recipient: own } = await generateKeyPair();
  const content = watchSpace(countPieces(readPieces(copy), encrypted), dirname(archive));
  const written = await encryptCopy(archive, [recipient, own], {
    contents,
    secret: data.secret,
    content,
  });
  rmSync(copy);

  const opened = await begin("verify", written.bytes);
  requireFree(check, contents.databaseBytes);
  const read = () => countPieces(readPieces(archive), opened);
  await extractBackup({ file: archive, read, manifest: null }, identity, check);
  rmSync(check, { recursive: true });

  const path = `${name}/${ARCHIVE_NAME}`;
  if (target.folder === null) {
    const uploaded = await begin("upload", written.bytes);
    await target.write(path, countPieces(readPieces(archive), uploaded), written.bytes);
  }
  const compared = await begin("check", written.bytes);
  const { sha256 } = await digestPieces(countPieces(target.read(path), compared));
  if (sha256 !== written.sha256) {
    throw new BackupError(
      `${pathIn(target, path)} was not stored as it was written.`,
      target.folder === null ? "Tell the operator of the service." : "Check the disk.",
    );
  }
  return { installation: id, contents, ...written, verifiedAt: isoTime(now()) };
}

/** The server must not lose its last space to a backup. */
async function* watchSpace(
  pieces: AsyncIterable<Uint8Array>,
  folder: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let unchecked = 0;
  for await (const piece of pieces) {
    unchecked += piece.byteLength;
    if (unchecked >= SPACE_CHECK_BYTES) {
      requireFree(folder, 0);
      unchecked = 0;
    }
    yield piece;
  }
}

async function copyDatabase(from: string, to: string, now: number): Promise<Contents> {
  const source = openForReading(from);
  try {
    source.sqlite.run(`PRAGMA cache_size = -${COPY_CACHE_KIB}`);
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
  {
    contents,
    secret,
    content,
  }: { contents: Contents; secret: string; content: AsyncIterable<Uint8Array> },
): Promise<Written> {
  const archive = writeArchive([
    member(MANIFEST_NAME, JSON.stringify(contents)),
    member("secret", `${secret}\n`),
    { name: "mailstead.db", bytes: contents.databaseBytes, content },
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
