/** The plans of the statements that run in readers (src/db/reader.ts). */

import { spyOn } from "bun:test";
import type { App } from "../../src/core/app.ts";
import { createQueryRunner } from "../../src/db/queries.ts";
import { migratedDatabase } from "./database.ts";
import { planOf } from "./outbox.ts";

/** Runs `work`, and returns the plan of each statement that it reads with the reader of `app`. */
export async function plansOfReads(
  { reader }: Pick<App, "reader">,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const find = spyOn(reader, "find");
  await work();
  const statements = find.mock.calls.flatMap(([, { sql, total }]) =>
    total === undefined ? [sql] : [sql, total.sql],
  );
  find.mockRestore();
  const db = migratedDatabase();
  createQueryRunner(db.sqlite, () => 0);
  const plans = statements.map((sql) => planOf(db, sql));
  db.sqlite.close();
  return plans;
}
