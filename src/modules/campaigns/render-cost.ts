/**
 * What a campaign's template costs everybody else: while one mail is rendered, all others wait, and
 * so does the API. A template that takes too long for too many recipients waits for a person.
 */

import type { Writer } from "../../db/writer.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Of each mail; a usual template takes a hundredth of a millisecond. */
const FREE_MS = 20;
/** Of one mail: more is a machine that stood still. */
const MOST_OF_ONE_MS = 1_000;
/** Beyond what is free, of all mails of a campaign in this process. */
const MOST_MS = 2_000;

export type Cost = ReturnType<typeof createCost>;

export function createCost(deps: {
  writer: Pick<Writer, "write">;
  lifecycle: Pick<Lifecycle, "pauseBecause" | "isSending">;
  log: Log;
}) {
  const { writer, lifecycle, log } = deps;
  /** Of the campaigns that have cost anything. */
  const spent = new Map<number, number>();
  /** Those that were stopped for it; until that is written, and as long as it is so. */
  const stopped = new Map<number, "stopping" | "paused">();

  async function pause(campaignSeq: number, ms: number): Promise<void> {
    const reason =
      `The template takes ${Math.round(ms)} ms to render for one recipient, ` +
      "and all other mail waits meanwhile: it has to do less.";
    const campaign = await writer.write(() => lifecycle.pauseBecause(campaignSeq, reason));
    stopped.set(campaignSeq, "paused");
    if (campaign !== null) log.warn("a campaign was paused", { campaign, reason });
  }

  return {
    /** Rendering a mail took this long, whether it succeeded or not. */
    noteRendering(campaignSeq: number, ms: number): void {
      const excess = Math.min(ms, MOST_OF_ONE_MS) - FREE_MS;
      if (excess <= 0) return;
      const total = (spent.get(campaignSeq) ?? 0) + excess;
      spent.set(campaignSeq, total);
      if (total < MOST_MS) return;
      spent.delete(campaignSeq);
      stopped.set(campaignSeq, "stopping");
      void pause(campaignSeq, ms).catch((error: unknown) => {
        stopped.delete(campaignSeq);
        log.error("a campaign could not be paused", { campaignSeq, error: describeError(error) });
      });
    },

    /** Its mails that are under way already are not to be rendered either. */
    isStopped(campaignSeq: number): boolean {
      const state = stopped.get(campaignSeq);
      if (state !== "paused") return state === "stopping";
      // A person may have let it go on.
      if (lifecycle.isSending(campaignSeq)) return !stopped.delete(campaignSeq);
      return true;
    },
  };
}
