/**
 * The backups in a target. Each is a folder `mailstead-INSTALLATION-TIME` with the encrypted archive
 * and, stored after it, the manifest: without its manifest a backup is a part of an interrupted one.
 * A removed backup loses its manifest first. Nothing else in the target is changed, and no backup
 * whose manifest is not one of this installation.
 */

import { deriveKey } from "../lib/crypto.ts";
import { keptBackups, type BackupKeep } from "../lib/backup-keep.ts";
import { systemTimeZone } from "../lib/time-zone.ts";
import { PARTIAL } from "./folder-target.ts";
import type { FoundBackup } from "./extract.ts";
import {
  ARCHIVE_NAME,
  type Manifest,
  MANIFEST_NAME,
  MAX_MANIFEST_BYTES,
  parseManifest,
} from "./manifest.ts";
import { BackupError } from "./refusal.ts";
import { pathIn, type StoredFile, type BackupTarget } from "./target.ts";

const ID_CHARACTERS = 8;
const NAME = /^mailstead-([0-9a-f]{8})-(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/;
const OWN_FILES: readonly string[] = [
  MANIFEST_NAME,
  `${MANIFEST_NAME}${PARTIAL}`,
  ARCHIVE_NAME,
  "",
];
/** Manifests that are read at once. */
const CONCURRENT_READS = 8;

export type StoredBackup = { name: string; path: string; manifest: Manifest };
/** A backup that cannot be used. It is not removed. */
export type DamagedBackup = { name: string; path: string; fault: string };
/** The folder of a backup and the sizes of its files. */
type Folder = { name: string; files: ReadonlyMap<string, number> };

/** Each list begins with the newest. */
export type Inventory = {
  complete: StoredBackup[];
  damaged: DamagedBackup[];
  parts: Folder[];
  /** All names. */
  names: string[];
};

export const installationId = (secret: string): string =>
  deriveKey(secret, "backup-name").toString("hex").slice(0, ID_CHARACTERS);

/** The beginning of the names of an installation's backups, or of all. */
export const prefixOf = (id: string | null): string => `mailstead-${id === null ? "" : `${id}-`}`;

/** The installation has the id; null for all installations. */
export async function readInventory(target: BackupTarget, id: string | null): Promise<Inventory> {
  const folders = foldersOf(await target.list(prefixOf(id)));
  const begun = folders.filter(({ files }) => files.has(MANIFEST_NAME));
  const read: (StoredBackup | DamagedBackup)[] = [];
  for (let at = 0; at < begun.length; at += CONCURRENT_READS) {
    const some = begun.slice(at, at + CONCURRENT_READS);
    read.push(...(await Promise.all(some.map((folder) => readBackup(target, folder)))));
  }
  return {
    complete: read.filter((backup) => "manifest" in backup),
    damaged: read.filter((backup) => "fault" in backup),
    parts: folders.filter(({ files }) => !files.has(MANIFEST_NAME)),
    names: folders.map(({ name }) => name),
  };
}

/** The newest complete backup; null if there is none. */
export async function findNewestBackup(
  target: BackupTarget,
  id: string,
): Promise<StoredBackup | null> {
  for (const folder of foldersOf(await target.list(prefixOf(id)))) {
    if (!folder.files.has(MANIFEST_NAME)) continue;
    const found = await readBackup(target, folder);
    if ("manifest" in found) return found;
  }
  return null;
}

/** The newest first. Other names are ignored. */
function foldersOf(files: readonly StoredFile[]): Folder[] {
  const folders = new Map<string, Map<string, number>>();
  for (const { path, bytes } of files) {
    const at = path.indexOf("/");
    const name = path.slice(0, Math.max(at, 0));
    if (!NAME.test(name)) continue;
    const known = folders.get(name) ?? new Map<string, number>();
    folders.set(name, known.set(path.slice(at + 1), bytes));
  }
  return [...folders]
    .map(([name, found]) => ({ name, files: found }))
    .toSorted((one, other) => timeOf(other.name) - timeOf(one.name));
}

async function readBackup(
  target: BackupTarget,
  { name, files }: Folder,
): Promise<StoredBackup | DamagedBackup> {
  const path = pathIn(target, name);
  const manifest = await readManifest(target, `${name}/${MANIFEST_NAME}`).catch(unreadable);
  if (typeof manifest === "string") return { name, path, fault: manifest };
  if (manifest.installation !== NAME.exec(name)?.[1]) {
    return { name, path, fault: "Its manifest is that of another installation." };
  }
  const bytes = files.get(ARCHIVE_NAME);
  if (bytes === manifest.bytes) return { name, path, manifest };
  const fault =
    bytes === undefined
      ? `It has no ${ARCHIVE_NAME}.`
      : `Its ${ARCHIVE_NAME} has ${bytes} bytes instead of ${manifest.bytes}.`;
  return { name, path, fault };
}

/** The fault of a manifest. Other errors, such as those of the network, are not about one backup. */
function unreadable(error: unknown): string {
  if (error instanceof ManifestError) return error.message;
  throw error;
}

class ManifestError extends BackupError {}

async function readManifest(target: BackupTarget, path: string): Promise<Manifest> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of target.read(path)) {
    bytes += piece.byteLength;
    if (bytes > MAX_MANIFEST_BYTES) break;
    pieces.push(piece);
  }
  try {
    return parseManifest(Buffer.concat(pieces).toString("utf8"));
  } catch (error) {
    const message = `${pathIn(target, path)} cannot be read: it is damaged, or of a later version.`;
    const fix =
      "The archive beside it may be whole: move the manifest away, and verify the archive with --key-file.";
    throw new ManifestError(message, fix, error);
  }
}

