/** The places of backups in the arguments of commands: folders, files, and addresses in buckets. */

import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { FoundBackup } from "../backup/extract.ts";
import { ARCHIVE_NAME } from "../backup/manifest.ts";
import { BackupError } from "../backup/refusal.ts";
import { findBackup } from "../backup/stored.ts";
import { openTarget, type BackupTarget } from "../backup/target.ts";
import type { Config } from "../config/settings.ts";
import { systemClock } from "../lib/clock.ts";
import { isS3 } from "../lib/s3-location.ts";
import { s3AccessOf } from "../modules/backups.ts";
import { type Input, readSettings, UsageError } from "./command.ts";
import { STORE_SETTINGS } from "./store.ts";

export const TARGET = {
  name: "TARGET",
  help: "Folder of the backups, or s3://BUCKET/PREFIX; without it, --backup-to",
  isOptional: true,
} as const;
export const FROM = {
  name: "BACKUP",
  help: "Folder of one backup, its encrypted file, or s3://BUCKET/PREFIX/NAME",
} as const;
/** The settings of a bucket. */
export const S3_SETTINGS = [
  "s3Endpoint",
  "s3Region",
  "s3AccessKeyId",
  "s3SecretAccessKey",
] as const;
export const TARGET_SETTINGS = [...STORE_SETTINGS, "backupTo", ...S3_SETTINGS] as const;

/** The name of the target of the argument, else of that of the settings. */
export function targetName({ io, positionals }: Input, config: Config): string {
  const [given] = positionals;
  const name = given === undefined || isS3(given) ? given : resolve(io.cwd, given);
  const chosen = name ?? config.backupTo;
  if (chosen !== null) return chosen;
  throw new UsageError("TARGET is needed: a folder or s3://BUCKET/PREFIX, or set --backup-to");
}

export const namedTarget = (input: Input, config: Config): BackupTarget =>
  openTarget(targetName(input, config), s3AccessOf(config, systemClock));

const folderIn = (address: string): string =>
  address.endsWith(`/${ARCHIVE_NAME}`) ? address.slice(0, -ARCHIVE_NAME.length - 1) : address;

/** The backup of the argument: the folder of one, its file, or its address in a bucket. */
export async function findNamedBackup(input: Input): Promise<FoundBackup> {
  const [given = ""] = input.positionals;
  const open = (name: string) =>
    openTarget(name, s3AccessOf(readSettings(input, { names: S3_SETTINGS }), systemClock));
  if (isS3(given)) return findBackup(open(folderIn(given)));
  const path = resolve(input.io.cwd, given);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new BackupError(`There is no backup at ${path}.`);
  return stat.isFile() ? findBackup(open(dirname(path)), basename(path)) : findBackup(open(path));
}
