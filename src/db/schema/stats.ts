import { integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

const counter = (name: string) => integer(name).notNull().default(0);

/** Counters of the mails and subscriptions of a project for each hour (UTC). */
export const projectHours = sqliteTable(
  "project_hours",
  {
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** Start of the hour, milliseconds since the epoch. */
    hour: integer("hour").notNull(),
    sent: counter("sent"),
    delivered: counter("delivered"),
    /** Mails opened, and mails with a click: each mail counts once, at its first one. */
    opened: counter("opened"),
    clicked: counter("clicked"),
    bounced: counter("bounced"),
    /** The bounces among them that a report announced after the mail was accepted. */
    bouncedLater: counter("bounced_later"),
    complained: counter("complained"),
    failed: counter("failed"),
    suppressed: counter("suppressed"),
    subscribed: counter("subscribed"),
    unsubscribed: counter("unsubscribed"),
  },
  (table) => [primaryKey({ columns: [table.projectSeq, table.hour] })],
);
