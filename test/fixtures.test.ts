/**
 * A database of every released version is opened by the present code, which applies the newer
 * migrations, and shows all records as that version did. An answer may have gained members, and the
 * explanations of DNS records may have other words.
 */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { INVARIANTS } from "../src/cli/check/invariants.ts";
import { pendingMigrations } from "../src/db/migrate.ts";
import type { TestApp } from "./support/app.ts";
import {
  changedMigrations,
  DATABASE_FILE,
  FIXTURES,
  migrationDigests,
  openFilled,
  readStored,
  type Stored,
} from "./support/fixture.ts";
import { readAgain } from "./support/records.ts";

const versions = readdirSync(FIXTURES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && /^\d/.test(entry.name))
  .map(({ name }) => name);

test("there is a fixture", () => expect(versions).toContain("0.1.0"));

describe.each(versions)("the database of version %s", (version) => {
  const stored: Stored = readStored(join(FIXTURES, version));
  let folder: string;
  let t: TestApp;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "mailstead-fixture-"));
    const packed = readFileSync(join(FIXTURES, version, DATABASE_FILE));
    writeFileSync(join(folder, "mailstead.db"), Bun.gunzipSync(packed));
    t = await openFilled(folder, stored.readAt);
  });
  afterAll(async () => {
    await t.close();
    t.db.sqlite.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("has rows in every table of that version", () => {
    const bytes = Bun.gunzipSync(readFileSync(join(FIXTURES, version, DATABASE_FILE)));
    const sqlite = Database.deserialize(bytes);
    const empty = sqlite
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all()
      .filter(({ name }) => sqlite.query(`SELECT 1 FROM ${name} LIMIT 1`).get() === null);
    sqlite.close();
    expect(empty).toEqual([]);
  });

  const get = (path: string) => t.call("GET", path, undefined, { key: stored.key });

  test("has all migrations and violates no invariant", () => {
    const { sqlite } = t.db;
    expect(pendingMigrations(sqlite)).toEqual([]);
    expect(sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    expect(sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
    const violated = INVARIANTS.filter(({ violations }) => sqlite.query(violations).get() !== null);
    expect(violated.map(({ name }) => name)).toEqual([]);
  });

  test("shows every record as that version did", async () => {
    const paths = Object.entries(stored.answers);
    expect(paths.length).toBeGreaterThan(50);
    for (const [path, answer] of paths) {
      const now = await readAgain(get, path, answer);
      expect({ [path]: now }).toMatchObject({ [path]: withAnyNotes(answer) });
    }
  });
});

/** A stored answer in which any text may explain a DNS record, but not none. */
function withAnyNotes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withAnyNotes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === "note" ? expect.stringMatching(/\w/) : withAnyNotes(member),
    ]),
  );
}

describe("a migration that was released", () => {
  const released = readReleased();

  test("does not change", () => {
    expect(changedMigrations(released, migrationDigests())).toEqual([]);
  });

  test("is reported if it changes or is removed, but not if another one is added", () => {
    const before = { "0000_a.sql": "1", "0001_b.sql": "2", "0002_c.sql": "3" };
    const now = { "0000_a.sql": "1", "0001_b.sql": "changed", "0003_d.sql": "4" };
    expect(changedMigrations(before, now)).toEqual(["0001_b.sql", "0002_c.sql"]);
  });

  function readReleased(): Record<string, unknown> {
    const list: unknown = JSON.parse(readFileSync(join(FIXTURES, "migrations.json"), "utf8"));
    return { ...(typeof list === "object" ? list : {}) };
  }
});
