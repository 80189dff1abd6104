import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/** One row, written by every readiness check: proof that the storage takes writes. */
export const readiness = sqliteTable("readiness", {
  id: integer("id").primaryKey(),
  at: integer("at").notNull(),
});
