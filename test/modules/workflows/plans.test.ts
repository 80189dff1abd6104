/** The frequent statements of the runner use indexes, so their cost does not grow with the table. */

import { expect, spyOn, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { createExecutionRows } from "../../../src/modules/workflows/run/execution-rows.ts";
import { createTriggers } from "../../../src/modules/workflows/run/triggers.ts";
import { createUses } from "../../../src/modules/workflows/usage.ts";
import { planOf } from "../../support/outbox.ts";

test("no statement on executions reads a table whole or sorts more than one contact's rows", () => {
  const db = openDatabase(":memory:");
  migrate(db.sqlite);
  const prepare = spyOn(db.sqlite, "prepare");
  const executionRows = createExecutionRows(db);
  createTriggers({ db, executionRows, pathsOf: () => null });
  const statements = prepare.mock.calls.map(([sql]) => sql);
  prepare.mockRestore();
  expect(statements.length).toBeGreaterThan(15);
  const scans: string[] = [];
  const sorts: string[] = [];
  for (const sql of statements) {
    if (/^\s*INSERT/.test(sql)) continue;
    const plan = planOf(db, sql);
    const scanned = plan.split("\n").filter((line) => line.startsWith("SCAN"));
    if (scanned.some((line) => !/json_each|CONSTANT ROW|INDEX workflow/.test(line)))
      scans.push(sql);
    if (plan.includes("TEMP B-TREE")) sorts.push(sql);
  }
  expect(scans).toEqual([]);
  // The only statement that sorts finds the overdue executions of one contact.
  expect(sorts.map((sql) => /e\.contact_seq = \+\?/.test(sql))).toEqual([true]);
  db.sqlite.close();
});

test("the users of a template are found without reading executions that have ended", () => {
  const db = openDatabase(":memory:");
  migrate(db.sqlite);
  const prepare = spyOn(db.sqlite, "prepare");
  createUses(db, { segmentErrorsOf: () => [] });
  const plans = prepare.mock.calls.map(([sql]) => planOf(db, sql));
  prepare.mockRestore();
  expect(plans).toHaveLength(2);
  expect(plans[1]).not.toContain("SCAN");
  expect(plans[0]).not.toContain("SCAN");
  expect(plans[0]).toContain("workflow_versions_workflow (workflow_seq=?)");
  // This index has only the executions that are RUNNING or WAITING.
  expect(plans[0]).toContain("workflow_executions_version (version_seq=?)");
  db.sqlite.close();
});
