import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

/** Sending domains; one domain belongs to one project of the installation. */
export const domains = sqliteTable("domains", {
  seq: integer("seq").primaryKey(),
  id: text("id").notNull().unique(),
  projectSeq: integer("project_seq")
    .notNull()
    .references(() => projects.seq),
  domain: text("domain").notNull().unique(),
  status: text("status", { enum: ["PENDING", "VERIFIED", "FAILED"] }).notNull(),
  verifiedAt: integer("verified_at"),
  lastCheckedAt: integer("last_checked_at"),
  createdAt: integer("created_at").notNull(),
});
