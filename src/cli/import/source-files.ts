/** Finds the files of an export: files, folders with all that they contain, and ZIP archives. */

import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { MAX_IMPORT_BYTES, sizeText } from "../../http/body-limits.ts";
import { UsageError } from "../command.ts";
import { readZip } from "./zip.ts";

const MAX_FILES = 10_000;
const KINDS = /\.(?:csv|json|html?)$/i;

export type SourceFile = {
  /** Path in its folder or archive, with slashes. */
  name: string;
  bytes: Uint8Array;
  /** False for a file of a folder or an archive, which may contain others than those to import. */
  isNamed: boolean;
};

/** Yields the CSV, JSON and HTML files, one at a time, because all of them may not fit into memory. */
export function* readSourceFiles(paths: readonly string[]): Generator<SourceFile> {
  let count = 0;
  for (const path of paths) {
    for (const file of filesAt(path)) {
      if (++count > MAX_FILES)
        throw new UsageError(`${path} contains more than ${MAX_FILES} files`);
      yield file;
    }
  }
}

function* filesAt(path: string): Generator<SourceFile> {
  if (statOf(path).isDirectory()) {
    const names = readable(path, () => readdirSync(path, { recursive: true, encoding: "utf8" }));
    names.sort();
    for (const name of names.filter((each) => KINDS.test(each))) {
      const inside = join(path, name);
      if (!statOf(inside).isFile()) continue;
      yield {
        name: relative(path, inside).replaceAll("\\", "/"),
        bytes: readWhole(inside),
        isNamed: false,
      };
    }
    return;
  }
  if (/\.zip$/i.test(path)) {
    const wanted = { isWanted: (name: string) => KINDS.test(name), maxBytes: MAX_IMPORT_BYTES };
    for (const { name, bytes } of readZip(path, wanted)) yield { name, bytes, isNamed: false };
    return;
  }
  if (!KINDS.test(path))
    throw new UsageError(`${path}: expected a .csv, .json, .html or .zip file`);
  yield { name: basename(path), bytes: readWhole(path), isNamed: true };
}

/** A file that is left out could be the one that says who left, so one that cannot be read is refused. */
function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new UsageError(`${path} cannot be read: ${error.message}`);
  }
}

function statOf(path: string): Stats {
  const stat = readable(path, () => statSync(path, { throwIfNoEntry: false }));
  if (stat === undefined) throw new UsageError(`${path}: no file or folder has this name`);
  return stat;
}

function readWhole(path: string): Uint8Array {
  if (statOf(path).size > MAX_IMPORT_BYTES) {
    throw new UsageError(
      `${path} is larger than ${sizeText(MAX_IMPORT_BYTES)}: export it in parts`,
    );
  }
  return readable(path, () => readFileSync(path));
}
