import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const ERASURE_STATES = ["RUNNING", "COMPLETED"] as const;

/**
 * The reason why an erased address gets no mail: the reason of its suppression, or UNSUBSCRIBED, which keeps
 * only marketing mail from it.
 */
export const ERASED_STANDINGS = [
  "UNSUBSCRIBED",
  "HARD_BOUNCE",
  "SOFT_BOUNCE",
  "COMPLAINT",
  "MANUAL",
] as const;

/** PERSON: the person did it on the preference page. CLI: a command. SYSTEM: the server, after a restore. */
export const ERASURE_ACTORS = ["USER", "KEY", "PERSON", "CLI", "SYSTEM"] as const;

/**
 * Erasures: the receipts, and the queue of the work. They have no personal data, apart from `subject`
 * while an erasure runs.
 */
export const erasures = sqliteTable(
  "erasures",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** HMAC-SHA-256 of the address with the key of the project (`erasure_keys`), hexadecimal. */
    digest: text("digest").notNull(),
    /** Null if the address may get mail again when it comes back. */
    standing: text("standing", { enum: ERASED_STANDINGS }),
    state: text("state", { enum: ERASURE_STATES }).notNull(),
    actorKind: text("actor_kind", { enum: ERASURE_ACTORS }).notNull(),
    /** Id of the user or key; null for others. */
    actorId: text("actor_id"),
    /** JSON object: numbers of removed or changed rows by table. */
    counts: text("counts").notNull().default("{}"),
    /** JSON: how far the work has come (`Position` in modules/privacy/erasures.ts). */
    position: text("position").notNull(),
    /** The addresses as sealed JSON, for the work; null once it is completed. */
    subject: blob("subject", { mode: "buffer" }),
    requestedAt: integer("requested_at").notNull(),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("erasures_digest").on(table.projectSeq, table.digest),
    index("erasures_page").on(table.projectSeq, table.seq),
    index("erasures_running")
      .on(table.seq)
      .where(sql`state = 'RUNNING'`),
  ],
);

/** Rows of zeros, which overwrite the free pages of the database after an erasure; empty otherwise. */
export const pageFill = sqliteTable("page_fill", {
  seq: integer("seq").primaryKey(),
  bytes: blob("bytes", { mode: "buffer" }).notNull(),
});

/** The keys of these digests, one for each project that has erased an address. */
export const erasureKeys = sqliteTable("erasure_keys", {
  projectSeq: integer("project_seq")
    .primaryKey()
    .references(() => projects.seq),
  /** 32 bytes, sealed with a key of the installation. */
  key: blob("key", { mode: "buffer" }).notNull(),
});
