import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** How far the removal of old things has come: all rows up to `seq` are done. */
export const purgeMarks = sqliteTable("purge_marks", {
  name: text("name").primaryKey(),
  seq: integer("seq").notNull(),
});
