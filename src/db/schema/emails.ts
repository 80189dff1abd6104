import { sql } from "drizzle-orm";
import {
  blob,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { contacts } from "./contacts.ts";
import { projects } from "./projects.ts";

export const EMAIL_STATUSES = [
  "QUEUED",
  "SENDING",
  "SENT",
  "DELIVERED",
  "OPENED",
  "CLICKED",
  "BOUNCED",
  "COMPLAINED",
  "FAILED",
  "SUPPRESSED",
  "CANCELLED",
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

export const EMAIL_SOURCES = ["TRANSACTIONAL", "CAMPAIGN", "WORKFLOW", "TEST"] as const;

/**
 * Content that many emails share: sender, body source and headers. It is stored once per project
 * and distinct content, so a campaign with a million recipients has one row here.
 */
export const messages = sqliteTable(
  "messages",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** SHA-256 over all the other columns and the attachments. */
    digest: text("digest").notNull(),
    fromAddress: text("from_address").notNull(),
    fromName: text("from_name"),
    /** Mailboxes as text, separated by commas. */
    replyTo: text("reply_to"),
    /** Template source of the HTML body; empty for a message that has only a text. */
    html: text("html").notNull(),
    /** Template source of the text of a message that has one of its own; null: made from `html`. */
    text: text("text"),
    /**
     * VisibleRecipients (protocols/mime/visible-recipients.ts) of a message that has the same To and Cc in
     * all its mails; null if each mail names its own recipient alone.
     */
    recipients: text("recipients"),
    /** JSON: [name, value][]. */
    headers: text("headers").notNull(),
    /** Marketing mail goes only to subscribed contacts. This is checked again before sending. */
    isMarketing: integer("is_marketing", { mode: "boolean" }).notNull(),
    hasAttachments: integer("has_attachments", { mode: "boolean" }).notNull(),
    /**
     * Set for a message that was submitted over SMTP: it is sent as its pieces have it, and `html`,
     * `headers` and `reply_to` are empty. Its digest names no content.
     */
    messageId: text("message_id"),
    /**
     * Set for a message that is forwarded: the sender of its envelope, empty for the null sender. It
     * leaves without a signature of ours, and its From may be of any domain.
     */
    envelopeFrom: text("envelope_from"),
    /** JSON: parameters that are added to its links; null for none. */
    utm: text("utm"),
    /** True for the mails of the service to a person, such as a confirmation, in every project. */
    isUntracked: integer("is_untracked", { mode: "boolean" }).notNull().default(false),
    createdAt: integer("created_at").notNull(),
    /**
     * The topic that its recipients leave by the links in its mails; null for none. There is no foreign
     * key: a number without a topic means that it was deleted, and mail that still waits is not sent.
     */
    topicSeq: integer("topic_seq"),
  },
  (table) => [
    uniqueIndex("messages_digest").on(table.projectSeq, table.digest),
    // Reports about submitted messages name their Message-ID.
    index("messages_message_id")
      .on(table.messageId)
      .where(sql`message_id IS NOT NULL`),
  ],
);

/** Attachment bytes, stored once per project and distinct content. */
export const attachmentContents = sqliteTable("attachment_contents", {
  digest: text("digest").primaryKey(),
  /** The project whose storage it uses; null for content that no message refers to. */
  projectSeq: integer("project_seq").references(() => projects.seq),
  bytes: blob("bytes", { mode: "buffer" }).notNull(),
});

export const messageAttachments = sqliteTable(
  "message_attachments",
  {
    messageSeq: integer("message_seq")
      .notNull()
      .references(() => messages.seq, { onDelete: "cascade" }),
    position: integer("position").notNull(),
    filename: text("filename").notNull(),
    contentType: text("content_type").notNull(),
    contentId: text("content_id"),
    disposition: text("disposition", { enum: ["attachment", "inline"] }).notNull(),
    contentDigest: text("content_digest")
      .notNull()
      .references(() => attachmentContents.digest),
  },
  (table) => [
    primaryKey({ columns: [table.messageSeq, table.position] }),
    index("message_attachments_content").on(table.contentDigest),
  ],
);

/** The bytes of a submitted message, compressed (zstd), in pieces of at most 1 MiB. */
export const messagePieces = sqliteTable(
  "message_pieces",
  {
    messageSeq: integer("message_seq")
      .notNull()
      .references(() => messages.seq, { onDelete: "cascade" }),
    position: integer("position").notNull(),
    bytes: blob("bytes", { mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.messageSeq, table.position] })],
);

/**
 * Mails, each to one recipient. The table is also the delivery queue: a mail waits or is under way
 * as long as `next_at` is set. A QUEUED mail is due at `next_at`. A SENDING mail is leased; if the
 * process dies, the mail is due again at `next_at`.
 */
