import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const TEMPLATE_TYPES = ["TRANSACTIONAL", "MARKETING"] as const;

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
  },
  (table) => [index("templates_page").on(table.projectSeq, table.seq)],
);
