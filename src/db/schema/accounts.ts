import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

/**
 * Roles of the members of a project, the highest first. Each role has the rights of the roles after
 * it.
 */
export const MEMBER_ROLES = ["ADMIN", "EDITOR", "VIEWER"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Users of the dashboard. Owners may do everything in all projects. */
export const users = sqliteTable(
  "users",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    /** In lower case. */
    email: text("email").notNull().unique(),
    name: text("name").notNull(),
    /** Argon2id in PHC string format; null as long as the user has not set a password. */
    passwordDigest: text("password_digest"),
    isOwner: integer("is_owner", { mode: "boolean" }).notNull().default(false),
    /**
     * The project whose admin was shown the link with which the account was made, and may know its
     * password. The account works in that project only. Null once the owner of the address has
     * proven it.
     */
    unprovenProjectSeq: integer("unproven_project_seq").references(() => projects.seq),
    /** Null while the user may sign in. */
    disabledAt: integer("disabled_at"),
    /** When the user last signed in, with all steps; null before the first time. */
    lastSignInAt: integer("last_sign_in_at"),
    /** A JSON object of at most 16 KiB that only the dashboard reads. */
    preferences: text("preferences").notNull().default("{}"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("users_unproven").on(table.unprovenProjectSeq),
    index("users_owners")
      .on(table.seq)
      .where(sql`is_owner = 1`),
  ],
);

/** Memberships: the role of a user in a project. Owners need none. */
export const memberships = sqliteTable(
  "memberships",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    userSeq: integer("user_seq")
      .notNull()
      .references(() => users.seq),
    role: text("role", { enum: MEMBER_ROLES }).notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("memberships_user").on(table.userSeq, table.projectSeq),
    index("memberships_page").on(table.projectSeq, table.seq),
  ],
);

export const SIGN_IN_METHODS = ["PASSWORD", "LINK", "PASSKEY"] as const;

/**
 * The step that is missing before a session works: the user gives the second factor (SECOND_FACTOR), or
 * sets one up (ENROLMENT).
 */
export const SIGN_IN_STEPS = ["SECOND_FACTOR", "ENROLMENT"] as const;

/** Sessions of signed-in users. Only the SHA-256 digest of the cookie's value is stored. */
export const userSessions = sqliteTable(
  "user_sessions",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    digest: text("digest").notNull().unique(),
    userSeq: integer("user_seq")
      .notNull()
      .references(() => users.seq),
    signedInBy: text("signed_in_by", { enum: SIGN_IN_METHODS }).notNull(),
    /** Null once the user is signed in. Until then the session admits to nothing but this step. */
    step: text("step", { enum: SIGN_IN_STEPS }),
    createdAt: integer("created_at").notNull(),
    /** Time of the last request, stored every 30 seconds. */
    lastSeenAt: integer("last_seen_at").notNull(),
    /** Time at which the user last proved who they are, by the password or by a link. */
    confirmedAt: integer("confirmed_at").notNull(),
    /** Address of the client at the sign-in; an IPv6 address as its /64 network. */
    address: text("address").notNull(),
    /** The User-Agent header at the sign-in, at most 300 characters. */
    userAgent: text("user_agent").notNull(),
  },
  (table) => [
    index("user_sessions_user").on(table.userSeq, table.seq),
    index("user_sessions_idle").on(table.lastSeenAt),
  ],
);

/** The authenticator app of a user: a secret from which both sides derive codes (RFC 6238). */
export const totpSecrets = sqliteTable("totp_secrets", {
  seq: integer("seq").primaryKey({ autoIncrement: true }),
  userSeq: integer("user_seq")
    .notNull()
    .unique()
    .references(() => users.seq),
  /** 20 random bytes, encrypted with a key of the installation. */
  secret: blob("secret", { mode: "buffer" }).notNull(),
  /** When a code proved that the app has the secret; null before, when it protects nothing yet. */
  confirmedAt: integer("confirmed_at"),
  /** The time step of the last accepted code. A code of this or an earlier step is refused. */
  lastStep: integer("last_step").notNull().default(0),
  createdAt: integer("created_at").notNull(),
});

/** Codes that each replace the second factor once. Only their SHA-256 digests are stored. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    userSeq: integer("user_seq")
      .notNull()
      .references(() => users.seq),
    digest: text("digest").notNull(),
    /** Null while the code works. */
    usedAt: integer("used_at"),
  },
  (table) => [uniqueIndex("recovery_codes_user").on(table.userSeq, table.digest)],
);

