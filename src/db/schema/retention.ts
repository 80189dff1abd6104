import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Positions of the scans that remove old rows: all rows up to `seq` have been examined. */
export const purgeMarks = sqliteTable("purge_marks", {
  name: text("name").primaryKey(),
  seq: integer("seq").notNull(),
});
