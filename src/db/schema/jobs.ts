import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const JOB_STATUSES = ["QUEUED", "RUNNING", "COMPLETED", "FAILED"] as const;

/** Long work on contacts, resumed where it was after a crash. */
export const jobs = sqliteTable(
  "jobs",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    kind: text("kind", { enum: ["IMPORT", "BULK"] }).notNull(),
    status: text("status", { enum: JOB_STATUSES }).notNull(),
    /** JSON: what to do. */
    input: text("input").notNull(),
    /** Where to go on: what it counts depends on the kind. Written with the work up to there. */
    cursor: integer("cursor").notNull().default(0),
    processed: integer("processed").notNull().default(0),
    /** Size of its uploaded file, as long as it is kept. */
    fileBytes: integer("file_bytes").notNull().default(0),
    total: integer("total"),
    created: integer("created").notNull().default(0),
    updated: integer("updated").notNull().default(0),
    failed: integer("failed").notNull().default(0),
    /** JSON: the first errors, with their line. */
    errors: text("errors").notNull().default("[]"),
    createdAt: integer("created_at").notNull(),
    finishedAt: integer("finished_at"),
  },
  (table) => [
    index("jobs_status").on(table.status, table.seq),
    // The quota of a project asks for its jobs that have not ended.
    index("jobs_unfinished")
      .on(table.projectSeq)
      .where(sql`status IN ('QUEUED', 'RUNNING')`),
  ],
);
