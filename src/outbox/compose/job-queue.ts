/**
 * The mails that wait for a thread, by flow. Transactional flows are served first, flows of the same
 * kind in turn. A batch has mails of several flows only if all of them are known to be fast; the
 * mails of a new flow and of a slow one are batches of their own, so that they delay no others.
 */

import type { Prepared } from "./prepare.ts";
import type { FlowCosts, FlowKind } from "./flow-costs.ts";
import type { Task } from "./tasks.ts";
import type { Busy } from "../outcome.ts";

export type ComposeJob = Task & {
  flow: string;
  isTransactional: boolean;
  /**
   * The number of times that a thread was ended because this mail, alone in its batch, took too long.
   */
  timeouts: number;
  resolve: (prepared: Prepared | Busy) => void;
  reject: (error: unknown) => void;
};

/** The kind of its flows, or the half of a batch that took too long. */
export type JobBatch = { kind: FlowKind | "half"; jobs: readonly ComposeJob[] };

/**
 * The work of one batch: a batch of signed mail takes as long as one of several times as many
 * unsigned mails, and transactional mail that arrives meanwhile waits for its end.
 */
const MAX_WEIGHT = 64;
const SIGNED_WEIGHT = 4;
/** Most mails of a batch of a new or slow flow. */
const MAX_UNKNOWN = 8;
/** Bytes of bodies and attachments in a batch, unless a single mail has more. */
const MAX_BYTES = 4 * 1024 * 1024;

type NextBatch = { mayBegin: ((flow: string) => boolean) | null; withCampaigns: boolean };

export function createJobQueue(costs: Pick<FlowCosts, "kindOf">) {
  const transactional = new Map<string, ComposeJob[]>();
  const campaigns = new Map<string, ComposeJob[]>();
  /** Halves of batches that took too long: each is prepared alone. */
  const halves: ComposeJob[][] = [];

  const flowsOf = ({ isTransactional }: ComposeJob) =>
    isTransactional ? transactional : campaigns;

  /** Moves up to `max` mails of a flow into the draft; the flow then comes last. */
  function takeFrom(
    flows: Map<string, ComposeJob[]>,
    flow: string,
    draft: Draft,
    max: number,
  ): void {
    const waiting = flows.get(flow) ?? [];
    let taken = 0;
    for (const job of waiting) {
      if (taken === max || !addIfFits(draft, job)) break;
      taken++;
    }
    if (taken === 0) return;
    waiting.splice(0, taken);
    flows.delete(flow);
    if (waiting.length > 0) flows.set(flow, waiting);
  }

  function takeUnknown(
    flows: Map<string, ComposeJob[]>,
    wanted: FlowKind,
    mayBegin: (flow: string) => boolean = () => true,
  ): JobBatch | null {
    for (const flow of flows.keys()) {
      if (costs.kindOf(flow) !== wanted || !mayBegin(flow)) continue;
      const draft = newDraft();
      takeFrom(flows, flow, draft, MAX_UNKNOWN);
      return { kind: wanted, jobs: draft.jobs };
    }
    return null;
  }

  function takeFast(flows: Map<string, ComposeJob[]>): JobBatch | null {
    const draft = newDraft();
    for (const flow of flows.keys()) {
      if (costs.kindOf(flow) === "fast") takeFrom(flows, flow, draft, MAX_WEIGHT);
    }
    return draft.jobs.length === 0 ? null : { kind: "fast", jobs: draft.jobs };
  }

  const hasKind = (isWanted: (kind: FlowKind) => boolean) =>
    [...transactional.keys(), ...campaigns.keys()].some((flow) => isWanted(costs.kindOf(flow)));

  return {
    add(job: ComposeJob): void {
      const waiting = flowsOf(job).get(job.flow);
      if (waiting === undefined) flowsOf(job).set(job.flow, [job]);
      else waiting.push(job);
    },

    /** Returns jobs to the beginning of their flows. */
    putBack(jobs: readonly ComposeJob[]): void {
      for (const job of jobs.toReversed()) {
        flowsOf(job).set(job.flow, [job, ...(flowsOf(job).get(job.flow) ?? [])]);
      }
    },

    /** These jobs are prepared in a batch of their own, before other slow ones. */
    addHalf(jobs: ComposeJob[]): void {
      halves.push(jobs);
    },

    /**
     * A batch of fast flows, or of a new flow that `mayBegin`; null if there is none. Without
     * `mayBegin`, a batch of fast flows only.
     */
    takeNext({ mayBegin, withCampaigns }: NextBatch): JobBatch | null {
      for (const flows of withCampaigns ? [transactional, campaigns] : [transactional]) {
        const unknown = mayBegin === null ? null : takeUnknown(flows, "new", mayBegin);
        const batch = unknown ?? takeFast(flows);
        if (batch !== null) return batch;
      }
      return null;
    },

    /** A batch of a slow flow, or the half of a batch that took too long. */
    takeSlow({ withCampaigns }: { withCampaigns: boolean }): JobBatch | null {
      const half = halves.shift();
      if (half !== undefined) return { kind: "half", jobs: half };
      const batch = takeUnknown(transactional, "slow");
      return batch ?? (withCampaigns ? takeUnknown(campaigns, "slow") : null);
    },

    hasSlow: (): boolean => halves.length > 0 || hasKind((kind) => kind === "slow"),
    hasOthers: (): boolean => hasKind((kind) => kind !== "slow"),
    hasSigned: (): boolean =>
      [...transactional.values(), ...campaigns.values()].some(
        ([job]) => job !== undefined && job.signer !== null,
      ),
    countOf: (flow: string): number =>
      transactional.get(flow)?.length ?? campaigns.get(flow)?.length ?? 0,

    takeFlow(flow: string): ComposeJob[] {
      const jobs = [...(transactional.get(flow) ?? []), ...(campaigns.get(flow) ?? [])];
      transactional.delete(flow);
      campaigns.delete(flow);
      return jobs;
    },

    takeAll(): ComposeJob[] {
      const all = [...halves, ...transactional.values(), ...campaigns.values()].flat();
      halves.length = 0;
      transactional.clear();
      campaigns.clear();
      return all;
    },
  };
}

/** A batch that is being filled. */
type Draft = { jobs: ComposeJob[]; weight: number; bytes: number };

const newDraft = (): Draft => ({ jobs: [], weight: 0, bytes: 0 });

/** Adds the job if it has room in the batch; the first one always has. */
function addIfFits(draft: Draft, job: ComposeJob): boolean {
  const weight = draft.weight + (job.signer === null ? 1 : SIGNED_WEIGHT);
  const bytes = draft.bytes + bytesOf(job);
  if (draft.jobs.length > 0 && (weight > MAX_WEIGHT || bytes > MAX_BYTES)) return false;
  draft.jobs.push(job);
  draft.weight = weight;
  draft.bytes = bytes;
  return true;
}

function bytesOf({ mail }: ComposeJob): number {
  const own = mail.html.length + (mail.submitted?.byteLength ?? 0);
  return mail.attachments.reduce((sum, { content }) => sum + content.byteLength, own);
}
