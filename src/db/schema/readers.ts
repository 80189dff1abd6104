import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Positions of the readers of the event log: all events up to `seq` have been processed. */
export const readers = sqliteTable("readers", {
  name: text("name").primaryKey(),
  seq: integer("seq").notNull(),
});

/** The reader that writes events to files for a data warehouse (modules/event-export). */
export const EXPORT_READER = "export";
