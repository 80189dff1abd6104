/**
 * The folder of the backups. Each backup is a folder in it, which gets its name when it is complete
 * and verified: `mailstead-INSTALLATION-TIME`. Until then, and while it is removed, its name ends with
 * `.partial`. Other files, and the backups of other installations, are left alone.
 */

import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { deriveKey } from "../lib/crypto.ts";
import { MANIFEST_NAME, readManifest } from "./extract.ts";
import { syncPath } from "./files.ts";
import type { Manifest } from "./manifest.ts";

const ID_CHARACTERS = 8;
const PARTIAL = ".partial";
/** Matches the time after the prefix in the name of a complete backup. */
const TIME = /^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/;

/** The beginning of the names of an installation's backups. */
export function prefixOf(secret: string): string {
  const id = deriveKey(secret, "backup-name").toString("hex").slice(0, ID_CHARACTERS);
  return `mailstead-${id}-`;
}

/**
 * Makes the folder of a new backup, which is not complete yet. Its name comes after all others, also
 * after one of the same second, and if the clock was set back: the order of the names tells which is the newest.
 */
export function beginBackup(folder: string, prefix: string, now: number): string {
  const [newest] = completeNames(folder, prefix);
  const after = newest === undefined ? 0 : timeOf(newest, prefix) + 1_000;
  const time = new Date(Math.max(now, after)).toISOString().replace(/[-:]|\.\d+/g, "");
  const partial = join(folder, `${prefix}${time}${PARTIAL}`);
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  return partial;
}

/** Gives a complete backup its name, and returns its path. */
export function publishBackup(folder: string, partial: string): string {
  const complete = partial.slice(0, -PARTIAL.length);
  syncPath(partial);
  renameSync(partial, complete);
  syncPath(folder);
  return complete;
}

/** Removes what an interrupted backup has left. Call it only while no other backup runs. */
export function removeParts(folder: string, prefix: string): void {
  for (const name of namesIn(folder, prefix)) {
    if (name.endsWith(PARTIAL)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

export type StoredBackup = { name: string; path: string; manifest: Manifest };

/** The complete backups of an installation, the newest first. */
export function listBackups(folder: string, prefix: string): StoredBackup[] {
  return completeNames(folder, prefix).map((name) => readBackup(folder, name));
}

export function findNewestBackup(folder: string, prefix: string): StoredBackup | null {
  const [name] = completeNames(folder, prefix);
  return name === undefined ? null : readBackup(folder, name);
}

/** Removes all but the newest `keep` backups; returns the names of the removed ones. */
export function removeOldBackups(folder: string, prefix: string, keep: number): string[] {
  const old = completeNames(folder, prefix).slice(keep);
  for (const path of old.map((name) => join(folder, name))) {
    // After an interruption, the rest is removed as a part.
    renameSync(path, `${path}${PARTIAL}`);
    rmSync(`${path}${PARTIAL}`, { recursive: true, force: true });
  }
  return old;
}

/** The time in a name, such as 20261127T160930Z, in milliseconds; 0 if there is no such time. */
function timeOf(name: string, prefix: string): number {
  return Date.parse(name.slice(prefix.length).replace(TIME, "$1-$2-$3:$4:$5")) || 0;
}

/** The newest first. A renamed folder is ignored. */
function completeNames(folder: string, prefix: string): string[] {
  return namesIn(folder, prefix)
    .filter((name) => TIME.test(name.slice(prefix.length)))
    .toSorted()
    .toReversed();
}

function readBackup(folder: string, name: string): StoredBackup {
  const path = join(folder, name);
  return { name, path, manifest: readManifest(join(path, MANIFEST_NAME)) };
}

function namesIn(folder: string, prefix: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(prefix));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
