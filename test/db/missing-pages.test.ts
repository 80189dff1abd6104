import { afterEach, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Db, openDatabase } from "../../src/db/open.ts";
import { refuseMissingPages } from "../../src/db/missing-pages.ts";
import { cutShort, PAGE_BYTES } from "../support/damage.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * Leaves a database as a killed process does: pages in its file, and the writes of `change` in its
 * log.
 */
function leftBehind(change: (db: Db) => void): string {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-missing-pages-"));
  folders.push(folder);
  const file = join(folder, "test.db");
  const db = openDatabase(file);
  db.sqlite.run("CREATE TABLE things (bytes BLOB)");
  insert(db, 50);
  db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  change(db);
  const left = join(folder, "left.db");
  for (const ending of ["", "-wal"]) copyFileSync(file + ending, left + ending);
  db.sqlite.close();
  return left;
}

const insert = ({ sqlite }: Db, pages: number) =>
  sqlite.run("INSERT INTO things VALUES (zeroblob(?))", [pages * PAGE_BYTES]);

test("a database that grew in its log is complete, and the check copies nothing", () => {
  const file = leftBehind((db) => insert(db, 100));
  const before = statSync(file).size;
  const db = openDatabase(file, { create: false });
  refuseMissingPages(db);
  expect(statSync(file).size).toBe(before);
  expect(db.fault.current()).toBeNull();
  db.sqlite.close();
});

test("a database whose file was truncated is damaged, even if it grew in its log", () => {
  const file = leftBehind((db) => insert(db, 100));
  cutShort(file, 20 * PAGE_BYTES);
  const db = openDatabase(file, { create: false });
  expect(() => refuseMissingPages(db)).toThrow();
  expect(db.fault.current()).toEqual({ kind: "damaged", file, finding: "it was cut short" });
  db.sqlite.close();
});

test("pages that the database no longer uses may be missing", () => {
  const file = leftBehind((db) => {
    db.sqlite.run("DELETE FROM things");
    db.sqlite.run("CREATE TABLE small (id INTEGER)");
  });
  const pages = statSync(file).size / PAGE_BYTES;
  cutShort(file, (pages - 1) * PAGE_BYTES);
  const db = openDatabase(file, { create: false });
  refuseMissingPages(db);
  expect(db.fault.current()).toBeNull();
  db.sqlite.close();
});
