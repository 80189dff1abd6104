import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const IMAGE_FORMATS = ["png", "jpeg", "gif", "webp"] as const;

/** Images that mails show. Each is stored once in a project, and everybody may read it by its digest. */
export const images = sqliteTable(
  "images",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** SHA-256 of `bytes`, in hexadecimal. */
    digest: text("digest").notNull(),
    name: text("name").notNull(),
    format: text("format", { enum: IMAGE_FORMATS }).notNull(),
    width: integer("width").notNull(),
    height: integer("height").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    createdAt: integer("created_at").notNull(),
    /** The last column: a list reads the others without the pages of this one. */
    bytes: blob("bytes", { mode: "buffer" }).notNull(),
  },
  (table) => [
    index("images_page").on(table.projectSeq, table.seq),
    uniqueIndex("images_digest").on(table.digest, table.projectSeq),
  ],
);
