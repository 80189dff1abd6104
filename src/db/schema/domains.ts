import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const DOMAIN_STATUSES = ["PENDING", "VERIFIED", "FAILED"] as const;

/** Sending domains; one domain belongs to one project of the installation. */
export const domains = sqliteTable(
  "domains",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    domain: text("domain").notNull().unique(),
    status: text("status", { enum: DOMAIN_STATUSES }).notNull(),
    /** Verified by the operator's word: no look at the DNS changes that. */
    isByWord: integer("is_by_word", { mode: "boolean" }).notNull().default(false),
    /** JSON: what the latest look found, record by record (modules/domains/findings.ts). */
    findings: text("findings").notNull().default("[]"),
    /** Bounces may go to the bounce host. */
    hasReturnPath: integer("has_return_path", { mode: "boolean" }).notNull().default(false),
    verifiedAt: integer("verified_at"),
    lastCheckedAt: integer("last_checked_at"),
    /** Verified, but its record has been gone since then. */
    failingSince: integer("failing_since"),
    /** Looks in a row that did not find everything as it should be. */
    misses: integer("misses").notNull().default(0),
    nextCheckAt: integer("next_check_at").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("domains_page").on(table.projectSeq, table.seq),
    index("domains_due").on(table.nextCheckAt),
  ],
);

/** Keys that sign the mail of a domain. A row never changes: its `seq` stands for its content. */
export const dkimKeys = sqliteTable(
  "dkim_keys",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    domainSeq: integer("domain_seq")
      .notNull()
      .references(() => domains.seq, { onDelete: "cascade" }),
    algorithm: text("algorithm", { enum: ["rsa-sha256", "ed25519-sha256"] }).notNull(),
    selector: text("selector").notNull(),
    /** PKCS #8, sealed with a key of the installation (lib/crypto.ts). */
    privateKey: blob("private_key", { mode: "buffer" }).notNull(),
    /** The p= tag. */
    publicKey: text("public_key").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [uniqueIndex("dkim_keys_selector").on(table.domainSeq, table.selector)],
);
