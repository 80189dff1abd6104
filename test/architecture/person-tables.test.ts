/** Each table has an entry with the part that an export shows, and its treatment by an erasure. */

import { describe, expect, test } from "bun:test";
import { PERSON_TABLES } from "../../src/modules/privacy/person-tables.ts";
import { PACKED, readTables, searchSql } from "../../src/modules/privacy/sweep.ts";
import { createQueryRunner } from "../../src/db/queries.ts";
import { planOf } from "../support/outbox.ts";
import { migratedDatabase } from "../support/database.ts";

const db = migratedDatabase();
const { sqlite } = db;
const tables = sqlite
  .query<{ name: string; sql: string }, []>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name",
  )
  .all();

const columnsOf = (table: string, type: string): string[] =>
  sqlite
    .query<{ name: string }, [string, string]>(
      "SELECT name FROM pragma_table_info(?) WHERE lower(type) = ?",
    )
    .all(table, type)
    .map(({ name }) => name);

describe("each table", () => {
  test("is listed in modules/privacy/person-tables.ts", () => {
    const names = tables.map(({ name }) => name);
    expect(names.filter((name) => !(name in PERSON_TABLES))).toEqual([]);
    expect(Object.keys(PERSON_TABLES).filter((name) => !names.includes(name))).toEqual([]);
  });

  test("says why nothing of it is exported", () => {
    const silent = Object.entries(PERSON_TABLES).filter(
      ([, { exported, reason }]) => exported === null && reason === undefined,
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  test("says how its columns of bytes are searched", () => {
    const missing = tables.flatMap(({ name }) => {
      const said = Object.keys(PERSON_TABLES[name]?.bytes ?? {});
      return columnsOf(name, "blob").toSorted().join() === said.toSorted().join() ? [] : [name];
    });
    expect(missing).toEqual([]);
    for (const [name, column] of Object.entries(PACKED)) {
      expect(columnsOf(name, "blob")).toContain(column);
    }
  });

  test("that is searched has numbered rows and belongs to a project", () => {
    const searched = readTables(sqlite).map(({ name }) => name);
    const withoutRowid = tables.filter(({ sql }) => /WITHOUT\s+ROWID/i.test(sql));
    expect(withoutRowid.filter(({ name }) => searched.includes(name))).toEqual([]);
  });

  test("is searched in the order of its rows", () => {
    createQueryRunner(sqlite, () => 0);
    const plans = readTables(sqlite).map((table) => ({
      table: table.name,
      plan: planOf(db, searchSql(table, 2)).split("\n"),
    }));
    const isInOrder = (plan: readonly string[]) =>
      plan[0]?.includes("SEARCH t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)") === true &&
      !plan.some((line) => line.includes("TEMP B-TREE"));
    expect(plans.filter(({ plan }) => !isInOrder(plan))).toEqual([]);
  });

  test("leaves out columns only that exist", () => {
    const unknown = Object.entries(PERSON_TABLES).flatMap(([name, { unsearched = {} }]) =>
      Object.keys(unsearched).filter((column) => !columnsOf(name, "text").includes(column)),
    );
    expect(unknown).toEqual([]);
  });
});
