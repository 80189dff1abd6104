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
 * The append-only log of facts, each written in the transaction of its cause. `seq` never goes
 * back, so a reader keeps its place with one number.
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
    /** Null where it concerns nobody, or once the contact was deleted. No foreign key: see below. */
    contactSeq: integer("contact_seq"),
    /** The event of the same contact and name before this one; it may have been removed. */
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

/** Every name that a project's events ever had, and how many there were. */
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
 * What each contact had of each name: when it last did, which event filters ask without reading the
 * log; and the last event, from where a chain leads through all of them (modules/events/of-contact).
 * Written with the event; WITHOUT ROWID (see the migration). By name first: filters walk the
 * contacts of one name in their order, and a repeated event changes its row in place. Every event
 * writes here: no other index, and no foreign keys; a trigger removes the rows of a contact.
 */
export const contactEvents = sqliteTable(
  "contact_events",
  {
    contactSeq: integer("contact_seq").notNull(),
    nameSeq: integer("name_seq").notNull(),
    lastAt: integer("last_at").notNull(),
    lastSeq: integer("last_seq").notNull(),
    /** Of those that are in the log still. */
    count: integer("count").notNull(),
  },
  (table) => [primaryKey({ columns: [table.nameSeq, table.contactSeq] })],
);
