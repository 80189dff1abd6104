import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What direct delivery knows of receiving sites, so that it survives a restart. */
export const directSites = sqliteTable(
  "direct_sites",
  {
    /** Site name (outbox/direct/site-name.ts). */
    name: text("name").primaryKey(),
    hasGoodSession: integer("has_good_session").notNull(),
    /** Mean time of one mail in milliseconds; null before the first one has ended. */
    meanMs: integer("mean_ms"),
    /** Mails at once. */
    mailLimit: integer("mail_limit").notNull(),
    /** Pauses in a row that it asked for. */
    pauses: integer("pauses").notNull(),
    /** Wall clock; null if there is no pause. */
    pausedUntil: integer("paused_until"),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [index("direct_sites_age").on(table.hasGoodSession, table.updatedAt, table.name)],
);
