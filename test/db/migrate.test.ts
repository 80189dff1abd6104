import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseTooNewError, migrate, pendingMigrations } from "../../src/db/migrate.ts";

let db: Database;
beforeEach(() => {
  db = new Database(":memory:");
  db.run("PRAGMA foreign_keys = ON");
});
afterEach(() => db.close());

const first = { name: "0000_first", sql: "CREATE TABLE a (id INTEGER PRIMARY KEY);" };
const second = {
  name: "0001_second",
  sql: "CREATE TABLE b (id INTEGER);\nINSERT INTO b VALUES (1);",
};
const tables = () =>
  db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);
const enforces = () => Object(db.query("PRAGMA foreign_keys").get()).foreign_keys === 1;

describe("migrations", () => {
  test("are applied in order, once, and recorded with name and time", () => {
    expect(migrate(db, [first, second], 1234)).toEqual(["0000_first", "0001_second"]);
    expect(migrate(db, [first, second], 5678)).toEqual([]);
    expect(db.query("SELECT * FROM migrations ORDER BY name").all()).toEqual([
      { name: "0000_first", applied_at: 1234 },
      { name: "0001_second", applied_at: 1234 },
    ]);
    expect(tables()).toEqual(["a", "b", "migrations"]);
  });

  test("that are added later are applied alone", () => {
    migrate(db, [first]);
    expect(migrate(db, [first, second])).toEqual(["0001_second"]);
  });

  test("are identified by name: an older one that was never applied is applied", () => {
    migrate(db, [second]);
    expect(pendingMigrations(db, [first, second])).toEqual([first]);
    expect(migrate(db, [first, second])).toEqual(["0000_first"]);
  });

  test("of a newer version are refused by name, and the database is not changed", () => {
    migrate(db, [first, second, { name: "0002_future", sql: "CREATE TABLE c (id INTEGER);" }]);
    const before = db.serialize();
    expect(() => migrate(db, [first, second])).toThrow(DatabaseTooNewError);
    expect(() => migrate(db, [first, second])).toThrow(/newer.*0002_future/);
    expect(db.serialize().equals(before)).toBe(true);
  });

  test("that fail are undone; earlier ones stay applied, and later ones wait", () => {
    const broken = {
      name: "0001_broken",
      sql: "CREATE TABLE b (id INTEGER); INSERT INTO nowhere VALUES (1);",
    };
    const third = { name: "0002_third", sql: "CREATE TABLE c (id INTEGER);" };
    expect(() => migrate(db, [first, broken, third])).toThrow("nowhere");
    expect(tables()).toEqual(["a", "migrations"]);
    expect([db.inTransaction, enforces()]).toEqual([false, true]);
    const fixed = { name: "0001_broken", sql: "CREATE TABLE b (id INTEGER);" };
    expect(migrate(db, [first, fixed, third])).toEqual(["0001_broken", "0002_third"]);
  });
});

describe("foreign keys", () => {
  const family = {
    name: "0000_family",
    sql: `CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE children (parent INTEGER NOT NULL REFERENCES parents (id) ON DELETE CASCADE);
      INSERT INTO parents VALUES (1, 'p'); INSERT INTO children VALUES (1);`,
  };

  test("do not delete child rows when a table is rebuilt, and are enforced afterwards", () => {
    const rebuild = {
      name: "0001_rebuild",
      sql: `CREATE TABLE rebuilt (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        INSERT INTO rebuilt SELECT id, name FROM parents;
        DROP TABLE parents; ALTER TABLE rebuilt RENAME TO parents;`,
    };
    migrate(db, [family, rebuild]);
    expect(db.query("SELECT count(*) AS n FROM children").get()).toEqual({ n: 1 });
    expect(enforces()).toBe(true);
    expect(() => db.run("INSERT INTO children VALUES (2)")).toThrow("FOREIGN KEY");
  });

  test("broken by a migration are found before its commit", () => {
    const careless = { name: "0001_careless", sql: "DELETE FROM parents;" };
    expect(() => migrate(db, [family, careless])).toThrow(/0001_careless.*1 broken reference/);
    expect(db.query("SELECT count(*) AS n FROM parents").get()).toEqual({ n: 1 });
    expect(pendingMigrations(db, [family, careless])).toEqual([careless]);
    expect(enforces()).toBe(true);
  });
});

describe("the migrations of this repository", () => {
  test("are those of the folder, in order", () => {
    const folder = join(import.meta.dir, "../../migrations");
    const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
    expect(migrate(db)).toEqual(files.map((file) => file.slice(0, -4)).sort());
  });

  test("leave a valid database with no pending migration", () => {
    migrate(db);
    expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    expect(db.query("PRAGMA foreign_key_check").all()).toEqual([]);
    expect(pendingMigrations(db)).toEqual([]);
  });

  test("give every reference an index, so that deleting a row never reads a whole table", () => {
    migrate(db);
    const missing = tables().flatMap((table) =>
      db
        .query<{ from: string }, []>(`PRAGMA foreign_key_list(${table})`)
        .all()
        .filter(({ from }) => from !== "project_seq" && !isIndexed(table, from))
        .map(({ from }) => `${table}.${from}`),
    );
    expect(missing).toEqual([]);
  });

  /** Whether an index or the primary key begins with the column. */
  function isIndexed(table: string, column: string): boolean {
    const plan = db
      .query<{ detail: string }, []>(
        `EXPLAIN QUERY PLAN SELECT 1 FROM ${table} WHERE ${column} = 1`,
      )
      .all();
    return plan.every(({ detail }) => detail.startsWith("SEARCH"));
  }
});
