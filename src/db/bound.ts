/** Placeholders of prepared statements, as conditions should hold them. */

import { type SQL, sql } from "drizzle-orm";

/**
 * `+?`: SQLite plans with the value that is bound to a bare `column = ?` and so prepares the whole
 * statement anew for every value, at ten times the price. It does not look behind a sign.
 */
export function bound(name: string): SQL {
  return sql`+${sql.placeholder(name)}`;
}
