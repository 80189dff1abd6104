/**
 * Concurrency limits of webhook calls: of the server, of each project and of each workflow. A call
 * holds one slot. All workflows of a project share its slots, so calls that hang do not delay other
 * projects.
 */

import { createFairSlots, type FairSlots } from "../../../lib/fair-slots.ts";
import type { CallingWorkflow } from "./call-queue.ts";

/** Largest number of concurrent calls of all projects. */
const MAX_CONCURRENT_CALLS = 64;
/** Largest number of concurrent calls of one workflow, so that a slow receiver leaves slots free. */
const MAX_CALLS_PER_WORKFLOW = 16;

export type CallSlots = {
  isFull(): boolean;
  /** The number of calls that the workflow may start now. */
  available(workflow: CallingWorkflow): number;
  /** Takes a slot for a call of the workflow. The slot must be available. */
  acquire(workflow: CallingWorkflow): void;
  release(workflow: CallingWorkflow): void;
  /** Returns an independent copy, to plan acquisitions before they are made. */
  copy(): CallSlots;
};

/** `mostCallsOfProject`: largest number of concurrent calls of one project; 0 for a fair share. */
export function createCallSlots(mostCallsOfProject: number): CallSlots {
  const limits = { total: MAX_CONCURRENT_CALLS, maxPerOwner: mostCallsOfProject };
  return slotsOf(createFairSlots(limits), new Map());
}

/** `ofWorkflows` is the number of slots that each workflow holds. */
function slotsOf(ofProjects: FairSlots, ofWorkflows: Map<number, number>): CallSlots {
  const heldBy = (workflowSeq: number): number => ofWorkflows.get(workflowSeq) ?? 0;

  return {
    isFull: () => ofProjects.inUse() >= MAX_CONCURRENT_CALLS,
    available: ({ workflowSeq, projectSeq }) =>
      Math.min(ofProjects.available(projectSeq), MAX_CALLS_PER_WORKFLOW - heldBy(workflowSeq)),
    acquire({ workflowSeq, projectSeq }) {
      ofProjects.acquire(projectSeq);
      ofWorkflows.set(workflowSeq, heldBy(workflowSeq) + 1);
    },
    release({ workflowSeq, projectSeq }) {
      ofProjects.release(projectSeq);
      const held = heldBy(workflowSeq);
      if (held > 1) ofWorkflows.set(workflowSeq, held - 1);
      else ofWorkflows.delete(workflowSeq);
    },
    copy: () => slotsOf(ofProjects.copy(), new Map(ofWorkflows)),
  };
}
