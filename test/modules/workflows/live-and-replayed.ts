/** Runs workflows live with a clock that stops at each due time, and compares them with a backtest. */

import type { Automation } from "../../support/automation.ts";
import { backtestOf } from "../../support/backtests.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";

const NEXT_TIME = `
  SELECT min(at) AS at FROM (
    SELECT min(due_at) AS at FROM workflow_executions WHERE due_at IS NOT NULL
    UNION ALL SELECT min(next_entry_at) FROM workflows WHERE next_entry_at IS NOT NULL)`;

/** Resolves when the contacts of schedules have entered, and all executions that are due have advanced. */
export async function settle(a: Automation): Promise<void> {
  await a.settle();
  await a.t.app.entries.idle();
  await a.settle();
}

/** Moves the clock, and stops at each time at which an execution or a schedule is due. */
export async function moveClock(a: Automation, ms: number): Promise<void> {
  const until = a.t.clock.now() + ms;
  const find = a.t.db.sqlite.query<{ at: number | null }, []>(NEXT_TIME);
  for (let at = find.get()?.at ?? null; at !== null && at <= until; at = find.get()?.at ?? null) {
    a.t.clock.advance(Math.max(0, at - a.t.clock.now()));
    await settle(a);
  }
  a.t.clock.advance(until - a.t.clock.now());
  await settle(a);
}

/** The backtest when it has ended. */
export const backtest = (
  a: Automation,
  workflowId: string,
  input: object = { days: 365 },
): Promise<unknown> => backtestOf(a.t, `/workflows/${workflowId}`, input);

type Counts = Record<string, number>;

function count(counts: Counts, key: string, n = 1): void {
  counts[key] = (counts[key] ?? 0) + n;
}

/** The rows of a live run, in the form of `replayed`. */
export function lived(a: Automation, workflowId: string) {
  const ofWorkflow = "(SELECT seq FROM workflows WHERE id = ?)";
  const all = (sql: string) => a.t.db.sqlite.query<{ key: string }, [string]>(sql).all(workflowId);
  const tally = (sql: string) => {
    const counts: Counts = {};
    for (const { key } of all(sql)) count(counts, key);
    return counts;
  };
  const executions = `FROM workflow_executions e WHERE e.workflow_seq = ${ofWorkflow}`;
  return {
    started: tally(`SELECT date(started_at / 1000, 'unixepoch') AS key ${executions}`),
    endings: tally(`SELECT status || ' ' || coalesce(error, exit_reason, '') AS key ${executions}`),
    steps: tally(`
      SELECT s.step_id || ' ' || s.outcome AS key FROM workflow_execution_steps s
      WHERE s.execution_seq IN (SELECT e.seq ${executions})`),
    branches: tally(`
      SELECT s.step_id || ':' || s.branch AS key FROM workflow_execution_steps s
      WHERE s.branch IS NOT NULL AND s.execution_seq IN (SELECT e.seq ${executions})`),
    mails: tally(`
      SELECT template_id || ' ' || date(created_at / 1000, 'unixepoch') AS key FROM emails
      WHERE execution_seq IN (SELECT e.seq ${executions})`),
  };
}

/** The counts of a backtest as one list for each kind. */
export function replayed(result: unknown): ReturnType<typeof lived> {
  const found: ReturnType<typeof lived> = {
    started: {},
    endings: {},
    steps: {},
    branches: {},
    mails: {},
  };
  for (const day of listAt(result, "days")) {
    const started = Number(valueAt(day, "started"));
    if (started > 0) count(found.started, stringAt(day, "day"), started);
  }
  for (const ending of listAt(result, "endings")) {
    const hasReason = valueAt(ending, "reason") !== null;
    const key = `${stringAt(ending, "status")} ${hasReason ? stringAt(ending, "reason") : ""}`;
    count(found.endings, key, Number(valueAt(ending, "count")));
  }
  for (const step of listAt(result, "steps")) {
    const id = stringAt(step, "stepId");
    for (const outcome of ["completed", "skipped", "failed"]) {
      const n = Number(valueAt(step, outcome));
      if (n > 0) count(found.steps, `${id} ${outcome.toUpperCase()}`, n);
    }
    for (const branch of listAt(step, "branches")) {
      const key = `${id}:${stringAt(branch, "branch")}`;
      count(found.branches, key, Number(valueAt(branch, "count")));
    }
  }
  for (const mail of listAt(result, "mails")) {
    for (const day of listAt(mail, "days")) {
      const key = `${stringAt(mail, "templateId")} ${stringAt(day, "day")}`;
      count(found.mails, key, Number(valueAt(day, "count")));
    }
  }
  return found;
}
