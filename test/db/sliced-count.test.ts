/** Counts in slices are exact at the bounds of their steps. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { migrate } from "../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../src/db/open.ts";
import { createSlicedCount } from "../../src/db/sliced-count.ts";
import { createFairScheduler } from "../../src/lib/slice-queue.ts";

let db: Db;
beforeAll(() => {
  db = openDatabase(":memory:");
  migrate(db.sqlite);
  db.sqlite.run("CREATE TABLE marks (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL)");
  db.sqlite.run("CREATE INDEX marks_kind ON marks (kind)");
  db.sqlite.run(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20002)
    INSERT INTO marks SELECT i, CASE WHEN i <= 10000 THEN 'even'
                                     WHEN i <= 10001 THEN 'one' ELSE 'odd' END FROM n`);
});
afterAll(() => db.sqlite.close());

test.each([
  ["even", 10_000],
  ["one", 1],
  ["odd", 10_001],
  ["none", 0],
])("counts the rows of the kind %s", async (kind, expected) => {
  const count = createSlicedCount({ db, scheduler: createFairScheduler() });
  const from = "marks INDEXED BY marks_kind WHERE kind = +?";
  expect(await count(1, { from, values: [kind] })).toBe(expected);
});
