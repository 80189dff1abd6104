import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** State of receiving sites in direct delivery, stored so that it survives a restart. */
export const directSites = sqliteTable(
  "direct_sites",
  {
    /** Site name (outbox/direct/route.ts). */
    name: text("name").primaryKey(),
    hasGoodSession: integer("has_good_session").notNull(),
    /** Mean time of one mail in milliseconds; null before the first one has ended. */
    meanMs: integer("mean_ms"),
    /** Concurrency limit. */
    mailLimit: integer("mail_limit").notNull(),
    /** Number of consecutive pauses that the site asked for. */
    pauses: integer("pauses").notNull(),
    /** Wall-clock time; null if there is no pause. */
    pausedUntil: integer("paused_until"),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [index("direct_sites_age").on(table.hasGoodSession, table.updatedAt, table.name)],
);
