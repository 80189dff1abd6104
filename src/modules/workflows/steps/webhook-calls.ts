/**
 * Makes the calls of WEBHOOK steps. A call is leased in a change: the execution is due for an ANSWER
 * when the lease ends. The call is made outside of any change, and its result is stored if the lease
 * is still the same. After a crash the call is repeated with the same `webhook-id`; a result is stored
 * only once. All workflows of a project share the slots of the project, so calls that hang do not
 * delay other projects.
 */

import { writeResult } from "../../../db/write-result.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { createFairSlots, type FairSlots } from "../../../lib/fair-slots.ts";
import type { FetchGuarded } from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import { FetchRefused } from "../../../protocols/fetch-guarded/refusal.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { TemplateCache } from "../../../render/template/cache.ts";
import type { ExecutionRows, CallingWorkflow, Execution } from "../run/execution-rows.ts";
import type { Advancer, HasTime } from "../run/advance.ts";
import type { Occurrence } from "../run/engine.ts";
import type { Paths } from "../graph/paths.ts";
import {
  occurrenceOfResponse,
  occurrenceOfRefusal,
  requestOf,
  type WebhookContext,
  type WebhookRequest,
} from "./webhook.ts";

/** `token` identifies the lease; it contains the number of steps that the execution has completed. */
export type WebhookCall = {
  execution: Execution;
  request: WebhookRequest;
  token: { stepCount: number; dueAt: number };
};

export type WebhookCalls = ReturnType<typeof createWebhookCalls>;

/** Largest number of concurrent calls of all projects. */
const MAX_CONCURRENT_CALLS = 64;
/** Largest number of concurrent calls of one workflow, so that a slow receiver leaves slots free. */
const MAX_CALLS_PER_WORKFLOW = 16;
/** Longer than the timeout of a call (lib/fetch-guarded). */
const LEASE_MS = 60_000;
/** Delay before the calls that a stopped process left under way are repeated. */
const ORPHAN_DELAY_MS = 5_000;

