/** A folder of this machine as the place of the backups. */

import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readPieces, syncPath, writePieces } from "./files.ts";
import type { StoredFile, BackupTarget } from "./target.ts";

/** The end of the name of a file that is being written. */
export const PARTIAL = ".partial";

export function folderTarget(folder: string): BackupTarget {
  return {
    name: folder,
    folder,
    async list(prefix) {
      return entriesOf(folder)
        .filter(({ name }) => name.startsWith(prefix))
        .flatMap((entry) =>
          entry.isDirectory() ? filesIn(folder, entry.name) : fileAt(folder, entry.name),
        );
    },
    async *read(path) {
      yield* readPieces(join(folder, path));
    },
    async write(path, pieces) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      await writePieces(`${file}${PARTIAL}`, pieces);
      renameSync(`${file}${PARTIAL}`, file);
      syncPath(dirname(file));
      syncPath(folder);
    },
    async remove(path) {
      const file = join(folder, path);
      const parent = path.endsWith("/") ? file : dirname(file);
      if (parent !== file) rmSync(file, { force: true });
      const isOurs = parent !== folder && entriesOf(parent).length === 0;
      if (isOurs) rmdirSync(parent);
      syncPath(isOurs ? folder : parent);
    },
    // A file that was not written to its end is listed.
    async removeUnfinished() {},
  };
}

function filesIn(folder: string, name: string): StoredFile[] {
  const files = entriesOf(join(folder, name))
    .filter((entry) => entry.isFile())
    .flatMap((entry) => fileAt(folder, `${name}/${entry.name}`));
  return files.length > 0 ? files : [{ path: `${name}/`, bytes: 0 }];
}

function fileAt(folder: string, path: string): StoredFile[] {
  const stat = statSync(join(folder, path), { throwIfNoEntry: false });
  return stat?.isFile() === true ? [{ path, bytes: stat.size }] : [];
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
