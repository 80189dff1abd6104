/**
 * Databases for tests: in memory, where one connection writes and reads, or in a file, so that threads
 * read. With TEST_FILES=1 all tests use files.
 */

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/db/migrate.ts";
import { type Db, openCopy, openDatabase } from "../../src/db/open.ts";

let image: Uint8Array | null = null;

/**
 * Opens a database in memory that has all migrations. They run once in each process, and every
 * database is a copy of the first one, because they take 50 ms and a copy takes 4 ms.
 */
export function migratedDatabase(): Db {
  if (process.env["TEST_FILES"] === "1") return migratedFile();
  return openCopy(migratedImage());
}

let folder: string | null = null;
let files = 0;

/** The same in a file. */
export function migratedFile(): Db {
  folder ??= newFolder();
  const file = join(folder, `${++files}.db`);
  writeFileSync(file, migratedImage());
  return openDatabase(file);
}

/** The bytes of a database file that has all migrations. */
export function migratedImage(): Uint8Array {
  image ??= makeImage();
  return image;
}

function makeImage(): Uint8Array {
  const db = openDatabase(":memory:");
  migrate(db.sqlite);
  const bytes = db.sqlite.serialize();
  db.sqlite.close();
  return bytes;
}

/**
 * A folder in memory, with the number of this process in its name. `bun test` ends its processes without
 * the event "exit", so the next run deletes the folders of processes that have ended.
 */
function newFolder(): string {
  const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  for (const name of readdirSync(base)) {
    const pid = /^mailstead-test-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) {
      rmSync(join(base, name), { recursive: true, force: true });
    }
  }
  const created = join(base, `mailstead-test-${process.pid}`);
  mkdirSync(created, { recursive: true });
  return created;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
