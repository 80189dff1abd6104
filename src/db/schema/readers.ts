import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** How far each reader of the event log has come: all events up to `seq` are dealt with. */
export const readers = sqliteTable("readers", {
  name: text("name").primaryKey(),
  seq: integer("seq").notNull(),
});
