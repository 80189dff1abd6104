/** Drops indexes while many rows are inserted: building them at the end is much faster. */

import type { Database } from "bun:sqlite";

/** Drops the indexes of the tables and returns a function that creates them again. */
export function dropIndexes(sqlite: Database, tables: readonly string[]): () => void {
  const indexes = sqlite
    .query<{ name: string; sql: string; tbl_name: string }, []>(
      "SELECT name, sql, tbl_name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all()
    .filter((index) => tables.includes(index.tbl_name));
  for (const { name } of indexes) sqlite.run(`DROP INDEX "${name}"`);
  return () => {
    for (const { sql } of indexes) sqlite.run(sql);
  };
}
