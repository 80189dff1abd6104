/**
 * The processor time that the mails of a flow take to prepare: the mean of the latest ones. A flow
 * is the transactional mail of one project, or one campaign.
 */

/** A mail of a slow flow takes longer than this on average; a usual one takes a hundredth of it. */
const SLOW_MS = 50;
/** Weight of the latest mail in the mean. */
const LATEST_WEIGHT = 0.1;
/** A mean below this is not remembered as more than nothing. */
const NEGLIGIBLE_MS = 0.5;
const MAX_FLOWS = 2_000;

/** A flow is new until one of its mails was prepared. */
export type FlowKind = "new" | "fast" | "slow";

export type FlowCosts = ReturnType<typeof createFlowCosts>;

export function createFlowCosts() {
  const means = new Map<string, number>();

  return {
    kindOf(flow: string): FlowKind {
      const mean = means.get(flow);
      if (mean === undefined) return "new";
      return mean > SLOW_MS ? "slow" : "fast";
    },

    meanMs: (flow: string): number => means.get(flow) ?? 0,

    /** Records the processor time of a mail. */
    note(flow: string, ms: number): void {
      const before = means.get(flow);
      if (before === 0 && ms < NEGLIGIBLE_MS) return;
      const mean = before === undefined ? ms : before + LATEST_WEIGHT * (ms - before);
      means.delete(flow);
      means.set(flow, mean < NEGLIGIBLE_MS ? 0 : mean);
      if (means.size <= MAX_FLOWS) return;
      for (const oldest of means.keys()) {
        means.delete(oldest);
        return;
      }
    },
  };
}
