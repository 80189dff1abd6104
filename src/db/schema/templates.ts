import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";
import { topics } from "./topics.ts";

export const TEMPLATE_TYPES = ["TRANSACTIONAL", "MARKETING"] as const;
/** The editor of a template's body. The body of VISUAL is made of its `design`. */
export const TEMPLATE_FORMATS = ["CODE", "VISUAL"] as const;

/** Bodies that contain `{{ content }}` once, where the body of a template is put. */
export const layouts = sqliteTable(
  "layouts",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    body: text("body").notNull(),
    /** Counts the changes. */
    revision: integer("revision").notNull().default(1),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [index("layouts_page").on(table.projectSeq, table.seq)],
);

export const templates = sqliteTable(
  "templates",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    description: text("description"),
    subject: text("subject").notNull(),
    body: text("body").notNull(),
    from: text("from_address"),
    fromName: text("from_name"),
    replyTo: text("reply_to"),
    type: text("type", { enum: TEMPLATE_TYPES }).notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    preheader: text("preheader"),
    /** JSON of the visual editor. */
    design: text("design"),
    format: text("format", { enum: TEMPLATE_FORMATS }).notNull().default("CODE"),
    layoutSeq: integer("layout_seq").references(() => layouts.seq),
    /** Counts the changes. */
    revision: integer("revision").notNull().default(1),
    /** The topic of its mails; only for MARKETING. */
    topicSeq: integer("topic_seq").references(() => topics.seq),
  },
  (table) => [
    index("templates_page").on(table.projectSeq, table.seq),
    index("templates_topic")
      .on(table.topicSeq)
      .where(sql`topic_seq IS NOT NULL`),
    index("templates_layout")
      .on(table.layoutSeq)
      .where(sql`layout_seq IS NOT NULL`),
  ],
);

/**
 * The versions of a template. The newest one equals the template as it is now. Changes that one
 * author makes within a few minutes are one version, with the revision of the last of them.
 */
export const templateVersions = sqliteTable(
  "template_versions",
  {
    templateSeq: integer("template_seq")
      .notNull()
      .references(() => templates.seq, { onDelete: "cascade" }),
    revision: integer("revision").notNull(),
    name: text("name").notNull(),
    description: text("description"),
    subject: text("subject").notNull(),
    preheader: text("preheader"),
    format: text("format", { enum: TEMPLATE_FORMATS }).notNull(),
    /** The layout may have been deleted since. */
    layoutId: text("layout_id"),
    from: text("from_address"),
    fromName: text("from_name"),
    replyTo: text("reply_to"),
    type: text("type", { enum: TEMPLATE_TYPES }).notNull(),
    /** The topic may have been deleted since. */
    topicId: text("topic_id"),
    /** JSON array of the names of the fields that differ from the version before. */
    changed: text("changed").notNull(),
    /** Null for a version of the time before versions were stored. */
    authorKind: text("author_kind", { enum: ["USER", "KEY"] }),
    authorId: text("author_id"),
    authorName: text("author_name"),
    /** True if a later change must not be joined to this version, because a test of it was sent. */
    isKept: integer("is_kept", { mode: "boolean" }).notNull().default(false),
    /** When the first of the joined changes was made, and the last one. */
    startedAt: integer("started_at").notNull(),
    createdAt: integer("created_at").notNull(),
    // The last columns: a list reads the others without their pages.
    body: text("body").notNull(),
    design: text("design"),
  },
  (table) => [primaryKey({ columns: [table.templateSeq, table.revision] })],
);
