import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const JOB_STATUSES = ["QUEUED", "RUNNING", "COMPLETED", "FAILED"] as const;

/** Long operations on contacts. After a crash, a job continues from its cursor. */
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
    /** JSON: parameters of the job. */
    input: text("input").notNull(),
    /**
     * Position of the job; its unit depends on the kind. It is written with the work up to there.
     */
    cursor: integer("cursor").notNull().default(0),
    processed: integer("processed").notNull().default(0),
    /** Size of the uploaded file; 0 after the file was deleted. */
    fileBytes: integer("file_bytes").notNull().default(0),
    total: integer("total"),
    created: integer("created").notNull().default(0),
    updated: integer("updated").notNull().default(0),
    failed: integer("failed").notNull().default(0),
    /** JSON: the first errors, each with its line. */
    errors: text("errors").notNull().default("[]"),
    createdAt: integer("created_at").notNull(),
    finishedAt: integer("finished_at"),
  },
  (table) => [
    index("jobs_status").on(table.status, table.seq),
    // The quota of a project counts its unfinished jobs.
    index("jobs_unfinished")
      .on(table.projectSeq)
      .where(sql`status IN ('QUEUED', 'RUNNING')`),
  ],
);
