/**
 * Makes the calls of WEBHOOK steps (lib/call-queues.ts), outside of any change. A call is due in the
 * row of its execution until its result is stored. After a crash or a stop it is repeated with the same
 * `webhook-id`, but its result is stored only once. All workflows of a project share its slots, so
 * calls that hang do not delay other projects.
 */

import type { App } from "../../../core/app.ts";
import { statement } from "../../../db/statement.ts";
import { writeResult } from "../../../db/write-result.ts";
import { type CallStop, createCallQueues } from "../../../lib/call-queues.ts";
import { AppError } from "../../../lib/errors.ts";
import { describeError } from "../../../lib/log.ts";
import { queueHold } from "../../../outbox/queue-hold.ts";
import { FetchRefused } from "../../../protocols/fetch-guarded/refusal.ts";
import { renderWebhook } from "../../content-work/content-work.ts";
import type { Paths } from "../graph/paths.ts";
import type { Advancer } from "../run/advance.ts";
import type { Occurrence } from "../run/engine.ts";
import type { Execution, ExecutionRows } from "../run/execution-rows.ts";
import { occurrenceOfRefusal, occurrenceOfResponse, webhookTemplates } from "./webhook.ts";
import type { WebhookContext } from "./webhook.ts";

/** Largest number of concurrent calls of all projects. */
const MAX_CONCURRENT_CALLS = 64;
/** Largest number of concurrent calls of one workflow, so that a slow receiver leaves slots free. */
const MAX_CALLS_PER_WORKFLOW = 16;
/** Delay before the calls that a stopped process left under way are repeated. */
const REPEAT_AFTER_MS = 5_000;

export type WebhookCalls = ReturnType<typeof createWebhookCalls>;

type WebhookCallsDeps = {
  app: App;
  executionRows: Pick<ExecutionRows, "find">;
  advancer: Advancer;
  pathsOf: (versionSeq: number) => Paths | null;
  webhookContextOf: (execution: Execution) => WebhookContext | null;
  /** Called when the result of a call is stored: its execution may be due. */
  wake: () => void;
};

const findNextWorkflow = statement<{ seq: number | null }, [number]>(`
    SELECT min(workflow_seq) AS seq FROM workflow_executions
    WHERE due_for = 'CALL' AND workflow_seq > +?`);

/** The calls of a disabled project wait. */
const findProject = statement<{ projectSeq: number }, [number]>(`
    SELECT w.project_seq AS projectSeq
    FROM workflows w JOIN projects p ON p.seq = w.project_seq AND p.is_enabled = 1
    WHERE w.seq = +?`);

const findDue = statement<{ seq: number }, [number, number, number]>(`
    SELECT seq FROM workflow_executions
    WHERE due_for = 'CALL' AND workflow_seq = +? AND due_at <= +?
    ORDER BY due_at LIMIT +?`);

const findNext = statement<{ at: number | null }, [number, number]>(`
    SELECT min(due_at) AS at FROM workflow_executions
    WHERE due_for = 'CALL' AND workflow_seq = +? AND due_at > +?`);

const endStoredLeases = statement<unknown, []>(`
    UPDATE workflow_executions SET due_for = 'CALL' WHERE due_for = 'ANSWER' AND due_at IS NOT NULL`);

/** Part of a change. Version 0.1 stored in the row that a call was under way. */
export function endLeasesOfOldVersion(app: App): void {
  endStoredLeases(app).run();
}

/**
 * Workflows with calls. Each step of the loop skips to the next workflow in the index, so the cost
 * does not depend on the number of calls.
 */
function workflowsWithCalls(app: App): number[] {
  const found: number[] = [];
  for (let seq = findNextWorkflow(app).get(0)?.seq; typeof seq === "number";) {
    found.push(seq);
    seq = findNextWorkflow(app).get(seq)?.seq;
  }
  return found;
}

