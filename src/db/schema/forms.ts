import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

/** DOUBLE: a person is subscribed by the link of a mail. SINGLE: a new address is subscribed at once. */
export const FORM_CONFIRMATIONS = ["DOUBLE", "SINGLE"] as const;

export const FORM_FIELD_KINDS = ["TEXT", "NUMBER", "DATE", "CHOICE", "CHECKBOX"] as const;

/** A field beside the email address. */
export type FormField = {
  name: string;
  label: string;
  kind: (typeof FORM_FIELD_KINDS)[number];
  isRequired?: boolean;
  options?: string[];
  maxLength?: number;
};

export type FormTopic = { topicId: string; isPreselected?: boolean };

/** Sign-up forms, which are public. */
export const forms = sqliteTable(
  "forms",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    title: text("title").notNull(),
    description: text("description"),
    fields: text("fields", { mode: "json" }).$type<FormField[]>().notNull(),
    topics: text("topics", { mode: "json" }).$type<FormTopic[]>().notNull(),
    /** The wording of the consent that the person gives; null for none of its own. */
    consent: text("consent"),
    /** True if the consent is a box that must be ticked. */
    hasConsentBox: integer("has_consent_box", { mode: "boolean" }).notNull(),
    buttonLabel: text("button_label"),
    confirmation: text("confirmation", { enum: FORM_CONFIRMATIONS }).notNull(),
    /** The template of the confirmation mail; null for the built-in one. */
    templateId: text("template_id"),
    successMessage: text("success_message"),
    successUrl: text("success_url"),
    confirmedUrl: text("confirmed_url"),
    /** Web origins whose pages may use the form, separated by spaces; empty for all. */
    origins: text("origins").notNull(),
    /** BCP 47 tag; null for the language of the project. */
    language: text("language"),
    isEnabled: integer("is_enabled", { mode: "boolean" }).notNull(),
    /** The sums of `form_days`. */
    shown: integer("shown").notNull().default(0),
    submitted: integer("submitted").notNull().default(0),
    confirmed: integer("confirmed").notNull().default(0),
    withheld: integer("withheld").notNull().default(0),
    /** Counts the changes. */
    revision: integer("revision").notNull().default(1),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    index("forms_page").on(table.projectSeq, table.seq),
    index("forms_template")
      .on(table.projectSeq, table.templateId)
      .where(sql`template_id IS NOT NULL`),
  ],
);

/**
 * The numbers of views, submissions and confirmations of a form, and of submissions that were withheld
 * because their address may get no mail, by day in UTC.
 */
export const formDays = sqliteTable(
  "form_days",
  {
    formSeq: integer("form_seq")
      .notNull()
      .references(() => forms.seq, { onDelete: "cascade" }),
    /** Days since 1970-01-01. */
    day: integer("day").notNull(),
    shown: integer("shown").notNull().default(0),
    submitted: integer("submitted").notNull().default(0),
    confirmed: integer("confirmed").notNull().default(0),
    withheld: integer("withheld").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.formSeq, table.day] })],
);

/**
 * Submissions that wait for their confirmation. A confirmed one stays without personal data until it
 * would have expired, so that its link says that it was confirmed before.
 */
export const formSubmissions = sqliteTable(
  "form_submissions",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    formSeq: integer("form_seq")
      .notNull()
      .references(() => forms.seq, { onDelete: "cascade" }),
    /** SHA-256 of the token in the link. */
    tokenDigest: text("token_digest").notNull().unique(),
    /** Null once it was confirmed, as the next four columns. */
    email: text("email"),
    /** The values for the data of the contact. */
    data: text("data", { mode: "json" }).$type<Readonly<Record<string, unknown>>>(),
    /** The ids of the chosen topics. */
    topics: text("topics", { mode: "json" }).$type<string[]>(),
    /** The wording that the page showed. */
    wording: text("wording"),
    clientAddress: text("client_address"),
    /** The mail with the link. There is no foreign key, because mails are described in another file. */
    emailId: text("email_id"),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    confirmedAt: integer("confirmed_at"),
  },
  (table) => [
    index("form_submissions_email")
      .on(table.projectSeq, table.email, table.createdAt)
      .where(sql`email IS NOT NULL`),
    index("form_submissions_form").on(table.formSeq),
    index("form_submissions_expiry").on(table.expiresAt),
  ],
);
