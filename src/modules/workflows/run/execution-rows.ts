/**
 * The rows of executions: their progress, when they are due and which event they wait for. The
 * statements on webhook calls are in webhook-calls.ts. Every function that writes here is part of a
 * change. A plus sign before a parameter keeps SQLite from preparing the statement again for every
 * value (db/bound.ts).
 */

import { insertedSeq } from "../../../db/inserted.ts";
import type { Db } from "../../../db/open.ts";
import type { DueShift } from "../../../lib/steady-clock.ts";
import { parseData } from "../../contacts/data.ts";
import { createCompletedSteps } from "./completed-steps.ts";
import type { CompletedStep, Progress } from "./engine.ts";

/** An execution with its progress. */
export type Execution = {
  seq: number;
  id: string;
  projectSeq: number;
  workflowSeq: number;
  versionSeq: number;
  /** null if the contact was deleted. */
  contactSeq: number | null;
  startedAt: number;
  progress: Progress;
};

type NewExecution = Omit<Execution, "seq" | "contactSeq"> & { contactSeq: number };

type ExecutionRow = Omit<Execution, "progress"> & Omit<Progress, "context"> & { context: string };

/** The columns of an `ExecutionRow`, of the table `workflow_executions e`. */
const EXECUTION_COLUMNS = `
  e.seq, e.id, e.project_seq AS projectSeq, e.workflow_seq AS workflowSeq,
  e.version_seq AS versionSeq, e.contact_seq AS contactSeq, e.started_at AS startedAt,
  e.status, e.current_step_id AS stepId, e.step_started_at AS stepStartedAt,
  e.step_count AS stepCount, e.tries, e.due_for AS dueFor, e.due_at AS dueAt,
  e.awaited_event AS awaitedEvent, e.context, e.event_seq AS eventSeq,
  e.completed_at AS completedAt, e.exit_reason AS exitReason, e.error`;

/**
 * Executions of a contact that an event ends. Without an exit of this name, this is one look-up in an
 * index. The join is in this order, because a contact has few executions.
 */
const EXITING = `
  FROM workflow_exits AS exit INDEXED BY workflow_exits_event
  CROSS JOIN workflow_executions AS e INDEXED BY workflow_executions_contact
  WHERE exit.project_seq = +? AND exit.event_name = +? AND e.contact_seq = +?
    AND e.version_seq = exit.version_seq AND e.status IN ('RUNNING', 'WAITING')`;
type ExitKey = [projectSeq: number, eventName: string, contactSeq: number];

export type ExecutionRows = ReturnType<typeof createExecutionRows>;

