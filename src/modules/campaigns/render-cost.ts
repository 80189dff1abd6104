/**
 * Stops a campaign whose template takes too long. A mail that exceeds the time limit of rendering
 * fails (outbox/compose/pool.ts) and delays no other mail, but it takes a second of a processor. A
 * campaign with several such mails is paused until a person resumes it.
 */

import type { Writer } from "../../db/writer.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { campaignLifecycle, type Lifecycle } from "./lifecycle.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { campaignLog } from "./log.ts";

/** Mails of a campaign that may exceed the time limit before it is paused. */
const MAX_TOO_SLOW = 10;

export type Cost = ReturnType<typeof createCost>;

export const renderCost = perApp((app: App) =>
  createCost({ writer: app.writer, lifecycle: campaignLifecycle(app), log: campaignLog(app) }),
);

export function createCost(deps: {
  writer: Pick<Writer, "write">;
  lifecycle: Pick<Lifecycle, "pauseBecause" | "isSending">;
  log: Log;
}) {
  const { writer, lifecycle, log } = deps;
  /** Number of mails that exceeded the limit, by campaign. */
  const tooSlow = new Map<number, number>();
  /** Campaigns with too many of them: "stopping" until the pause is stored, then "paused". */
  const stopped = new Map<number, "stopping" | "paused">();

  async function pause(campaignSeq: number): Promise<void> {
    const reason =
      `The template took too long to render for ${MAX_TOO_SLOW} recipients, whose mails failed. ` +
      "Simplify the template.";
    const campaign = await writer.write(() => lifecycle.pauseBecause(campaignSeq, reason));
    stopped.set(campaignSeq, "paused");
    if (campaign !== null) log.warn("a campaign was paused", { campaign, reason });
  }

  return {
    /** Counts a mail that failed because its template took too long. */
    noteTooSlow(campaignSeq: number): void {
      if (stopped.has(campaignSeq)) return;
      const count = (tooSlow.get(campaignSeq) ?? 0) + 1;
      tooSlow.set(campaignSeq, count);
      if (count < MAX_TOO_SLOW) return;
      tooSlow.delete(campaignSeq);
      stopped.set(campaignSeq, "stopping");
      void pause(campaignSeq).catch((error: unknown) => {
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
