import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/** One row that every readiness check writes, to prove that the storage accepts writes. */
export const readiness = sqliteTable("readiness", {
  id: integer("id").primaryKey(),
  at: integer("at").notNull(),
});
