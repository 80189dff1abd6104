import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
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
    index("events_page").on(table.projectSeq, table.seq),
    index("events_name").on(table.projectSeq, table.name, table.seq),
    index("events_contact").on(table.contactSeq, table.seq),
    index("events_email")
      .on(table.emailSeq)
      .where(sql`email_seq IS NOT NULL`),
  ],
);
