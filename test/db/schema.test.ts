/**
 * The tables in `src/db/schema`, which queries use, equal the tables that `migrations/` creates.
 */

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { is } from "drizzle-orm";
import { getTableConfig, SQLiteSyncDialect, SQLiteTable } from "drizzle-orm/sqlite-core";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";

const SCHEMA = join(import.meta.dir, "../../src/db/schema");
const dialect = new SQLiteSyncDialect();

const files = readdirSync(SCHEMA).toSorted();
const modules: unknown[] = await Promise.all(files.map((file) => import(join(SCHEMA, file))));
const tables = modules
  .flatMap((exports) => (typeof exports === "object" && exports ? Object.values(exports) : []))
  .filter((value) => is(value, SQLiteTable))
  .map((table) => getTableConfig(table));

const { sqlite } = openDatabase(":memory:");
migrate(sqlite);

/** Removes differences of quotes, white space and case. */
const normalized = (sql: string): string =>
  sql
    .replaceAll(/[`"\s]+/g, " ")
    .trim()
    .toLowerCase();

function columnsOf(table: string): string[] {
  return sqlite
    .query<{ name: string; type: string; notnull: number; pk: number }, []>(
      `SELECT * FROM pragma_table_info('${table}')`,
    )
    .all()
    .map(({ name, type, notnull, pk }) => {
      const isRequired = notnull === 1 || pk > 0;
      return `${name} ${type.toLowerCase()}${isRequired ? " not null" : ""}`;
    })
    .toSorted();
}

function indexesOf(table: string): string[] {
  return sqlite
    .query<{ sql: string }, [string]>(
      "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
    )
    .all(table)
    .map(({ sql }) => normalized(sql))
    .toSorted();
}

test("the migrations create exactly the tables of the schema", () => {
  const created = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
    .map(({ name }) => name)
    // FTS5 has tables of its own behind the virtual table.
    .filter((name) => name !== "migrations" && !name.startsWith("inbox_search"));
  expect(created.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
});

for (const { name, columns, indexes, primaryKeys } of tables) {
  test(`${name} has the columns and indexes of the schema`, () => {
    const keys = primaryKeys.flatMap((key) => key.columns.map((column) => column.name));
    const expected = columns.map((column) => {
      const isRequired = column.notNull || column.primary || keys.includes(column.name);
      return `${column.name} ${column.getSQLType()}${isRequired ? " not null" : ""}`;
    });
    expect(columnsOf(name)).toEqual(expected.toSorted());

    const declared = indexes.map(({ config }) => {
      const on = config.columns.map((column) => ("name" in column ? column.name : "")).join(" , ");
      const where =
        config.where === undefined ? "" : ` where ${dialect.sqlToQuery(config.where).sql}`;
      return normalized(
        `create ${config.unique ? "unique " : ""}index ${config.name} on ${name} ( ${on} )${where}`,
      );
    });
    const unique = columns
      .filter((column) => column.isUnique)
      .map((column) =>
        normalized(`create unique index ${column.uniqueName} on ${name} ( ${column.name} )`),
      );
    expect(indexesOf(name)).toEqual([...declared, ...unique].toSorted());
  });
}
