import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { events } from "./events.ts";
import { projects } from "./projects.ts";

/** FAILING: no success for days. GONE: the receiver answered 410. */
export const DISABLED_REASONS = ["FAILING", "GONE"] as const;
export const DELIVERY_STATUSES = ["PENDING", "SUCCEEDED", "FAILED"] as const;

/** Where a project wants to hear of its events. */
export const webhooks = sqliteTable(
  "webhooks",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    url: text("url").notNull(),
    /** JSON array of names and prefixes (modules/webhooks/patterns.ts). */
    events: text("events").notNull(),
    description: text("description"),
    isEnabled: integer("is_enabled", { mode: "boolean" }).notNull(),
    /** Null while enabled, and where its owner disabled it. */
    disabledReason: text("disabled_reason", { enum: DISABLED_REASONS }),
    /** When the first failure since the latest success was. */
    failingSince: integer("failing_since"),
    /** 24 random bytes, sealed with a key of the installation (lib/crypto.ts). */
    secret: blob("secret", { mode: "buffer" }).notNull(),
    /** The one before; it signs as well until then. */
    previousSecret: blob("previous_secret", { mode: "buffer" }),
    previousUntil: integer("previous_until"),
    /** Events of the log up to this one are not for it. */
    startSeq: integer("start_seq").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    /** Nobody sees it any more; its deliveries are removed in steps, and it with the last. */
    deletedAt: integer("deleted_at"),
  },
  (table) => [
    index("webhooks_page").on(table.projectSeq, table.seq),
    index("webhooks_enabled")
      .on(table.seq)
      .where(sql`is_enabled = 1`),
    index("webhooks_deleted")
      .on(table.seq)
      .where(sql`deleted_at IS NOT NULL`),
  ],
);

/**
 * One event for one webhook. PENDING with a `next_at` is due then; PENDING without one waits for an
 * earlier event of its contact.
 */
export const webhookDeliveries = sqliteTable(
  "webhook_deliveries",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    webhookSeq: integer("webhook_seq")
      .notNull()
      .references(() => webhooks.seq),
    eventSeq: integer("event_seq")
      .notNull()
      .references(() => events.seq, { onDelete: "cascade" }),
    /** Of the event; the number stays when the contact is deleted. */
    contactSeq: integer("contact_seq"),
    status: text("status", { enum: DELIVERY_STATUSES }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    nextAt: integer("next_at"),
    /** Later events of its contact wait for it. */
    isHolding: integer("is_holding", { mode: "boolean" }).notNull(),
    lastAttemptAt: integer("last_attempt_at"),
    responseCode: integer("response_code"),
    responseExcerpt: text("response_excerpt"),
    /** Why there was no response, or which fault it was. */
    error: text("error"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("webhook_deliveries_event").on(table.eventSeq, table.webhookSeq),
    index("webhook_deliveries_page").on(table.webhookSeq),
    index("webhook_deliveries_status").on(table.webhookSeq, table.status),
    index("webhook_deliveries_due")
      .on(table.webhookSeq, table.nextAt)
      .where(sql`next_at IS NOT NULL`),
    index("webhook_deliveries_holding")
      .on(table.webhookSeq, table.contactSeq)
      .where(sql`is_holding = 1`),
  ],
);