/**
 * The name of a new backup. It comes after all others, also after one of the same second, and if the
 * clock was set back: the order of the names tells which is the newest.
 */
export function nextName(id: string, names: readonly string[], now: number): string {
  const after = Math.max(0, ...names.map((name) => timeOf(name) + 1_000));
  const time = new Date(Math.max(now, after)).toISOString().replace(/[-:]|\.\d+/g, "");
  return `${prefixOf(id)}${time}`;
}

/** The time in a name, such as 20261127T160930Z, in milliseconds; 0 if there is no such time. */
function timeOf(name: string): number {
  return Date.parse(name.replace(NAME, "$2-$3-$4:$5:$6")) || 0;
}

/** Removes what interrupted backups have left. Call it only while no other backup runs. */
export async function removeParts(target: BackupTarget, id: string, parts: Inventory["parts"]) {
  for (const part of parts) await removeFiles(target, part);
  await target.removeUnfinished(prefixOf(id));
}

/**
 * Removes the backups that are not kept, the oldest first, and returns their names. The newest backup
 * was verified just now.
 */
export async function removeOldBackups(
  target: BackupTarget,
  backups: readonly StoredBackup[],
  keep: BackupKeep,
): Promise<string[]> {
  const times = backups.map(({ manifest }) => Date.parse(manifest.contents.createdAt));
  const kept = keptBackups(times, keep, systemTimeZone());
  const old = backups.filter((_, place) => !kept.has(place)).toReversed();
  for (const { name, manifest } of old) {
    const files = new Map([
      [MANIFEST_NAME, 0],
      [ARCHIVE_NAME, manifest.bytes],
    ]);
    await removeFiles(target, { name, files });
  }
  return old.map(({ name }) => name);
}

/** The manifest first: after an interruption, the rest is removed as a part. */
async function removeFiles(target: BackupTarget, { name, files }: Folder): Promise<void> {
  for (const file of OWN_FILES) if (files.has(file)) await target.remove(`${name}/${file}`);
}

/** Finds a backup in a target that is its own folder. Throws BackupError if there is none. */
export async function findBackup(
  target: BackupTarget,
  archive = ARCHIVE_NAME,
): Promise<FoundBackup> {
  const files = await target.list("");
  const hasFile = (path: string) => files.some((file) => file.path === path);
  if (hasFile(archive)) {
    return {
      file: pathIn(target, archive),
      read: () => target.read(archive),
      manifest: hasFile(MANIFEST_NAME) ? await readManifest(target, MANIFEST_NAME) : null,
    };
  }
  const [newest] = foldersOf(files).filter((folder) => folder.files.has(MANIFEST_NAME));
  if (newest === undefined) throw new BackupError(`There is no backup at ${target.name}.`);
  throw new BackupError(
    `${target.name} is a place of several backups, so one of them must be named.`,
    `The newest one is ${pathIn(target, newest.name)}.`,
  );
}
