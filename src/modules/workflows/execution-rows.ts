/**
 * Rows of executions: what is under way, when it is due and what it waits for. Everything that
 * writes here is part of a change. Plus signs keep SQLite from planning anew for every value.
 */

import type { Db } from "../../db/open.ts";
import type { DueFor } from "../../db/schema/workflows.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { parseData } from "../contacts/data.ts";
import type { CompletedStep, Progress } from "./engine.ts";

/** An execution as it is driven. */
export type Execution = {
  seq: number;
  id: string;
  projectSeq: number;
  workflowSeq: number;
  versionSeq: number;
  /** Null once the contact was deleted. */
  contactSeq: number | null;
  startedAt: number;
  progress: Progress;
};

export type NewExecution = Omit<Execution, "seq" | "contactSeq"> & { contactSeq: number };

/** A workflow that has calls to make. */
export type CallLane = { workflowSeq: number; projectSeq: number };

type Row = Omit<Execution, "progress"> & Omit<Progress, "context"> & { context: string };

const COLUMNS = `
  e.seq, e.id, e.project_seq AS projectSeq, e.workflow_seq AS workflowSeq,
  e.version_seq AS versionSeq, e.contact_seq AS contactSeq, e.started_at AS startedAt,
  e.status, e.current_step_id AS stepId, e.step_started_at AS stepStartedAt,
  e.step_count AS stepCount, e.tries, e.due_for AS dueFor, e.due_at AS dueAt,
  e.awaited_event AS awaitedEvent, e.context, e.event_seq AS eventSeq,
  e.completed_at AS completedAt, e.exit_reason AS exitReason, e.error`;

export type Agenda = ReturnType<typeof createAgenda>;

