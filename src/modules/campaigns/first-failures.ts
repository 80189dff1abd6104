/**
 * Stops a campaign whose first mails all fail alike: the cause is then in the message, the sender or
 * the account, and would refuse the rest of the audience as well. Counts are in memory, because a
 * restart only lets a few more mails fail.
 */

import type { Stats } from "./stats.ts";

/** The class and the reason of a mail that did not leave. */
export type CampaignFailure = { class: string; reason: string };

/** So many failures without a mail that left pause a campaign. */
const MAX_ALIKE = 10;

/** Failures that concern one recipient: the limits of bounces count them. */
const OF_RECIPIENT: ReadonlySet<string> = new Set(["no_such_recipient", "mailbox_full"]);

export function createFirstFailures({ stats }: { stats: Pick<Stats, "sinceResumed"> }) {
  /** The class and the number of the failures, by campaign. */
  const counts = new Map<number, { class: string; count: number }>();

  return {
    /** Counts a failure. Returns the reason to pause the campaign; null if it goes on. */
    add(campaignSeq: number, failure: CampaignFailure): string | null {
      const { left, bounced } = stats.sinceResumed(campaignSeq);
      if (left > bounced || OF_RECIPIENT.has(failure.class)) {
        counts.delete(campaignSeq);
        return null;
      }
      const before = counts.get(campaignSeq);
      const count = before?.class === failure.class ? before.count + 1 : 1;
      counts.set(campaignSeq, { class: failure.class, count });
      if (count < MAX_ALIKE) return null;
      counts.delete(campaignSeq);
      return `the first ${MAX_ALIKE} mails all failed alike, the last one with: ${failure.reason}`;
    },
  };
}
