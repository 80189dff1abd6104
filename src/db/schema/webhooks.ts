import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { events } from "./events.ts";
import { projects } from "./projects.ts";

/** FAILING: no success for days. GONE: the receiver answered 410. */
export const DISABLED_REASONS = ["FAILING", "GONE"] as const;
/** The form of its requests: MAILSTEAD as in docs/webhooks.md, RESEND as in docs/resend.md. */
export const WEBHOOK_SHAPES = ["MAILSTEAD", "RESEND"] as const;
export const DELIVERY_STATUSES = ["PENDING", "SUCCEEDED", "FAILED"] as const;

/** Webhooks: the URLs to which the events of a project are delivered. */
export const webhooks = sqliteTable(
  "webhooks",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    url: text("url").notNull(),
    shape: text("shape", { enum: WEBHOOK_SHAPES }).notNull().default("MAILSTEAD"),
    /** JSON array of names and prefixes (modules/webhooks/patterns.ts); names of Resend for RESEND. */
    events: text("events").notNull(),
    description: text("description"),
    isEnabled: integer("is_enabled", { mode: "boolean" }).notNull(),
    /** Null while the webhook is enabled, and if its owner disabled it. */
    disabledReason: text("disabled_reason", { enum: DISABLED_REASONS }),
    /** Time of the first failure after the latest success. */
    failingSince: integer("failing_since"),
    /** 24 random bytes, encrypted with a key of the installation (lib/crypto.ts). */
    secret: blob("secret", { mode: "buffer" }).notNull(),
    /** The previous secret. It signs in addition to the new one until `previous_until`. */
    previousSecret: blob("previous_secret", { mode: "buffer" }),
    previousUntil: integer("previous_until"),
    /** Events up to this `seq` are not delivered. */
    startSeq: integer("start_seq").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    /**
     * Set when the webhook is deleted for users. The row remains until all deliveries are removed.
     */
    deletedAt: integer("deleted_at"),
  },
  (table) => [
    index("webhooks_page").on(table.projectSeq, table.seq),
    index("webhooks_enabled")
      .on(table.seq)
      .where(sql`is_enabled = 1`),
    index("webhooks_failing")
      .on(table.failingSince)
      .where(sql`failing_since IS NOT NULL`),
    index("webhooks_deleted")
      .on(table.seq)
      .where(sql`deleted_at IS NOT NULL`),
  ],
);

/**
 * Deliveries: one event for one webhook. A PENDING delivery is due at `next_at`. If `next_at` is
 * null, it waits for an earlier event of its contact.
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
    /** The contact of the event. The number stays after the contact was deleted. */
    contactSeq: integer("contact_seq"),
    status: text("status", { enum: DELIVERY_STATUSES }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    nextAt: integer("next_at"),
    /** Later events of the contact wait for this delivery. */
    isHolding: integer("is_holding", { mode: "boolean" }).notNull(),
    lastAttemptAt: integer("last_attempt_at"),
    responseCode: integer("response_code"),
    responseExcerpt: text("response_excerpt"),
    /** Reason why there was no response, or a description of the fault. */
    error: text("error"),
    /** Duration of the latest attempt, in milliseconds. */
    durationMs: integer("duration_ms"),
    /**
     * JSON array of the attempts before the latest one, oldest first, at most nine: objects with the
     * members `at`, `durationMs`, `responseCode` and `error`. Null before the second attempt.
     */
    earlierAttempts: text("earlier_attempts"),
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
