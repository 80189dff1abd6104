/**
 * Leases due webhook calls. Workflows take turns (round robin), and each gets at most as many calls as
 * it has free slots. A leased execution is due for an ANSWER when the lease ends.
 */

import type { Paths } from "../graph/paths.ts";
import type { Advancer, HasTime } from "../run/advance.ts";
import type { Execution, ExecutionRows } from "../run/execution-rows.ts";
import type { CallingWorkflow, CallQueue } from "./call-queue.ts";
import type { CallSlots } from "./call-slots.ts";
import { webhookTemplates, type WebhookContext } from "./webhook.ts";

/** `token` identifies the lease; it contains the number of steps that the execution has completed. */
export type LeasedCall = {
  execution: Execution;
  templates: ReturnType<typeof webhookTemplates>;
  token: { stepCount: number; dueAt: number };
};

export type CallLeaseDeps = {
  executionRows: ExecutionRows;
  callQueue: CallQueue;
  advancer: Advancer;
  pathsOf: (versionSeq: number) => Paths | null;
  webhookContextOf: (execution: Execution) => WebhookContext | null;
};

/** Longer than the timeout of a call (protocols/fetch-guarded). */
const LEASE_MS = 60_000;

export function createCallLease(deps: CallLeaseDeps, slots: CallSlots) {
  const { executionRows, callQueue, advancer } = deps;
  let lastWorkflowSeq = 0;

  /** Workflows with calls, beginning after the one that leased last. */
  function inRoundRobin(): CallingWorkflow[] {
    const workflows = callQueue.workflows();
    return [
      ...workflows.filter(({ workflowSeq }) => workflowSeq > lastWorkflowSeq),
      ...workflows.filter(({ workflowSeq }) => workflowSeq <= lastWorkflowSeq),
    ];
  }

  function prepare(execution: Execution): LeasedCall["templates"] | null {
    const { versionSeq, progress } = execution;
    const step = deps.pathsOf(versionSeq)?.step(progress.stepId ?? "") ?? null;
    const webhookContext = deps.webhookContextOf(execution);
    return step?.type !== "WEBHOOK" || webhookContext === null
      ? null
      : webhookTemplates(step, webhookContext);
  }

  /** Returns null if there is nothing to call; the step fails then. */
  function leaseOne(execution: Execution, now: number, hasTime: HasTime): LeasedCall | null {
    const templates = prepare(execution);
    if (templates === null) {
      const error = "The webhook, the contact or the workflow does not exist any more.";
      const result = { outcome: "FAILED", error } as const;
      advancer.advance(execution, { occurrence: { kind: "done", result }, now, hasTime });
      return null;
    }
    const dueAt = now + LEASE_MS;
    const { progress } = execution;
    executionRows.save(execution, { ...progress, dueFor: "ANSWER", dueAt }, []);
    return { execution, templates, token: { stepCount: progress.stepCount, dueAt } };
  }

  return {
    /** Whether a call is due whose workflow and project have a free slot. */
    canLease: (now: number): boolean =>
      !slots.isFull() &&
      callQueue
        .workflows()
        .some(
          (workflow) =>
            slots.available(workflow) > 0 && callQueue.due(workflow.workflowSeq, now, 1).length > 0,
        ),

    /**
     * Part of a change: leases due calls while slots are free and the slice has time. `isCut` is true
     * if more calls may be due for free slots.
     */
    lease(now: number, hasTime: HasTime): { leased: LeasedCall[]; isCut: boolean } {
      const leased: LeasedCall[] = [];
      if (slots.isFull()) return { leased, isCut: false };
      // The slots are acquired when the calls start, after the commit.
      const freeSlots = slots.copy();
      let considered = 0;
      let isCut = false;
      for (const workflow of inRoundRobin()) {
        const capacity = freeSlots.available(workflow);
        if (capacity <= 0) continue;
        lastWorkflowSeq = workflow.workflowSeq;
        for (const execution of callQueue.due(workflow.workflowSeq, now, capacity)) {
          if (considered++ > 0 && !hasTime()) return { leased, isCut: true };
          const call = leaseOne(execution, now, hasTime);
          if (call === null) isCut = true;
          else {
            freeSlots.acquire(workflow);
            leased.push(call);
          }
        }
      }
      return { leased, isCut };
    },
  };
}

/** Whether the stored execution still has the lease of the token. */
export function isLeased({ progress }: Execution, token: LeasedCall["token"]): boolean {
  return (
    progress.dueFor === "ANSWER" &&
    progress.stepCount === token.stepCount &&
    progress.dueAt === token.dueAt
  );
}
