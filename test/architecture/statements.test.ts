/** The statements that are declared with `statement` (db/statement.ts), on a migrated database. */

import { describe, expect, test } from "bun:test";
import { declaredStatements } from "../../src/db/statement.ts";
import "../../src/modules.ts";
import { openOutbox, planOf } from "../support/outbox.ts";

/** The beginnings of statements that read a table without an index, each with the reason. */
const FULL_SCANS: Readonly<Record<string, string>> = {
  "SELECT seq, webhook_seq AS webhookSeq, contact_seq AS contactSeq, is_holding AS isHolding":
    "The purge reads the oldest deliveries in the order of the primary key, up to a limit.",
};

const { db } = openOutbox();
const statements = declaredStatements().map((sql) => sql.replaceAll(/\s+/g, " ").trim());

/**
 * Whether the statement reads a table, not a list of values, from its first row to its last. For an
 * automatic index SQLite does so each time.
 */
const scansTable = (sql: string): boolean =>
  planOf(db, sql)
    .split("\n")
    .some((line) => /^SCAN (?!CONSTANT ROW)(?!.* INDEX )| AUTOMATIC /.test(line));

const sorts = (sql: string): boolean => planOf(db, sql).includes("TEMP B-TREE");

/** Whether a condition has a parameter without a sign, for which SQLite may prepare again (db/bound.ts). */
const isPreparedAgain = (sql: string): boolean =>
  !/\bSET\b/.test(sql) && /(?:[=<>]|\bLIMIT) ?[?$]/.test(sql);

const isException = (sql: string): boolean =>
  Object.keys(FULL_SCANS).some((beginning) => sql.startsWith(beginning));

test("the statements of all modules are known", () => {
  for (const table of ["api_keys", "suppressions", "templates", "webhooks", "emails"]) {
    expect(statements.filter((sql) => sql.includes(` ${table} `))).not.toEqual([]);
  }
});

test("every statement uses an index", () => {
  expect(statements.filter((sql) => scansTable(sql) && !isException(sql))).toEqual([]);
});

test("every exception is needed", () => {
  const used = statements.filter(scansTable);
  const isUsed = (beginning: string) => used.some((sql) => sql.startsWith(beginning));
  expect(Object.keys(FULL_SCANS).filter((beginning) => !isUsed(beginning))).toEqual([]);
});

test("no statement sorts", () => {
  expect(statements.filter(sorts)).toEqual([]);
});

test("the parameters of conditions have a sign", () => {
  expect(statements.filter(isPreparedAgain)).toEqual([]);
});

describe("a violation is found:", () => {
  const cases: [sql: string, isViolation: (sql: string) => boolean, expected: boolean][] = [
    ["SELECT seq FROM webhooks WHERE url = +?", scansTable, true],
    [
      "SELECT url FROM projects LEFT JOIN webhooks ON url = name WHERE projects.seq = +?",
      scansTable,
      true,
    ],
    ["SELECT seq FROM webhooks WHERE seq = +?", scansTable, false],
    ["SELECT value FROM json_each(?)", scansTable, false],
    ["SELECT seq FROM emails WHERE project_seq = +? ORDER BY subject", sorts, true],
    ["SELECT seq FROM webhooks WHERE seq = ?", isPreparedAgain, true],
    ["SELECT seq FROM webhooks WHERE seq <= $seq", isPreparedAgain, true],
    ["SELECT seq FROM webhooks WHERE seq < +? LIMIT ?", isPreparedAgain, true],
    ["SELECT seq FROM webhooks WHERE seq < +? LIMIT +?", isPreparedAgain, false],
  ];
  test.each(cases)("%s", (sql, isViolation, expected) => {
    expect(isViolation(sql)).toBe(expected);
  });
});
