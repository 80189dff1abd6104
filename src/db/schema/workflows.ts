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

/** The kinds of triggers: an event, a schedule, or only requests. */
export const TRIGGER_TYPES = ["EVENT", "SCHEDULE", "MANUAL"] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];

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
    triggerType: text("trigger_type", { enum: TRIGGER_TYPES }).notNull().default("EVENT"),
    /** The event that starts an execution of the current version; empty if none does. */
    triggerEvent: text("trigger_event").notNull(),
    /** The next time of the schedule of an enabled workflow; null without a schedule. */
    nextEntryAt: integer("next_entry_at"),
    /** The graph that new executions start with. */
    versionSeq: integer("version_seq").notNull(),
    /** Increases with each change of the workflow; its ETag. */
    revision: integer("revision").notNull().default(1),
    /** Set when the workflow is deleted for users. The row remains until all executions are removed. */
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
    index("workflows_next_entry")
      .on(table.nextEntryAt)
      .where(sql`next_entry_at IS NOT NULL`),
  ],
);

/**
 * Versions of the graph of a workflow. A version is stored while it is one of the newest, or has an
 * execution under way (modules/workflows/versions.ts).
 */
export const workflowVersions = sqliteTable(
  "workflow_versions",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    workflowSeq: integer("workflow_seq")
      .notNull()
      .references(() => workflows.seq, { onDelete: "cascade" }),
    /** Counts the versions of a workflow from 1. */
    number: integer("number").notNull().default(0),
    /** JSON: Graph (modules/workflows/graph/graph.ts). */
    graph: text("graph").notNull(),
    /** Null for a version of the time before authors were stored. */
    authorKind: text("author_kind", { enum: ["USER", "KEY"] }),
    authorId: text("author_id"),
    authorName: text("author_name"),
    createdAt: integer("created_at").notNull(),
  },
  // The number is in the index, because it would be read behind a graph of up to a megabyte.
  (table) => [index("workflow_versions_workflow").on(table.workflowSeq, table.number)],
);

/**
 * The events that end executions of a version early, so that one look-up for an event finds them.
 * They are stored for the current version and for those with executions under way.
 */
export const workflowExits = sqliteTable(
  "workflow_exits",
  {
    versionSeq: integer("version_seq")
      .notNull()
      .references(() => workflowVersions.seq, { onDelete: "cascade" }),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    eventName: text("event_name").notNull(),
    /** Becomes the `exitReason` of the executions. */
    reason: text("reason").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.versionSeq, table.eventName] }),
    index("workflow_exits_event").on(table.projectSeq, table.eventName),
  ],
);

export const ENTRY_RUN_STATUSES = ["RUNNING", "COMPLETED", "CANCELLED", "FAILED"] as const;
export type EntryRunStatus = (typeof ENTRY_RUN_STATUSES)[number];

/**
 * Entry runs: each lets the contacts of a segment, or all contacts, enter a workflow. The cursor is
 * committed together with the executions of the contacts before it.
 */
export const workflowEntryRuns = sqliteTable(
  "workflow_entry_runs",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    workflowSeq: integer("workflow_seq")
      .notNull()
      .references(() => workflows.seq, { onDelete: "cascade" }),
    /** The planned time of a schedule; null for a run that was requested. */
    plannedAt: integer("planned_at"),
    status: text("status", { enum: ENTRY_RUN_STATUSES }).notNull(),
    /** The reason why a run failed or was cancelled. */
    error: text("error"),
    /** Null for all contacts. The segment may have been deleted since. */
    segmentId: text("segment_id"),
    /** JSON: the condition of a DYNAMIC segment at the start; later changes do not affect the run. */
    condition: text("condition"),
    /** The last contact that was looked at. */
    cursor: integer("cursor").notNull().default(0),
    /** The newest contact at the start; contacts created later do not enter. */
    endSeq: integer("end_seq").notNull(),
    entered: integer("entered").notNull().default(0),
    /** Contacts that may not enter: they are active in the workflow, or entered it before. */
    skipped: integer("skipped").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("workflow_entry_runs_page").on(table.workflowSeq, table.seq),
    uniqueIndex("workflow_entry_runs_planned")
      .on(table.workflowSeq, table.plannedAt)
      .where(sql`planned_at IS NOT NULL`),
    index("workflow_entry_runs_open")
      .on(table.seq)
      .where(sql`status = 'RUNNING'`),
  ],
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
    /** The version of the graph for the whole execution. The version may be removed after its end. */
    versionSeq: integer("version_seq").notNull(),
    /** Null after the contact was deleted; the execution is then CANCELLED. */
    contactSeq: integer("contact_seq").references(() => contacts.seq, { onDelete: "set null" }),
    status: text("status", { enum: EXECUTION_STATUSES }).notNull(),
    currentStepId: text("current_step_id"),
    /** JSON object: data of the events that started or continued the execution. */
    context: text("context").notNull(),
    stepStartedAt: integer("step_started_at").notNull(),
    /** The latest event that started or continued it. Not a foreign key, since events are purged. */
    eventSeq: integer("event_seq"),
    /** Number of completed steps. A change of the row must name it, so that it applies only once. */
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
    index("workflow_executions_project").on(table.projectSeq, table.seq),
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
