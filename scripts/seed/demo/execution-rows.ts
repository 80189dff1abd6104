/** Writes the executions of workflows with their steps. */

import type { Database } from "bun:sqlite";
import { type Random, uuidAt } from "../random.ts";
import type { Execution } from "./executions.ts";
import { DAY_MS } from "./people.ts";

export function insertExecutions(
  sqlite: Database,
  {
    projectSeq,
    executions,
    random,
  }: { projectSeq: number; executions: Execution[]; random: Random },
): void {
  const insert = sqlite.prepare(`
    INSERT INTO workflow_executions (seq, id, project_seq, workflow_seq, version_seq, contact_seq,
      status, current_step_id, context, step_started_at, event_seq, step_count, tries, due_at,
      due_for, awaited_event, started_at, completed_at, exit_reason, error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertStep = sqlite.prepare(`
    INSERT INTO workflow_execution_steps
      (execution_seq, number, step_id, type, outcome, branch, detail, started_at, completed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  sqlite.transaction(() => {
    for (const e of executions) {
      insert.run(
        e.seq,
        uuidAt(e.startedAt, random),
        projectSeq,
        e.workflow.seq,
        e.workflow.versionSeq,
        e.person.seq,
        e.status,
        e.stepId,
        JSON.stringify(e.context),
        e.stepStartedAt,
        e.steps.length,
        e.tries,
        e.dueAt,
        e.dueFor,
        e.awaitedEvent,
        e.startedAt,
        e.completedAt,
        e.exitReason,
        e.error,
      );
      for (const [i, step] of e.steps.entries()) {
        const { id, type, outcome, branch, startedAt, completedAt } = step;
        const detail = step.detail === null ? null : JSON.stringify(step.detail);
        insertStep.run(e.seq, i + 1, id, type, outcome, branch, detail, startedAt, completedAt);
      }
    }
    sqlite.run(`
      INSERT INTO workflow_step_counts (workflow_seq, step_id, completed, skipped, failed)
      SELECT e.workflow_seq, s.step_id, sum(s.outcome = 'COMPLETED'), sum(s.outcome = 'SKIPPED'),
             sum(s.outcome = 'FAILED')
      FROM workflow_execution_steps s JOIN workflow_executions e ON e.seq = s.execution_seq
      GROUP BY 1, 2`);
  })();
}

/** Some of the executions that wait were cancelled by hand yesterday. */
export function cancelSome(executions: readonly Execution[], untilMs: number): void {
  const old = executions.filter(
    ({ status, startedAt, seq }) =>
      status === "WAITING" && startedAt < untilMs - DAY_MS && seq % 9 === 0,
  );
  for (const execution of old) {
    Object.assign(execution, {
      status: "CANCELLED",
      exitReason: "Cancelled by hand.",
      completedAt: untilMs - DAY_MS / 2,
      dueAt: null,
      dueFor: null,
      awaitedEvent: null,
    });
  }
}
