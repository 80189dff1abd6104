/** The plans of the statements that run in readers (src/db/reader.ts). */

import { spyOn } from "bun:test";
import type { App } from "../../src/core/app.ts";
import { planOf } from "./outbox.ts";

/** Runs `work`, and returns the plan of each statement that it reads with the reader of `app`. */
export async function plansOfReads(
  app: Pick<App, "db" | "reader">,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const find = spyOn(app.reader, "find");
  try {
    await work();
    return find.mock.calls
      .flatMap(([, { sql, total }]) => (total === undefined ? [sql] : [sql, total.sql]))
      .map((sql) => planOf(app.db, sql));
  } finally {
    find.mockRestore();
  }
}