export function createExecutionRows({ sqlite }: Pick<Db, "sqlite">) {
  const findOne = sqlite.prepare<ExecutionRow, [number]>(
    `SELECT ${EXECUTION_COLUMNS} FROM workflow_executions e WHERE e.seq = +?`,
  );
  const findAwaiting = sqlite.prepare<ExecutionRow, [number, string]>(`
    SELECT ${EXECUTION_COLUMNS} FROM workflow_executions e
    WHERE e.contact_seq = +? AND e.awaited_event = +? AND e.awaited_event IS NOT NULL
    ORDER BY e.seq`);
  const existsAwaiting = sqlite.prepare<{ found: number }, [number, string]>(`
    SELECT EXISTS (SELECT 1 FROM workflow_executions
                   WHERE contact_seq = +? AND awaited_event = +? AND awaited_event IS NOT NULL
                  ) AS found`);
  const findExiting = sqlite.prepare<ExecutionRow & { reason: string }, ExitKey>(`
    SELECT ${EXECUTION_COLUMNS}, exit.reason ${EXITING}`);
  // Every event of the log asks this, so it is one statement.
  const existsConcerned = sqlite.prepare<{ found: number }, [...ExitKey, number, string]>(`
    SELECT EXISTS (SELECT 1 ${EXITING})
        OR EXISTS (SELECT 1 FROM workflow_executions
                   WHERE contact_seq = +? AND awaited_event = +? AND awaited_event IS NOT NULL
                  ) AS found`);
  const existsListener = sqlite.prepare<{ found: number }, []>(`
    SELECT EXISTS (SELECT 1 FROM workflow_exits)
        OR EXISTS (SELECT 1 FROM workflows INDEXED BY workflows_trigger WHERE is_enabled)
        OR EXISTS (SELECT 1 FROM workflow_executions INDEXED BY workflow_executions_awaiting
                   WHERE awaited_event IS NOT NULL) AS found`);
  const findOverdue = sqlite.prepare<ExecutionRow, [number, number]>(`
    SELECT ${EXECUTION_COLUMNS} FROM workflow_executions e
    WHERE e.contact_seq = +? AND e.due_at IS NOT NULL
      AND (e.due_for = 'TURN' OR e.due_for = 'TIME' AND e.due_at <= +?)
    ORDER BY e.due_at, e.seq`);
  const findDue = sqlite.prepare<ExecutionRow, [string, number, number]>(`
    SELECT ${EXECUTION_COLUMNS} FROM workflow_executions e
    WHERE e.due_for = +? AND e.due_at <= +? AND e.due_at IS NOT NULL
    ORDER BY e.due_at, e.seq LIMIT +?`);
  const findEarliest = sqlite.prepare<{ at: number | null }, [string]>(`
    SELECT min(due_at) AS at FROM workflow_executions WHERE due_for = +? AND due_at IS NOT NULL`);
  const shiftAll = sqlite.prepare<unknown, [DueShift]>(`
    UPDATE workflow_executions INDEXED BY workflow_executions_due SET due_at = due_at + $byMs
    WHERE due_at IS NOT NULL AND due_at > +$after`);
  const insertRow = sqlite.prepare<unknown, [Values & Identity]>(`
    INSERT INTO workflow_executions (
      id, project_seq, workflow_seq, version_seq, contact_seq, started_at, status, current_step_id,
      step_started_at, step_count, tries, due_for, due_at, awaited_event, context, event_seq,
      completed_at, exit_reason, error)
    VALUES ($id, $projectSeq, $workflowSeq, $versionSeq, $contactSeq, $startedAt, $status, $stepId,
      $stepStartedAt, $stepCount, $tries, $dueFor, $dueAt, $awaitedEvent, $context, $eventSeq,
      $completedAt, $exitReason, $error)`);
  const updateRow = sqlite.prepare<unknown, [Values & { seq: number; token: number }]>(`
    UPDATE workflow_executions
    SET status = $status, current_step_id = $stepId, step_started_at = $stepStartedAt,
        step_count = $stepCount, tries = $tries, due_for = $dueFor, due_at = $dueAt,
        awaited_event = $awaitedEvent, context = $context, event_seq = $eventSeq,
        completed_at = $completedAt, exit_reason = $exitReason, error = $error
    WHERE seq = +$seq AND step_count = +$token AND status IN ('RUNNING', 'WAITING')`);
  const steps = createCompletedSteps({ sqlite });

  return {
    find(seq: number): Execution | null {
      const row = findOne.get(seq);
      return row === null ? null : executionOf(row);
    },

    /** Executions of a contact that wait for an event of this name, in the order of their start. */
    awaiting: (contactSeq: number, eventName: string): Execution[] =>
      findAwaiting.all(contactSeq, eventName).map(executionOf),

    isAwaited: (contactSeq: number, eventName: string): boolean =>
      existsAwaiting.get(contactSeq, eventName)?.found === 1,

    /** Executions of a contact that an event ends, with the reason, in the order of their start. */
    exiting: (...key: ExitKey): { execution: Execution; reason: string }[] =>
      findExiting
        .all(...key)
        .map(({ reason, ...row }) => ({ execution: executionOf(row), reason }))
        .toSorted((one, other) => one.execution.seq - other.execution.seq),

    /** Whether executions of a contact wait for an event of this name, or end with it. */
    isConcerned: (projectSeq: number, eventName: string, contactSeq: number): boolean =>
      existsConcerned.get(projectSeq, eventName, contactSeq, contactSeq, eventName)?.found === 1,

    /** False if no workflow is enabled, and no execution waits for an event or has an exit. */
    isAnyEventNeeded: (): boolean => existsListener.get()?.found === 1,

    /** Executions of a contact that have to advance before an event of the time `at`. */
    overdueOf: (contactSeq: number, at: number): Execution[] =>
      findOverdue.all(contactSeq, at).map(executionOf),

    /** Executions that are due at `now`, in the order of their due times. */
    due: (dueFor: "TURN" | "TIME", now: number, limit: number): Execution[] =>
      findDue.all(dueFor, now, limit).map(executionOf),

    /** The earliest due time of this kind; null if there is none. */
    earliestDueAt: (dueFor: "TURN" | "TIME"): number | null => findEarliest.get(dueFor)?.at ?? null,

    /** Moves all due times after the clock was set, so that every wait lasts as long as before. */
    shift: (shift: DueShift): void => void shiftAll.run(shift),

    insert({ progress, ...identity }: NewExecution): Execution {
      const seq = insertedSeq(insertRow.run({ ...identity, ...valuesOf(progress) }));
      return { ...identity, seq, progress };
    },

    /**
     * Stores the new progress and the completed steps, and counts the steps. Throws if the stored execution is not the
     * given one any more.
     */
    save(from: Execution, progress: Progress, completed: readonly CompletedStep[]): void {
      const token = from.progress.stepCount;
      const { changes } = updateRow.run({ ...valuesOf(progress), seq: from.seq, token });
      if (changes !== 1) throw new Error(`execution ${from.id} was changed in the meantime`);
      for (const step of completed) steps.add(from, step);
    },

    completionsOf: steps.completionsOf,
  };
}

type Identity = Omit<NewExecution, "progress">;
type Values = Omit<Progress, "context"> & { context: string };

function valuesOf({ context, ...rest }: Progress): Values {
  return { ...rest, context: JSON.stringify(context) };
}

function executionOf(row: ExecutionRow): Execution {
  const { seq, id, projectSeq, workflowSeq, versionSeq, contactSeq, startedAt, ...rest } = row;
  const progress = { ...rest, context: parseData(rest.context) };
  return { seq, id, projectSeq, workflowSeq, versionSeq, contactSeq, startedAt, progress };
}
