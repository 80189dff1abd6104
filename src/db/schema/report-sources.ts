import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

/** The providers whose webhooks are read (protocols/relay-reports/). */
export const REPORT_PROVIDERS = [
  "SES",
  "POSTMARK",
  "SENDGRID",
  "MAILGUN",
  "BREVO",
  "MAILJET",
  "RESEND",
] as const;
export type ReportProvider = (typeof REPORT_PROVIDERS)[number];

/** URLs to which relay providers report what became of mail. */
export const reportSources = sqliteTable(
  "report_sources",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    provider: text("provider", { enum: REPORT_PROVIDERS }).notNull(),
    name: text("name").notNull(),
    /** SHA-256 of the secret in the URL. */
    digest: text("digest").notNull().unique(),
    /** The key that checks the signatures, sealed; null if there is none yet, or if none is used. */
    signingKey: blob("signing_key", { mode: "buffer" }),
    /** SES: the SNS topic, from the confirmation of its subscription on. */
    topicArn: text("topic_arn"),
    /** Reports that were accepted. */
    received: integer("received").notNull().default(0),
    /** Accepted reports that changed the record of a mail. */
    counted: integer("counted").notNull().default(0),
    /** Accepted reports about mail that the project does not have. */
    unknown: integer("unknown").notNull().default(0),
    lastReceivedAt: integer("last_received_at"),
    /** When a request was last refused, and why; null after one that was accepted. */
    refusedAt: integer("refused_at"),
    refusal: text("refusal"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("report_sources_page").on(table.projectSeq, table.seq)],
);