/** Passkeys: the public keys of credentials of the Web Authentication API. */
export const passkeys = sqliteTable(
  "passkeys",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    userSeq: integer("user_seq")
      .notNull()
      .references(() => users.seq),
    /** The id that the authenticator chose, in base64url. */
    credentialId: text("credential_id").notNull().unique(),
    /** SubjectPublicKeyInfo in DER (RFC 5280 §4.1). */
    publicKey: blob("public_key", { mode: "buffer" }).notNull(),
    /** Signatures that the authenticator has counted; 0 if it counts none. */
    counter: integer("counter").notNull(),
    /** JSON array of the ways to reach it, such as `usb`. */
    transports: text("transports").notNull(),
    name: text("name").notNull(),
    createdAt: integer("created_at").notNull(),
    lastUsedAt: integer("last_used_at"),
  },
  (table) => [index("passkeys_user").on(table.userSeq, table.seq)],
);

/**
 * SETUP: creates the first owner. LINK: signs in. INVITATION: makes the owner of an address a member
 * of a project. RESET: sets a new password.
 */
export const TOKEN_KINDS = ["SETUP", "LINK", "INVITATION", "RESET"] as const;

/** Tokens that work once. Only the SHA-256 digest of a token is stored. */
export const userTokens = sqliteTable(
  "user_tokens",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    digest: text("digest").notNull().unique(),
    kind: text("kind", { enum: TOKEN_KINDS }).notNull(),
    /** The address of an invitation, in lower case. */
    email: text("email"),
    /** The user of a LINK or RESET token. */
    userSeq: integer("user_seq").references(() => users.seq),
    /** Project and role of an invitation. */
    projectSeq: integer("project_seq").references(() => projects.seq),
    role: text("role", { enum: MEMBER_ROLES }),
    /** True if the text was only sent by mail, so that it proves the address of an invitation. */
    isMailed: integer("is_mailed", { mode: "boolean" }).notNull().default(false),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    /** Time at which the token was used or withdrawn; null while it is valid. */
    usedAt: integer("used_at"),
  },
  (table) => [
    index("user_tokens_user")
      .on(table.userSeq)
      .where(sql`user_seq IS NOT NULL`),
    index("user_tokens_project")
      .on(table.projectSeq, table.seq)
      .where(sql`project_seq IS NOT NULL AND used_at IS NULL`),
    index("user_tokens_setup")
      .on(table.seq)
      .where(sql`kind = 'SETUP' AND used_at IS NULL`),
    index("user_tokens_invited")
      .on(table.email, table.createdAt)
      .where(sql`email IS NOT NULL`),
    index("user_tokens_age").on(table.expiresAt),
  ],
);

export const ACTOR_KINDS = ["USER", "KEY", "CLI", "SYSTEM"] as const;

/** The audit log: one row for each change, written in the transaction of the change. */
export const audit = sqliteTable(
  "audit",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    at: integer("at").notNull(),
    actorKind: text("actor_kind", { enum: ACTOR_KINDS }).notNull(),
    /** Id of the user or key; null for CLI and SYSTEM. */
    actorId: text("actor_id"),
    /** Address of the user, name of the key, or name of the command at that time. */
    actorLabel: text("actor_label").notNull(),
    /** Name of the user at that time; null for keys, commands and entries of earlier versions. */
    actorName: text("actor_name"),
    /** Null if the change belongs to no project. */
    projectSeq: integer("project_seq").references(() => projects.seq),
    /** Name of the project at that time; null without one, and in entries of earlier versions. */
    projectName: text("project_name"),
    /** Such as `contact.update`. */
    action: text("action").notNull(),
    objectType: text("object_type").notNull(),
    objectId: text("object_id"),
    /** Name of the object at that time; null if it has none, or one that is not kept (a contact). */
    objectName: text("object_name"),
    /** JSON array of the names of the changed fields. */
    fields: text("fields").notNull().default("[]"),
    /** JSON array of `{field, before, after}`, without secrets (modules/accounts/audit-changes.ts). */
    changes: text("changes").notNull().default("[]"),
    /** Address of the client; null if the change came from no request. */
    address: text("address"),
  },
  (table) => [index("audit_page").on(table.projectSeq, table.seq), index("audit_age").on(table.at)],
);

/** Mails of the product itself, which belong to no project. A row is removed when it was sent. */
export const systemMails = sqliteTable(
  "system_mails",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    /** Recipient, subject and bodies as JSON, encrypted with a key of the installation. */
    content: blob("content", { mode: "buffer" }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    nextAt: integer("next_at").notNull(),
    createdAt: integer("created_at").notNull(),
    /** The mail is no longer sent after this time, because its link does not work any more. */
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [index("system_mails_due").on(table.nextAt)],
);