export function createWebhookCalls(deps: {
  executionRows: ExecutionRows;
  advancer: Advancer;
  pathsOf: (versionSeq: number) => Paths | null;
  webhookContextOf: (execution: Execution) => WebhookContext | null;
  templateCache: TemplateCache;
  fetchGuarded: FetchGuarded;
  writer: Writer;
  clock: Clock;
  log: Log;
  random: () => number;
  /** Largest number of concurrent calls of one project; 0 for no limit but a fair share. */
  mostCallsOfProject: number;
  /** Called when a call has ended: its execution may be due. */
  wake: () => void;
}) {
  const { executionRows, advancer, clock, log } = deps;
  const underWay = new Map<number, { workflowSeq: number; ended: Promise<void> }>();
  /** The owners of the slots are projects. */
  const slots = createFairSlots({
    total: MAX_CONCURRENT_CALLS,
    maxPerOwner: deps.mostCallsOfProject,
  });
  let abortController = new AbortController();
  let lastWorkflowSeq = 0;

  function capacityOf({ workflowSeq, projectSeq }: CallingWorkflow, freeSlots: FairSlots): number {
    const own = underWay.values().filter((call) => call.workflowSeq === workflowSeq);
    return Math.min(freeSlots.available(projectSeq), MAX_CALLS_PER_WORKFLOW - [...own].length);
  }

  /** Workflows with calls, beginning after the one that leased last. */
  function inRoundRobin(): CallingWorkflow[] {
    const workflows = executionRows.callingWorkflows();
    return [
      ...workflows.filter(({ workflowSeq }) => workflowSeq > lastWorkflowSeq),
      ...workflows.filter(({ workflowSeq }) => workflowSeq <= lastWorkflowSeq),
    ];
  }

  /** Returns null if the request cannot be built; the step fails then. */
  function leaseOne(execution: Execution, now: number, hasTime: HasTime): WebhookCall | null {
    const request = prepare(execution);
    if (typeof request === "string") {
      const result = { outcome: "FAILED", error: request } as const;
      advancer.advance(execution, { occurrence: { kind: "done", result }, now, hasTime });
      return null;
    }
    const dueAt = now + LEASE_MS;
    const { progress } = execution;
    executionRows.save(execution, { ...progress, dueFor: "ANSWER", dueAt }, []);
    return { execution, request, token: { stepCount: progress.stepCount, dueAt } };
  }

  function prepare(execution: Execution): WebhookRequest | string {
    const { versionSeq, progress } = execution;
    const step = deps.pathsOf(versionSeq)?.step(progress.stepId ?? "") ?? null;
    const webhookContext = deps.webhookContextOf(execution);
    if (step?.type !== "WEBHOOK" || webhookContext === null)
      return "The webhook, the contact or the workflow does not exist any more.";
    return requestOf(step, webhookContext, deps.templateCache);
  }

  async function makeCall({ execution, request, token }: WebhookCall): Promise<void> {
    const { signal } = abortController;
    const { url, ...rest } = request;
    try {
      const response = await deps.fetchGuarded(url, { ...rest, signal });
      const { context } = execution.progress;
      const now = clock.now();
      await storeResult(
        execution,
        token,
        occurrenceOfResponse(response, { context, now, random: deps.random() }),
      );
    } catch (error) {
      // The process stops: the next process repeats the call.
      if (signal.aborted) return;
      if (error instanceof FetchRefused) {
        await storeResult(execution, token, occurrenceOfRefusal(error, deps.random()));
        return;
      }
      const fields = { execution: execution.id, error: describeError(error) };
      log.error("a webhook of a workflow failed unexpectedly", fields);
      const reason = "An unexpected error of the server; the log contains its details.";
      const random = deps.random();
      await storeResult(execution, token, {
        kind: "callFailed",
        reason,
        retryAfterMs: null,
        random,
      });
    }
  }

  /** Stores the result of a call; repeats this until the storage accepts it. */
  async function storeResult(
    { id, seq }: Execution,
    token: WebhookCall["token"],
    occurrence: Occurrence,
  ): Promise<void> {
    await writeResult(
      deps,
      () => {
        const execution = executionRows.find(seq);
        if (execution === null || !isLeased(execution, token)) return;
        advancer.advance(execution, { occurrence, now: clock.now(), hasTime: () => false });
      },
      {
        isStopping: () => abortController.signal.aborted,
        // After a defect of this program, the call is repeated when its lease ends.
        error: (error) =>
          log.error("the result of a webhook call could not be stored", {
            execution: id,
            error: describeError(error),
          }),
      },
    );
  }

  async function ended(): Promise<void> {
    await Promise.all([...underWay.values()].map((call) => call.ended));
  }

  return {
    underWay: (): number => underWay.size,
    /** Resolves when the calls that are under way now have ended. */
    ended,

    /** Whether a call is due whose workflow and project have a free slot. */
    canLease: (now: number): boolean =>
      slots.inUse() < MAX_CONCURRENT_CALLS &&
      executionRows
        .callingWorkflows()
        .some(
          (workflow) =>
            capacityOf(workflow, slots) > 0 &&
            executionRows.dueCalls(workflow.workflowSeq, now, 1).length > 0,
        ),

    /**
     * Part of a change: leases due calls while slots are free and the slice has time. `isCut` is true
     * if more calls may be due for free slots.
     */
    lease(now: number, hasTime: HasTime): { leased: WebhookCall[]; isCut: boolean } {
      const leased: WebhookCall[] = [];
      if (slots.inUse() >= MAX_CONCURRENT_CALLS) return { leased, isCut: false };
      // The slots are acquired when the calls start, after the commit.
      const freeSlots = slots.copy();
      let considered = 0;
      let isCut = false;
      for (const workflow of inRoundRobin()) {
        const capacity = capacityOf(workflow, freeSlots);
        if (capacity <= 0) continue;
        lastWorkflowSeq = workflow.workflowSeq;
        for (const execution of executionRows.dueCalls(workflow.workflowSeq, now, capacity)) {
          if (considered++ > 0 && !hasTime()) return { leased, isCut: true };
          const call = leaseOne(execution, now, hasTime);
          if (call === null) isCut = true;
          else {
            freeSlots.acquire(workflow.projectSeq);
            leased.push(call);
          }
        }
      }
      return { leased, isCut };
    },

    /** Starts leased calls; called after the commit of the leases. */
    start(calls: readonly WebhookCall[]): void {
      for (const call of calls) {
        const { seq, workflowSeq, projectSeq } = call.execution;
        slots.acquire(projectSeq);
        const end = makeCall(call).finally(() => {
          slots.release(projectSeq);
          underWay.delete(seq);
          deps.wake();
        });
        underWay.set(seq, { workflowSeq, ended: end });
      }
    },

    /** Part of a change: calls whose lease ended without a result are due again. */
    requeueExpired: (now: number): number =>
      executionRows.requeueCalls(now, now, [...underWay.keys()]),

    /** Executions whose calls are under way. */
    executionsUnderWay: (): number[] => [...underWay.keys()],

    /** Part of a change: the calls that an earlier process left under way are due again. */
    requeueAll(now: number): number {
      abortController = new AbortController();
      return executionRows.requeueCalls(Number.MAX_SAFE_INTEGER, now + ORPHAN_DELAY_MS, []);
    },

    /** Aborts the calls that are still under way after `graceMs`; resolves when all have ended. */
    async stop(graceMs: number): Promise<void> {
      const cancel = clock.after(graceMs, () => abortController.abort());
      await ended();
      cancel();
    },
  };
}

function isLeased({ progress }: Execution, token: WebhookCall["token"]): boolean {
  return (
    progress.dueFor === "ANSWER" &&
    progress.stepCount === token.stepCount &&
    progress.dueAt === token.dueAt
  );
}
