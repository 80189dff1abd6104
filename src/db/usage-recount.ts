/** Sums up the rows of projects again, to compare the sums with the counters (usage.ts). */

import type { Database } from "bun:sqlite";
import { addedBy, METERED } from "./usage.ts";

/**
 * The statements that add up what there is into a table with the columns of `project_usage`. Row by
 * row: grouping ten million rows would sort them in memory.
 */
function sumUsageInto(target: string): string[] {
  return [
    `INSERT INTO ${target} (project_seq) SELECT seq FROM projects`,
    ...METERED.map((metered) => {
      const added = addedBy(metered);
      const columns = added.map(([column]) => column).join(", ");
      const values = added.map(([, sql]) => sql).join(", ");
      const sums = added.map(([column]) => `${column} = ${column} + excluded.${column}`).join(", ");
      return `INSERT INTO ${target} (project_seq, ${columns})
  SELECT ${metered.project}, ${values} FROM ${metered.table} r WHERE ${metered.project} IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET ${sums}`;
    }),
  ];
}

/** Sums up all rows again, after a script has inserted rows that no code counted. */
export function recountUsage(sqlite: Database): void {
  sqlite.run("DELETE FROM project_usage");
  for (const statement of sumUsageInto("project_usage")) sqlite.run(statement);
}

/** Counters of a project that are wrong. */
type WrongUsage = {
  projectSeq: number;
  counted: string;
  actual: string;
};

/**
 * Compares the counters with the rows. It reads every row of the metered tables; to be run on a
 * connection of its own, in a read transaction where others write.
 */
export function findWrongUsage(sqlite: Database): WrongUsage[] {
  sqlite.run(`CREATE TEMP TABLE actual_usage (project_seq INTEGER PRIMARY KEY,
    stored_bytes INTEGER DEFAULT 0, received_bytes INTEGER DEFAULT 0, emails INTEGER DEFAULT 0, queued_mails INTEGER DEFAULT 0)`);
  try {
    for (const statement of sumUsageInto("actual_usage")) sqlite.run(statement);
    return sqlite
      .query<WrongUsage, []>(
        `SELECT a.project_seq AS projectSeq, ${inWords("c")} AS counted, ${inWords("a")} AS actual
         FROM actual_usage a LEFT JOIN project_usage c ON c.project_seq = a.project_seq
         WHERE counted IS NOT actual`,
      )
      .all();
  } finally {
    sqlite.run("DROP TABLE actual_usage");
  }
}

/** Null where there is no row. */
function inWords(table: string): string {
  return `${table}.stored_bytes || ' bytes, ' || ${table}.received_bytes || ' received, ' || ${table}.emails || ' emails, ' || ${table}.queued_mails || ' queued'`;
}
