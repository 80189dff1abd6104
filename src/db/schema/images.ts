import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const IMAGE_FORMATS = ["png", "jpeg", "gif", "webp"] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

/** Images that mails show. Each is stored once in a project, and is public under its digest. */
export const images = sqliteTable(
  "images",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** SHA-256 of its bytes, in hexadecimal. */
    digest: text("digest").notNull(),
    name: text("name").notNull(),
    format: text("format", { enum: IMAGE_FORMATS }).notNull(),
    width: integer("width").notNull(),
    height: integer("height").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("images_page").on(table.projectSeq, table.seq),
    uniqueIndex("images_digest").on(table.digest, table.projectSeq),
  ],
);

/** The bytes of an image; `size_bytes` of the image is their length. */
export const imageContents = sqliteTable("image_contents", {
  imageSeq: integer("image_seq")
    .primaryKey()
    .references(() => images.seq, { onDelete: "cascade" }),
  bytes: blob("bytes", { mode: "buffer" }).notNull(),
});
