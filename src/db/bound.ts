/** Placeholders for the conditions of prepared statements. */

import { type SQL, sql } from "drizzle-orm";

/**
 * Returns a placeholder with a sign, `+?`. For a bare `column = ?` SQLite plans with the bound
 * value and prepares the statement again for every value, which costs ten times as much. It does
 * not inspect the value of a signed placeholder.
 */
export function bound(name: string): SQL {
  return sql`+${sql.placeholder(name)}`;
}