export function createAgenda({ sqlite }: Pick<Db, "sqlite">) {
  const findOne = sqlite.prepare<Row, [number]>(
    `SELECT ${COLUMNS} FROM workflow_executions e WHERE e.seq = +?`,
  );
  const findAwaiting = sqlite.prepare<Row, [number, string]>(`
    SELECT ${COLUMNS} FROM workflow_executions e
    WHERE e.contact_seq = +? AND e.awaited_event = +? AND e.awaited_event IS NOT NULL
    ORDER BY e.seq`);
  const isAwaited = sqlite.prepare<{ found: number }, [number, string]>(`
    SELECT EXISTS (SELECT 1 FROM workflow_executions
                   WHERE contact_seq = +? AND awaited_event = +? AND awaited_event IS NOT NULL
                  ) AS found`);
  const isListening = sqlite.prepare<{ found: number }, []>(`
    SELECT EXISTS (SELECT 1 FROM workflows INDEXED BY workflows_trigger WHERE is_enabled)
        OR EXISTS (SELECT 1 FROM workflow_executions INDEXED BY workflow_executions_awaiting
                   WHERE awaited_event IS NOT NULL) AS found`);
  const findOverdue = sqlite.prepare<Row, [number, number]>(`
    SELECT ${COLUMNS} FROM workflow_executions e
    WHERE e.contact_seq = +? AND e.due_at IS NOT NULL
      AND (e.due_for = 'TURN' OR e.due_for = 'TIME' AND e.due_at <= +?)
    ORDER BY e.due_at, e.seq`);
  const findDue = sqlite.prepare<Row, [string, number, number]>(`
    SELECT ${COLUMNS} FROM workflow_executions e
    WHERE e.due_for = +? AND e.due_at <= +? AND e.due_at IS NOT NULL
    ORDER BY e.due_at, e.seq LIMIT +?`);
  const earliest = sqlite.prepare<{ at: number | null }, [string]>(`
    SELECT min(due_at) AS at FROM workflow_executions WHERE due_for = +? AND due_at IS NOT NULL`);
  const nextCall = sqlite.prepare<{ at: number | null }, [number]>(`
    SELECT min(due_at) AS at FROM workflow_executions
    WHERE due_for = 'CALL' AND due_at > +? AND due_at IS NOT NULL`);
  const nextLane = sqlite.prepare<CallLane, [number]>(`
    SELECT workflow_seq AS workflowSeq, project_seq AS projectSeq FROM workflow_executions
    WHERE due_for = 'CALL' AND workflow_seq > +? ORDER BY workflow_seq LIMIT 1`);
  const findCalls = sqlite.prepare<Row, [number, number, number]>(`
    SELECT ${COLUMNS} FROM workflow_executions e
    WHERE e.due_for = 'CALL' AND e.workflow_seq = +? AND e.due_at <= +?
    ORDER BY e.due_at LIMIT +?`);
  const giveBack = sqlite.prepare<{ seq: number }, [number, number, string]>(`
    UPDATE workflow_executions SET due_for = 'CALL', due_at = +?
    WHERE due_for = 'ANSWER' AND due_at <= +? AND due_at IS NOT NULL
      AND seq NOT IN (SELECT value FROM json_each(+?))
    RETURNING seq`);
  const shiftAll = sqlite.prepare<unknown, [DueShift & { underWay: string }]>(`
    UPDATE workflow_executions INDEXED BY workflow_executions_due SET due_at = due_at + $byMs
    WHERE due_at IS NOT NULL AND due_at > +$after
      AND (due_for <> 'ANSWER' OR seq NOT IN (SELECT value FROM json_each(+$underWay)))`);
  const insertRow = sqlite.prepare<{ seq: number }, [Values & Identity]>(`
    INSERT INTO workflow_executions (
      id, project_seq, workflow_seq, version_seq, contact_seq, started_at, status, current_step_id,
      step_started_at, step_count, tries, due_for, due_at, awaited_event, context, event_seq,
      completed_at, exit_reason, error)
    VALUES ($id, $projectSeq, $workflowSeq, $versionSeq, $contactSeq, $startedAt, $status, $stepId,
      $stepStartedAt, $stepCount, $tries, $dueFor, $dueAt, $awaitedEvent, $context, $eventSeq,
      $completedAt, $exitReason, $error)
    RETURNING seq`);
  const updateRow = sqlite.prepare<unknown, [Values & { seq: number; token: number }]>(`
    UPDATE workflow_executions
    SET status = $status, current_step_id = $stepId, step_started_at = $stepStartedAt,
        step_count = $stepCount, tries = $tries, due_for = $dueFor, due_at = $dueAt,
        awaited_event = $awaitedEvent, context = $context, event_seq = $eventSeq,
        completed_at = $completedAt, exit_reason = $exitReason, error = $error
    WHERE seq = +$seq AND step_count = +$token AND status IN ('RUNNING', 'WAITING')`);
  const insertStep = sqlite.prepare<
    unknown,
    [Omit<CompletedStep, "detail"> & { seq: number; detail: string | null }]
  >(`
    INSERT INTO workflow_execution_steps
      (execution_seq, number, step_id, type, outcome, branch, detail, started_at, completed_at)
    VALUES ($seq, $number, $stepId, $type, $outcome, $branch, $detail, $startedAt, $completedAt)`);
  const countRounds = sqlite.prepare<{ n: number }, [number, number, string, number, number]>(`
    SELECT count(*) AS n FROM workflow_execution_steps
    WHERE execution_seq = +? AND number > +? AND step_id = +?
      AND completed_at > +? AND completed_at <= +?`);

  return {
    find(seq: number): Execution | null {
      const row = findOne.get(seq);
      return row === null ? null : executionOf(row);
    },

    /** Those of a contact that wait for an event of this name, in the order of their start. */
    awaiting: (contactSeq: number, eventName: string): Execution[] =>
      findAwaiting.all(contactSeq, eventName).map(executionOf),

    isAwaited: (contactSeq: number, eventName: string): boolean =>
      isAwaited.get(contactSeq, eventName)?.found === 1,

    /** Whether any event could be of any interest. */
    isListening: (): boolean => isListening.get()?.found === 1,

    /** Those of a contact that go on before anything that happens at `at`. */
    overdueOf: (contactSeq: number, at: number): Execution[] =>
      findOverdue.all(contactSeq, at).map(executionOf),

    /** Due by `now`, the longest first. */
    due: (dueFor: "TURN" | "TIME", now: number, limit: number): Execution[] =>
      findDue.all(dueFor, now, limit).map(executionOf),

    /** When the first of a kind is due; null if there is none. */
    earliest: (dueFor: DueFor): number | null => earliest.get(dueFor)?.at ?? null,

    /** When the next call is due after `now`. */
    nextCallAfter: (now: number): number | null => nextCall.get(now)?.at ?? null,

    /** Workflows that have calls to make, found by skipping from one to the next. */
    lanes(): CallLane[] {
      const lanes: CallLane[] = [];
      for (let lane = nextLane.get(0); lane !== null; lane = nextLane.get(lane.workflowSeq)) {
        lanes.push(lane);
      }
      return lanes;
    },

    callsOf: (workflowSeq: number, now: number, limit: number): Execution[] =>
      findCalls.all(workflowSeq, now, limit).map(executionOf),

    /** Calls whose lease ended by `until` and that nobody makes any more are due at `dueAt`. */
    giveBackCalls: (until: number, dueAt: number, underWay: readonly number[]): number =>
      giveBack.all(dueAt, until, JSON.stringify(underWay)).length,

    /**
     * After the clock was set: what waits goes on waiting as long as it would have waited. The lease of
     * a call under way is its token, so it stays.
     */
    shift: (shift: DueShift, underWay: readonly number[]): void =>
      void shiftAll.run({ ...shift, underWay: JSON.stringify(underWay) }),

    insert({ progress, ...identity }: NewExecution): Execution {
      const row = insertRow.get({ ...identity, ...valuesOf(progress) });
      if (row === null) throw new Error("an inserted execution came back empty");
      return { ...identity, seq: row.seq, progress };
    },

    /** Writes where it is now and what it completed, if it still is where it was. */
    save(from: Execution, progress: Progress, completed: readonly CompletedStep[]): void {
      const token = from.progress.stepCount;
      const { changes } = updateRow.run({ ...valuesOf(progress), seq: from.seq, token });
      if (changes !== 1) throw new Error(`execution ${from.id} is not where it was`);
      for (const step of completed) {
        const detail = step.detail === null ? null : JSON.stringify(step.detail);
        insertStep.run({ ...step, seq: from.seq, detail });
      }
    },

    /** How often an execution completed a step in a period, among its steps after a number. */
    rounds: (
      seq: number,
      of: { stepId: string; after: number; since: number; until: number },
    ): number => countRounds.get(seq, of.after, of.stepId, of.since, of.until)?.n ?? 0,
  };
}

type Identity = Omit<NewExecution, "progress">;
type Values = Omit<Progress, "context"> & { context: string };

function valuesOf({ context, ...rest }: Progress): Values {
  return { ...rest, context: JSON.stringify(context) };
}

function executionOf(row: Row): Execution {
  const { seq, id, projectSeq, workflowSeq, versionSeq, contactSeq, startedAt, ...rest } = row;
  const progress = { ...rest, context: parseData(rest.context) };
  return { seq, id, projectSeq, workflowSeq, versionSeq, contactSeq, startedAt, progress };
}
