/**
 * Limits the rendering time of a campaign's template. Rendering blocks the process: while one mail
 * is rendered, all other mail and the API wait. A campaign whose template takes too long for too
 * many recipients is paused until a person resumes it.
 */

import type { Writer } from "../../db/writer.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Free rendering time per mail; a usual template takes a hundredth of a millisecond. */
const FREE_MS = 20;
/** Longest time that counts for one mail; a longer one means that the machine was suspended. */
const LONGEST_COUNTED_MS = 1_000;
/** Limit on the rendering time beyond the free time, for all mails of a campaign together. */
const LIMIT_MS = 2_000;

export type Cost = ReturnType<typeof createCost>;

export function createCost(deps: {
  writer: Pick<Writer, "write">;
  lifecycle: Pick<Lifecycle, "pauseBecause" | "isSending">;
  log: Log;
}) {
  const { writer, lifecycle, log } = deps;
  /** Rendering time beyond the free time, by campaign, in milliseconds. */
  const spent = new Map<number, number>();
  /** Campaigns that exceeded the limit: "stopping" until the pause is stored, then "paused". */
  const stopped = new Map<number, "stopping" | "paused">();

  async function pause(campaignSeq: number, ms: number): Promise<void> {
    const reason =
      `The template takes ${Math.round(ms)} ms to render for one recipient, and all other mail ` +
      "waits meanwhile. Simplify the template.";
    const campaign = await writer.write(() => lifecycle.pauseBecause(campaignSeq, reason));
    stopped.set(campaignSeq, "paused");
    if (campaign !== null) log.warn("a campaign was paused", { campaign, reason });
  }

  return {
    /** Adds the time that rendering one mail took, whether it succeeded or not. */
    noteRendering(campaignSeq: number, ms: number): void {
      const excess = Math.min(ms, LONGEST_COUNTED_MS) - FREE_MS;
      if (excess <= 0) return;
      const total = (spent.get(campaignSeq) ?? 0) + excess;
      spent.set(campaignSeq, total);
      if (total < LIMIT_MS) return;
      spent.delete(campaignSeq);
      stopped.set(campaignSeq, "stopping");
      void pause(campaignSeq, ms).catch((error: unknown) => {
        stopped.delete(campaignSeq);
        log.error("a campaign could not be paused", { campaignSeq, error: describeError(error) });
      });
    },

    /** True if no mail of the campaign may be rendered, not even one that is already leased. */
    isStopped(campaignSeq: number): boolean {
      const state = stopped.get(campaignSeq);
      if (state !== "paused") return state === "stopping";
      // A person may have resumed the campaign.
      if (lifecycle.isSending(campaignSeq)) return !stopped.delete(campaignSeq);
      return true;
    },
  };
}
