import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

export const ALERT_SEVERITIES = ["critical", "warning", "info"] as const;
/** The way in which a target is told. */
export const TARGET_KINDS = ["EMAIL", "WEBHOOK", "NTFY", "SLACK"] as const;
/** DIGEST is the weekly mail, which belongs to no alert. */
export const NOTICE_KINDS = ["RAISED", "CLEARED", "DIGEST"] as const;

/** Alerts of the installation: one row from the moment at which a condition holds until it does not. */
export const alerts = sqliteTable(
  "alerts",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    /** Name in the table of conditions (modules/alerts/conditions.ts). */
    condition: text("condition").notNull(),
    /** The object of the alert, such as the id of a domain; empty for the whole installation. */
    subject: text("subject").notNull(),
    severity: text("severity", { enum: ALERT_SEVERITIES }).notNull(),
    title: text("title").notNull(),
    finding: text("finding").notNull(),
    fix: text("fix").notNull(),
    raisedAt: integer("raised_at").notNull(),
    clearedAt: integer("cleared_at"),
  },
  (table) => [
    uniqueIndex("alerts_open")
      .on(table.condition, table.subject)
      .where(sql`cleared_at IS NULL`),
    index("alerts_cleared")
      .on(table.clearedAt)
      .where(sql`cleared_at IS NOT NULL`),
  ],
);

/** Notices to the targets of alerts, in order. A notice waits as long as `next_at` is set. */
export const alertNotices = sqliteTable(
  "alert_notices",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    /** Name of the target (modules/alerts/targets.ts). */
    target: text("target").notNull(),
    kind: text("kind", { enum: NOTICE_KINDS }).notNull(),
    /** Null for a DIGEST. */
    alertSeq: integer("alert_seq").references(() => alerts.seq, { onDelete: "cascade" }),
    createdAt: integer("created_at").notNull(),
    attempts: integer("attempts").notNull().default(0),
    nextAt: integer("next_at"),
    triedAt: integer("tried_at"),
    isDelivered: integer("is_delivered", { mode: "boolean" }).notNull().default(false),
    /** The reply of the target to the latest try, or why there was none. */
    reply: text("reply"),
  },
  (table) => [
    uniqueIndex("alert_notices_alert").on(table.alertSeq, table.kind, table.target),
    index("alert_notices_due")
      .on(table.target, table.seq)
      .where(sql`next_at IS NOT NULL`),
    index("alert_notices_target").on(table.target, table.seq),
    index("alert_notices_digests")
      .on(table.createdAt)
      .where(sql`alert_seq IS NULL`),
  ],
);

/** The space of the disk of the data folder, measured every ten minutes and kept for eight days. */
export const diskSamples = sqliteTable("disk_samples", {
  at: integer("at").primaryKey(),
  freeBytes: integer("free_bytes").notNull(),
  /** Bytes of the files in the data folder. */
  usedBytes: integer("used_bytes").notNull(),
});