export function createWebhookCalls(deps: WebhookCallsDeps) {
  const { app, executionRows, advancer } = deps;
  const { clock, log } = app;

  return createCallQueues<{ projectSeq: number }, { seq: number }>({
    clock,
    maxCalls: MAX_CONCURRENT_CALLS,
    maxCallsPerProject: app.config.quotaWebhookCalls,
    repeatAfterMs: REPEAT_AFTER_MS,
    findQueues: () => workflowsWithCalls(app),
    findReceiver: (workflowSeq) =>
      queueHold(app).isHeld() ? null : findProject(app).get(workflowSeq),
    findDue: (workflowSeq, now, limit) => findDue(app).all(workflowSeq, now, limit),
    nextDueAt: (workflowSeq, now) => findNext(app).get(workflowSeq, now)?.at ?? null,
    maxConcurrent: () => MAX_CALLS_PER_WORKFLOW,
    make: callAndStore,
    onError: (error) =>
      log.error("webhooks of workflows could not be called", { error: describeError(error) }),
  });

  async function callAndStore(
    { seq }: { seq: number },
    _: unknown,
    { signal, isStopping }: CallStop,
  ): Promise<boolean> {
    const execution = executionRows.find(seq);
    if (execution === null) return true; // It was deleted.
    const occurrence = await makeCall(execution, signal);
    if (occurrence === null) return true;
    const { isStored } = await writeResult(app, () => storeResult(execution, occurrence), {
      isStopping,
      error: (error) =>
        log.error("the result of a webhook call could not be stored", {
          execution: execution.id,
          error: describeError(error),
        }),
    });
    deps.wake();
    return isStored;
  }

  /** Resolves to null if the signal was aborted. */
  async function makeCall(execution: Execution, signal: AbortSignal): Promise<Occurrence | null> {
    try {
      const templates = templatesOf(execution);
      if (templates === null) return { kind: "done", result: NOTHING_TO_CALL };
      const rendered = await renderWebhook(app, execution.projectSeq, templates);
      if (!rendered.ok) {
        return { kind: "done", result: { outcome: "FAILED", error: rendered.reason } };
      }
      const { url, ...rest } = rendered.request;
      const { method } = templates;
      const response = await app.fetchGuarded(url, { method, ...rest, signal });
      const { context } = execution.progress;
      return occurrenceOfResponse(response, { context, now: clock.now(), random: app.random() });
    } catch (error) {
      if (signal.aborted) return null;
      if (error instanceof FetchRefused) return occurrenceOfRefusal(error, app.random());
      if (error instanceof AppError) return failed(error.message);
      const fields = { execution: execution.id, error: describeError(error) };
      log.error("a webhook of a workflow failed unexpectedly", fields);
      return failed("An unexpected error of the server; the log contains its details.");
    }
  }

  /** Returns null if there is nothing to call; the step fails then. */
  function templatesOf(execution: Execution): ReturnType<typeof webhookTemplates> | null {
    const { versionSeq, progress } = execution;
    const step = deps.pathsOf(versionSeq)?.step(progress.stepId ?? "") ?? null;
    const webhookContext = deps.webhookContextOf(execution);
    return step?.type !== "WEBHOOK" || webhookContext === null
      ? null
      : webhookTemplates(step, webhookContext);
  }

  function failed(reason: string): Occurrence {
    return { kind: "callFailed", reason, retryAfterMs: null, random: app.random() };
  }

  /** Part of a change: advances the execution, unless it was changed since the call began. */
  function storeResult({ seq, progress }: Execution, occurrence: Occurrence): void {
    const execution = executionRows.find(seq);
    if (execution === null) return;
    const { dueFor, stepCount, tries } = execution.progress;
    const isSame =
      dueFor === "CALL" && stepCount === progress.stepCount && tries === progress.tries;
    if (!isSame) return;
    advancer.advance(execution, { occurrence, now: clock.now(), hasTime: () => false });
  }
}

const NOTHING_TO_CALL = {
  outcome: "FAILED",
  error: "The webhook, the contact or the workflow does not exist any more.",
} as const;
