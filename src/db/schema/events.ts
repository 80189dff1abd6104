import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { contacts } from "./contacts.ts";
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
    contactSeq: integer("contact_seq").references(() => contacts.seq, { onDelete: "set null" }),
    emailSeq: integer("email_seq").references(() => emails.seq, { onDelete: "set null" }),
    /** JSON object. */
    data: text("data"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("events_page").on(table.projectSeq, table.createdAt, table.seq),
    index("events_name").on(table.projectSeq, table.name, table.createdAt, table.seq),
    index("events_contact").on(table.contactSeq, table.createdAt, table.seq),
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
 * When each contact last had an event of each name: what event filters ask, without reading the
 * log. Written with the event; WITHOUT ROWID (see the migration). By name first: filters walk the
 * contacts of one name in their order, and a repeated event changes its row in place. Every event
 * writes here: no other index, and no foreign keys; a trigger removes the rows of a contact.
 */
export const contactEvents = sqliteTable(
  "contact_events",
  {
    contactSeq: integer("contact_seq").notNull(),
    nameSeq: integer("name_seq").notNull(),
    lastAt: integer("last_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.nameSeq, table.contactSeq] })],
);
