import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** CONSENT: as MARKETING_ONLY, for contacts who agreed (`contacts.tracking`). */
export const TRACKING_MODES = ["ENABLED", "MARKETING_ONLY", "CONSENT", "DISABLED"] as const;
/** The scopes of secret keys (http/scopes.ts). An SMTP password has the scope SEND. */
export const KEY_SCOPES = ["EVERYTHING", "SEND", "READ", "CONTACTS"] as const;
export const KEY_KINDS = ["SECRET", "PUBLIC", "SMTP"] as const;

export const RELAY_SECURITIES = ["STARTTLS", "TLS", "NONE"] as const;
/** AUTO: as the table of known relays says (protocols/smtp/known-relays.ts). */
export const RELAY_SIGNERS = ["AUTO", "SERVER", "RELAY"] as const;

export type TrackingMode = (typeof TRACKING_MODES)[number];

/** Projects (tenants). Other tables refer to `seq`; the API shows `id`. */
export const projects = sqliteTable(
  "projects",
  {
    seq: integer("seq").primaryKey(),
    id: text("id").notNull().unique(),
    name: text("name").notNull().unique(),
    isEnabled: integer("is_enabled", { mode: "boolean" }).notNull().default(true),
    /** Selects the mail in which opens and clicks are tracked (docs/interface.md#tracking). */
    tracking: text("tracking", { enum: TRACKING_MODES }).notNull().default("MARKETING_ONLY"),
    /** Language of the pages for recipients; a BCP 47 tag such as `en`. */
    language: text("language").notNull().default("en"),
    /** Address and display name of the default sender; null if each mail must name its sender. */
    fromAddress: text("from_address"),
    fromName: text("from_name"),
    /** The id of an image of the project, which its pages for recipients show. */
    logoImageId: text("logo_image_id"),
    /** The colour of these pages, such as `#1d56c4`. */
    brandColor: text("brand_color"),
    /** Days until old data is removed; null: as the installation says (modules/project-retention.ts). */
    retainBodies: integer("retain_bodies"),
    retainRaw: integer("retain_raw"),
    retainEvents: integer("retain_events"),
    retainReceived: integer("retain_received"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    // The few projects with a period of their own are read once a minute.
    index("projects_retention")
      .on(table.seq)
      .where(sql`coalesce(retain_bodies, retain_raw, retain_events, retain_received) IS NOT NULL`),
  ],
);

/** The relays of the projects that have one of their own. */
export const projectRelays = sqliteTable("project_relays", {
  seq: integer("seq").primaryKey({ autoIncrement: true }),
  id: text("id").notNull().unique(),
  projectSeq: integer("project_seq")
    .notNull()
    .unique()
    .references(() => projects.seq),
  host: text("host").notNull(),
  port: integer("port").notNull(),
  security: text("security", { enum: RELAY_SECURITIES }).notNull(),
  /** Null without a login. */
  username: text("username"),
  /** Sealed (lib/crypto.ts); null without a login. */
  password: blob("password", { mode: "buffer" }),
  signedBy: text("signed_by", { enum: RELAY_SIGNERS }).notNull(),
  createdAt: integer("created_at").notNull(),
  changedAt: integer("changed_at").notNull(),
});

/** PENDING: not checked yet, or lost. REMOVED: no new links carry it, but those in old mails work. */
export const TRACKING_HOST_STATUSES = ["PENDING", "ACTIVE", "REMOVED"] as const;

/** The hosts of tracked links of the projects that have one of their own. */
export const trackingHosts = sqliteTable(
  "tracking_hosts",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    host: text("host").notNull().unique(),
    status: text("status", { enum: TRACKING_HOST_STATUSES }).notNull(),
    /** The fault that the latest check has found; null if there was none. */
    problem: text("problem"),
    /** Number of consecutive checks that found a fault. */
    misses: integer("misses").notNull().default(0),
    verifiedAt: integer("verified_at"),
    checkedAt: integer("checked_at"),
    nextCheckAt: integer("next_check_at").notNull(),
    /** The certificate of the host with its private key, sealed; null if there is none. */
    certificate: blob("certificate", { mode: "buffer" }),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("tracking_hosts_page").on(table.projectSeq, table.seq),
    index("tracking_hosts_due").on(table.nextCheckAt),
  ],
);

/** Counters of the bytes and mails of each project (db/usage.ts). */
export const projectUsage = sqliteTable("project_usage", {
  projectSeq: integer("project_seq")
    .primaryKey()
    .references(() => projects.seq),
  storedBytes: integer("stored_bytes").notNull().default(0),
  /** The part of them that strangers sent to inbound routes. */
  receivedBytes: integer("received_bytes").notNull().default(0),
  emails: integer("emails").notNull().default(0),
  /** Mails that wait or are under way, without those of campaigns. */
  queuedMails: integer("queued_mails").notNull().default(0),
});

/** API keys. Only the SHA-256 digest of a key is stored. */
export const apiKeys = sqliteTable("api_keys", {
  seq: integer("seq").primaryKey(),
  id: text("id").notNull().unique(),
  projectSeq: integer("project_seq")
    .notNull()
    .references(() => projects.seq),
  kind: text("kind", { enum: KEY_KINDS }).notNull(),
  /** Without a meaning for public keys. */
  scope: text("scope", { enum: KEY_SCOPES }).notNull().default("EVERYTHING"),
  name: text("name").notNull(),
  digest: text("digest").notNull().unique(),
  last4: text("last4").notNull(),
  /** Web origins that may use a public key, separated by spaces; empty if all may. */
  origins: text("origins").notNull().default(""),
  /** Domains of the senders of a key that only sends, separated by spaces; empty for all of the project. */
  domains: text("domains").notNull().default(""),
  /** Ranges of the client addresses that may use the key, separated by spaces; empty if all may. */
  ranges: text("ranges").notNull().default(""),
  /** Requests of the latest days, by the number of the day since 1970 in UTC. */
  uses: text("uses", { mode: "json" }).$type<Record<string, number>>().notNull().default({}),
  createdAt: integer("created_at").notNull(),
  lastUsedAt: integer("last_used_at"),
  expiresAt: integer("expires_at"),
  revokedAt: integer("revoked_at"),
});

/** Stored first responses of requests that carried an Idempotency-Key. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    /** Digest of project, method, path, key, and whether the API key is public. */
    scope: text("scope").primaryKey(),
    /** Null for responses that were stored before this column existed. */
    projectSeq: integer("project_seq").references(() => projects.seq),
    requestDigest: text("request_digest").notNull(),
    status: integer("status").notNull(),
    body: text("body").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("idempotency_keys_age").on(table.createdAt)],
);
