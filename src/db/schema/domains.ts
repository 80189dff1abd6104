import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const DOMAIN_STATUSES = ["PENDING", "VERIFIED", "FAILED"] as const;

/**
 * Sending domains. Several projects may have added the same one, and at most one of them has it verified.
 */
export const domains = sqliteTable(
  "domains",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    domain: text("domain").notNull(),
    status: text("status", { enum: DOMAIN_STATUSES }).notNull(),
    /** Verified by the operator. DNS checks do not change this. */
    isDeclaredVerified: integer("is_by_word", { mode: "boolean" }).notNull().default(false),
    /** JSON: results of the latest DNS check for each record (modules/domains/findings.ts). */
    findings: text("findings").notNull().default("[]"),
    /** The return path may use the bounce host. */
    hasReturnPath: integer("has_return_path", { mode: "boolean" }).notNull().default(false),
    verifiedAt: integer("verified_at"),
    lastCheckedAt: integer("last_checked_at"),
    /** Time since which the record of a verified domain is missing. */
    failingSince: integer("failing_since"),
    /** Number of consecutive DNS checks that found a wrong or missing record. */
    misses: integer("misses").notNull().default(0),
    nextCheckAt: integer("next_check_at").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("domains_name").on(table.domain, table.projectSeq),
    uniqueIndex("domains_verified")
      .on(table.domain)
      .where(sql`status = 'VERIFIED'`),
    index("domains_page").on(table.projectSeq, table.seq),
    index("domains_due").on(table.nextCheckAt),
    index("domains_failing")
      .on(table.failingSince)
      .where(sql`failing_since IS NOT NULL`),
  ],
);

/** DKIM keys of a domain. A row never changes, so its `seq` identifies its content. */
export const dkimKeys = sqliteTable(
  "dkim_keys",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    domainSeq: integer("domain_seq")
      .notNull()
      .references(() => domains.seq, { onDelete: "cascade" }),
    algorithm: text("algorithm", { enum: ["rsa-sha256", "ed25519-sha256"] }).notNull(),
    selector: text("selector").notNull(),
    /** PKCS #8, encrypted with a key of the installation (lib/crypto.ts). */
    privateKey: blob("private_key", { mode: "buffer" }).notNull(),
    /** The p= tag. */
    publicKey: text("public_key").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [uniqueIndex("dkim_keys_selector").on(table.domainSeq, table.selector)],
);
