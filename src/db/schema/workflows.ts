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
 * The meaning of `due_at` of an execution: TURN, it can take the next step; TIME, its wait ends;
 * CALL, its webhook call is due, or is under way.
 */
export const DUE_FOR = ["TURN", "TIME", "CALL"] as const;
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
    /** The event that starts an execution of the current version. */
    triggerEvent: text("trigger_event").notNull(),
    /** The graph that new executions start with. */
    versionSeq: integer("version_seq").notNull(),
    /**
     * Set when the workflow is deleted for users. The row remains until all executions are removed.
     */
    deletedAt: integer("deleted_at"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    index("workflows_page").on(table.projectSeq, table.seq),
    // One look-up per event finds its workflows; workflows with other triggers are not read.
    index("workflows_trigger")
      .on(table.projectSeq, table.triggerEvent)
      .where(sql`is_enabled`),
  ],
);

/**
 * Versions of the graph of a workflow. A version is stored while it is the current one or has an
 * execution under way.
 */
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
 * Executions: one run of a workflow for one contact. The table is also the queue of the engine: an
 * execution is due at `due_at`, or it waits for `awaited_event` of its contact, or both (an event
 * with a timeout).
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
    /**
     * The version of the graph for the whole execution. The version may be removed after its end.
     */
    versionSeq: integer("version_seq").notNull(),
    /** Null after the contact was deleted; the execution is then CANCELLED. */
    contactSeq: integer("contact_seq").references(() => contacts.seq, { onDelete: "set null" }),
    status: text("status", { enum: EXECUTION_STATUSES }).notNull(),
    currentStepId: text("current_step_id"),
    /** JSON object: data of the events that started or continued the execution. */
    context: text("context").notNull(),
    stepStartedAt: integer("step_started_at").notNull(),
    /**
     * The latest event that started or continued it. Not a foreign key, since events are purged.
     */
    eventSeq: integer("event_seq"),
    /**
     * Number of completed steps. A change of the row must name it, so that it applies only once.
     */
    stepCount: integer("step_count").notNull().default(0),
    /** Number of tries of the current WEBHOOK or SEND_EMAIL step that did not complete it. */
    tries: integer("tries").notNull().default(0),
    /** Earliest time at which it is due; set together with `due_for`. */
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
    // Executions at a step, in the order of seq, are listed and counted without reading their rows.
    index("workflow_executions_step").on(
      table.workflowSeq,
      table.status,
      table.currentStepId,
      table.seq,
    ),
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
    // Webhook calls are read by workflow, so that a slow receiver delays only its own workflow.
    index("workflow_executions_calls")
      .on(table.workflowSeq, table.dueAt)
      .where(sql`due_for = 'CALL'`),
    index("workflow_executions_awaiting")
      .on(table.contactSeq, table.awaitedEvent)
      .where(sql`awaited_event IS NOT NULL`),
  ],
);

/** Completed steps of executions. Each row is written in the transaction of the step's effect. */
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
    /** The branch that was taken; null for the unconditional transition. */
    branch: text("branch"),
    /** JSON object: result of the step (email id, webhook response, reason). */
    detail: text("detail"),
    startedAt: integer("started_at").notNull(),
    completedAt: integer("completed_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.executionSeq, table.number] })],
);

/**
 * Counters of the completed steps of a workflow. They change in the transaction of the step, and
 * still count the steps of executions that were purged.
 */
export const workflowStepCounts = sqliteTable(
  "workflow_step_counts",
  {
    workflowSeq: integer("workflow_seq")
      .notNull()
      .references(() => workflows.seq, { onDelete: "cascade" }),
    stepId: text("step_id").notNull(),
    completed: integer("completed").notNull().default(0),
    skipped: integer("skipped").notNull().default(0),
    failed: integer("failed").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.workflowSeq, table.stepId] })],
);
