import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const JOB_STATUSES = ["QUEUED", "RUNNING", "COMPLETED", "FAILED"] as const;

/**
 * Rows that an import could not import. The row without a message has the names of the columns.
 */
export const importFaults = sqliteTable(
  "import_faults",
  {
    jobSeq: integer("job_seq")
      .notNull()
      .references(() => jobs.seq, { onDelete: "cascade" }),
    /** Line in the file, from 1; 0 for a fault of the whole file. */
    line: integer("line").notNull(),
    message: text("message").notNull(),
    /** JSON: the record as it stands in the file; null if it is too long. */
    cells: text("cells"),
  },
  (table) => [primaryKey({ columns: [table.jobSeq, table.line] })],
);

/** Long operations on contacts. After a crash, a job continues from its cursor. */
export const jobs = sqliteTable(
  "jobs",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    kind: text("kind", { enum: ["IMPORT", "DRY_RUN", "BULK"] }).notNull(),
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
    index("jobs_of_project").on(table.projectSeq, table.kind, table.seq),
  ],
);
