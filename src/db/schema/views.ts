import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./accounts.ts";
import { projects } from "./projects.ts";

/** Saved views: names that users of the dashboard give to the filters of a list. */
export const savedViews = sqliteTable(
  "saved_views",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** The author. Other members see the view only if it is shared. */
    userSeq: integer("user_seq")
      .notNull()
      .references(() => users.seq),
    /** The list to which the view belongs, such as `emails` (modules/views/pages.ts). */
    page: text("page").notNull(),
    name: text("name").notNull(),
    /** A query string without `?`, such as `status=bounced&range=7d`. */
    query: text("query").notNull(),
    isShared: integer("is_shared", { mode: "boolean" }).notNull().default(false),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("saved_views_name").on(table.userSeq, table.projectSeq, table.page, table.name),
    index("saved_views_page").on(table.projectSeq, table.seq),
  ],
);
