import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

/** A new column is the last one, as in the database: rows of `contacts.*` are read by their place. */
export const contacts = sqliteTable(
  "contacts",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    email: text("email").notNull(),
    isSubscribed: integer("is_subscribed", { mode: "boolean" }).notNull(),
    /** JSON object. */
    data: text("data").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    /** Until when it gets no marketing mail, at its own wish; null if it never paused. */
    pausedUntil: integer("paused_until"),
    /** True if opens and clicks may be recorded; null if the contact has not chosen. */
    tracking: integer("tracking", { mode: "boolean" }),
  },
  (table) => [
    uniqueIndex("contacts_email").on(table.projectSeq, table.email),
    index("contacts_page").on(table.projectSeq, table.seq),
    index("contacts_subscribed_page").on(table.projectSeq, table.isSubscribed, table.seq),
    index("contacts_touched").on(table.projectSeq, table.updatedAt),
    index("contacts_paused")
      .on(table.projectSeq, table.pausedUntil)
      .where(sql`paused_until IS NOT NULL`),
  ],
);

export const SUPPRESSION_REASONS = ["HARD_BOUNCE", "SOFT_BOUNCE", "COMPLAINT", "MANUAL"] as const;

/** Addresses that get no mail. */
export const suppressions = sqliteTable(
  "suppressions",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    email: text("email").notNull(),
    reason: text("reason", { enum: SUPPRESSION_REASONS }).notNull(),
    createdAt: integer("created_at").notNull(),
    /**
     * The mail whose bounce or complaint is the cause; null for other entries. There is no foreign
     * key, because mails are described in a file that imports this one.
     */
    emailSeq: integer("email_seq"),
    /** The time at which the entry is removed; null for never. */
    expiresAt: integer("expires_at"),
  },
  (table) => [
    index("suppressions_expiry")
      .on(table.expiresAt)
      .where(sql`expires_at IS NOT NULL`),
    uniqueIndex("suppressions_email").on(table.projectSeq, table.email),
    index("suppressions_page").on(table.projectSeq, table.seq),
  ],
);

/** Number of contacts of a project, maintained by triggers (see the migration). */
export const contactCounts = sqliteTable("contact_counts", {
  projectSeq: integer("project_seq")
    .primaryKey()
    .references(() => projects.seq),
  total: integer("total").notNull(),
  subscribed: integer("subscribed").notNull(),
});
