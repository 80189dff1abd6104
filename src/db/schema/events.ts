import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { emails } from "./emails.ts";
import { projects } from "./projects.ts";

/**
 * The append-only event log. Each event is written in the transaction of its cause. `seq` only
 * increases, so the position of a reader is one number.
 */
export const events = sqliteTable(
  "events",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    /**
     * Null if the event has no contact, or after the contact was deleted. There is no foreign key,
     * for the reason given at `contactEvents`.
     */
    contactSeq: integer("contact_seq"),
    /** The previous event of the same contact and name. It may have been removed. */
    previousSeq: integer("previous_seq"),
    emailSeq: integer("email_seq").references(() => emails.seq, { onDelete: "set null" }),
    /** JSON object. */
    data: text("data"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("events_page").on(table.projectSeq, table.createdAt, table.seq),
    index("events_name").on(table.projectSeq, table.name, table.createdAt, table.seq),
    index("events_email")
      .on(table.emailSeq)
      .where(sql`email_seq IS NOT NULL`),
  ],
);

/** All event names that a project ever used, each with the number of its events. */
export const eventNames = sqliteTable(
  "event_names",
  {
    seq: integer("seq").primaryKey(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    count: integer("count").notNull(),
  },
  (table) => [
    uniqueIndex("event_names_name").on(table.projectSeq, table.name),
    index("event_names_rank").on(table.projectSeq, table.count, table.seq),
  ],
);

/**
 * Summary of the events of each contact and name: the time of the last event, which event filters
 * read instead of the log, and the last event, which starts the chain of all of them
 * (events/contact-events.ts). The row is written with the event; WITHOUT ROWID (see the migration).
 *
 * The key begins with the name, because filters read the contacts of one name in order, and a
 * repeated event changes its row in place. Every event writes here, so the table has no other index
 * and no foreign keys; a trigger removes the rows of a deleted contact.
 */
export const contactEvents = sqliteTable(
  "contact_events",
  {
    contactSeq: integer("contact_seq").notNull(),
    nameSeq: integer("name_seq").notNull(),
    lastAt: integer("last_at").notNull(),
    lastSeq: integer("last_seq").notNull(),
    /** Number of these events that are still in the log. */
    count: integer("count").notNull(),
  },
  (table) => [primaryKey({ columns: [table.nameSeq, table.contactSeq] })],
);
