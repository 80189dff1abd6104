import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { contacts } from "./contacts.ts";
import { projects } from "./projects.ts";

export const EXECUTION_STATUSES = [
  "RUNNING",
  "WAITING",
  "COMPLETED",
  "EXITED",
  "FAILED",
  "CANCELLED",
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/**
 * What `due_at` of an execution is the time of: its TURN to take the next step, the TIME that it
 * waits for, its webhook's CALL, or the end of the lease under which the ANSWER is awaited.
 */
export const DUE_FOR = ["TURN", "TIME", "CALL", "ANSWER"] as const;
export type DueFor = (typeof DUE_FOR)[number];

export const workflows = sqliteTable(
  "workflows",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    description: text("description"),
    isEnabled: integer("is_enabled", { mode: "boolean" }).notNull(),
    allowReentry: integer("allow_reentry", { mode: "boolean" }).notNull(),
    /** Of the current version: the event that starts it. */
    triggerEvent: text("trigger_event").notNull(),
    /** The graph that new executions start with. */
    versionSeq: integer("version_seq").notNull(),
    /** Gone for everybody; the row stays until its executions are removed, in small steps. */
    deletedAt: integer("deleted_at"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    index("workflows_page").on(table.projectSeq, table.seq),
    // One look-up per event, however many workflows of other names there are.
    index("workflows_trigger")
      .on(table.projectSeq, table.triggerEvent)
      .where(sql`is_enabled`),
  ],
);

/** A graph as it was once; kept while it is the current one or an execution on it is under way. */
export const workflowVersions = sqliteTable(
  "workflow_versions",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    workflowSeq: integer("workflow_seq")
      .notNull()
      .references(() => workflows.seq, { onDelete: "cascade" }),
    /** JSON: Graph (modules/workflows/graph/graph.ts). */
    graph: text("graph").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("workflow_versions_workflow").on(table.workflowSeq)],
);

/**
 * One contact's way through a workflow, and the engine's agenda at once: RUNNING or due at
 * `due_at`, WAITING for `awaited_event` of its contact, or both (an event with a timeout).
 */
export const workflowExecutions = sqliteTable(
  "workflow_executions",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    workflowSeq: integer("workflow_seq")
      .notNull()
      .references(() => workflows.seq, { onDelete: "cascade" }),
    /** The graph it started with, and goes on with; not there any more once it has ended. */
    versionSeq: integer("version_seq").notNull(),
    /** Null once the contact was deleted; then it is CANCELLED. */
    contactSeq: integer("contact_seq").references(() => contacts.seq, { onDelete: "set null" }),
    status: text("status", { enum: EXECUTION_STATUSES }).notNull(),
    currentStepId: text("current_step_id"),
    /** JSON object: data of the events that it met. */
    context: text("context").notNull(),
    stepStartedAt: integer("step_started_at").notNull(),
    /** The latest event that it met; no reference, since events may be purged. */
    eventSeq: integer("event_seq"),
    /** How many steps it completed; the token that a change of it must name. */
    stepCount: integer("step_count").notNull().default(0),
    /** Tries of the current step so far (WEBHOOK). */
    tries: integer("tries").notNull().default(0),
    /** The first moment at which it is due; set with `due_for`. */
    dueAt: integer("due_at"),
    dueFor: text("due_for", { enum: DUE_FOR }),
    awaitedEvent: text("awaited_event"),
    startedAt: integer("started_at").notNull(),
    completedAt: integer("completed_at"),
    exitReason: text("exit_reason"),
    error: text("error"),
  },
  (table) => [
    index("workflow_executions_page").on(table.workflowSeq, table.seq),
    index("workflow_executions_status").on(table.workflowSeq, table.status, table.seq),
    index("workflow_executions_contact").on(table.contactSeq, table.workflowSeq),
    index("workflow_executions_version")
      .on(table.versionSeq)
      .where(sql`status IN ('RUNNING', 'WAITING')`),
    uniqueIndex("workflow_executions_active")
      .on(table.workflowSeq, table.contactSeq)
      .where(sql`status IN ('RUNNING', 'WAITING')`),
    index("workflow_executions_due")
      .on(table.dueFor, table.dueAt)
      .where(sql`due_at IS NOT NULL`),
    // Calls take turns by workflow, so that one slow receiver does not hold up the others.
    index("workflow_executions_calls")
      .on(table.workflowSeq, table.dueAt)
      .where(sql`due_for = 'CALL'`),
    index("workflow_executions_awaiting")
      .on(table.contactSeq, table.awaitedEvent)
      .where(sql`awaited_event IS NOT NULL`),
  ],
);

/** What an execution did, one row per completed step, written with the step's effect. */
export const workflowExecutionSteps = sqliteTable(
  "workflow_execution_steps",
  {
    executionSeq: integer("execution_seq")
      .notNull()
      .references(() => workflowExecutions.seq, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    stepId: text("step_id").notNull(),
    type: text("type").notNull(),
    outcome: text("outcome", { enum: ["COMPLETED", "SKIPPED", "FAILED"] }).notNull(),
    /** The branch that was taken; null for the plain way on. */
    branch: text("branch"),
    /** JSON object: what it did (email id, answer of the other side, reason). */
    detail: text("detail"),
    startedAt: integer("started_at").notNull(),
    completedAt: integer("completed_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.executionSeq, table.number] })],
);