export const emails = sqliteTable(
  "emails",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** Null once the contact was deleted. */
    contactSeq: integer("contact_seq").references(() => contacts.seq, { onDelete: "set null" }),
    messageSeq: integer("message_seq")
      .notNull()
      .references(() => messages.seq),
    source: text("source", { enum: EMAIL_SOURCES }).notNull(),
    templateId: text("template_id"),
    /** Null for other mail. The unique index allows one mail per contact and campaign. */
    campaignSeq: integer("campaign_seq"),
    /**
     * The variant of the campaign's A/B test; null for other mail, and for the mails that leave after
     * the winner was chosen.
     */
    variant: text("variant"),
    /** The workflow execution that created the mail; null for other mail. */
    executionSeq: integer("execution_seq"),
    /** Null after the contact was deleted, like `to_name` and `variables`. */
    to: text("to_address"),
    toName: text("to_name"),
    subject: text("subject").notNull(),
    /** JSON object for rendering the body; null if the contact's data at sending time is used. */
    variables: text("variables"),
    /**
     * The id of the first copy of its message, from which all copies have their Message-ID; null for a
     * mail that is no copy of a message to several recipients.
     */
    groupId: text("group_id"),
    /** JSON: object of names and values that the caller chose; null for none. */
    tags: text("tags"),
    /** The time that the caller chose for sending; null: at once. Its lifetime begins then. */
    scheduledAt: integer("scheduled_at"),
    status: text("status", { enum: EMAIL_STATUSES }).notNull(),
    /** 0 transactional, 1 campaign; selects the retry schedule (outbox/retry.ts). */
    priority: integer("priority").notNull(),
    /**
     * Number of leases. The record of an outcome must name it, so that an expired lease has no
     * effect.
     */
    attempts: integer("attempts").notNull().default(0),
    nextAt: integer("next_at"),
    /** Wait list of a due mail, with all mails that wait for the same slot; "" if it is in none. */
    line: text("line").notNull().default(""),
    createdAt: integer("created_at").notNull(),
    sentAt: integer("sent_at"),
    deliveredAt: integer("delivered_at"),
    openedAt: integer("opened_at"),
    clickedAt: integer("clicked_at"),
    bouncedAt: integer("bounced_at"),
    complainedAt: integer("complained_at"),
    /**
     * First open by a machine, such as an image proxy or a scanner; never counted as a person's.
     */
    machineOpenedAt: integer("machine_opened_at"),
    machineClickedAt: integer("machine_clicked_at"),
    lastError: text("last_error"),
  },
  (table) => [
    index("emails_page").on(table.projectSeq, table.seq),
    index("emails_contact").on(table.contactSeq),
    index("emails_message").on(table.messageSeq),
    uniqueIndex("emails_campaign_contact")
      .on(table.campaignSeq, table.contactSeq)
      .where(sql`campaign_seq IS NOT NULL`),
    // Conditions of segments ask which contacts got a template.
    index("emails_template")
      .on(table.templateId, table.contactSeq)
      .where(sql`template_id IS NOT NULL`),
    index("emails_campaign")
      .on(table.campaignSeq)
      .where(sql`campaign_seq IS NOT NULL`),
    index("emails_campaign_queue")
      .on(table.campaignSeq, table.status, table.line, table.nextAt)
      .where(sql`campaign_seq IS NOT NULL AND next_at IS NOT NULL`),
    index("emails_queue")
      .on(table.status, table.line, table.projectSeq, table.nextAt)
      .where(sql`campaign_seq IS NULL AND next_at IS NOT NULL`),
  ],
);

/** Attempts to deliver a mail, with their SMTP conversations. */
export const attempts = sqliteTable(
  "attempts",
  {
    seq: integer("seq").primaryKey(),
    emailSeq: integer("email_seq")
      .notNull()
      .references(() => emails.seq, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    startedAt: integer("started_at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    outcome: text("outcome", { enum: ["accepted", "deferred", "bounced", "failed"] }).notNull(),
    class: text("class").notNull(),
    reason: text("reason"),
    /** JSON: Conversation[] (outbox/outcome.ts); null once the contact was deleted. */
    conversations: text("conversations"),
  },
  (table) => [index("attempts_email").on(table.emailSeq)],
);

/** Complete messages stored by the capture transport. */
export const capturedMessages = sqliteTable("captured_messages", {
  emailSeq: integer("email_seq")
    .primaryKey()
    .references(() => emails.seq, { onDelete: "cascade" }),
  raw: blob("raw", { mode: "buffer" }).notNull(),
});

/** DELIVERY is stored only while it is not known that a server accepted the mail. */
export const REPORT_KINDS = ["BOUNCE", "COMPLAINT", "DELIVERY"] as const;

/**
 * Reports about mails that arrived after a server had accepted them: bounces, complaints and
 * deliveries. The unique index counts each kind once per mail, however often a report arrives.
 */
export const emailReports = sqliteTable(
  "email_reports",
  {
    seq: integer("seq").primaryKey(),
    emailSeq: integer("email_seq")
      .notNull()
      .references(() => emails.seq, { onDelete: "cascade" }),
    kind: text("kind", { enum: REPORT_KINDS }).notNull(),
    receivedAt: integer("received_at").notNull(),
    /**
     * `standard`, ARF, JMRP, the kind of server whose words were recognised, or `webhook` and the
     * provider that reported it.
     */
    form: text("form").notNull(),
    /** Class of the reply (protocols/smtp/reply-classes.ts); null for other reports than bounces. */
    class: text("class"),
    /** `x.y.z`; null if the report names none. */
    statusCode: text("status_code"),
    /** In words; empty once the contact was deleted, like `excerpt`. */
    reason: text("reason").notNull(),
    reportingMta: text("reporting_mta"),
    /** The part of the report about the failure, at most 4,000 characters. */
    excerpt: text("excerpt").notNull(),
  },
  (table) => [uniqueIndex("email_reports_email").on(table.emailSeq, table.kind)],
);
