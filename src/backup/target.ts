/** The place of the backups: a folder, or a prefix in an S3 bucket. */

import { resolve } from "node:path";
import { s3Address, isS3, parseS3Location } from "../lib/s3-location.ts";
import { folderTarget } from "./folder-target.ts";
import { BackupError } from "./refusal.ts";
import { type S3Access, s3Target } from "./s3-target.ts";

/** `path` is relative to the target, with `/` between the parts. */
export type StoredFile = { path: string; bytes: number };

export type BackupTarget = {
  /** As the operator writes it: an absolute path, or s3://BUCKET/PREFIX. */
  name: string;
  /** The folder on this machine; null if the target is elsewhere. */
  folder: string | null;
  /**
   * The files in the folders of the target whose names begin with the prefix, and those files of the
   * target itself. A folder without files is listed with a slash at its end.
   */
  list(prefix: string): Promise<StoredFile[]>;
  read(path: string): AsyncGenerator<Uint8Array, void, undefined>;
  /** Stores a file under its name when all of it is there, durably. */
  write(path: string, pieces: AsyncIterable<Uint8Array>, bytes: number): Promise<void>;
  /** Removes a file, and the folder that is empty without it. */
  remove(path: string): Promise<void>;
  /** Removes uploads below the prefix that were interrupted. */
  removeUnfinished(prefix: string): Promise<void>;
};

/** Opens a target by its name. Nothing is read or created yet. */
export function openTarget(name: string, access: S3Access): BackupTarget {
  if (!isS3(name)) return folderTarget(resolve(name));
  const location = parseS3Location(name);
  if (location !== null) return s3Target(s3Address(location), location, access);
  throw new BackupError(
    `"${name}" is not the address of a place in a bucket.`,
    "It has the form s3://BUCKET/PREFIX. BUCKET has 3 to 63 small letters, digits, dots and hyphens; " +
      "PREFIX has letters, digits and . _ - in parts of up to 100.",
  );
}

export const pathIn = ({ name }: BackupTarget, path: string): string =>
  `${name.endsWith("/") ? name : `${name}/`}${path}`;
