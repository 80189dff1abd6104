/** Computes when the own rates of campaigns allow their next mails. The rates are in memory only. */

import type { DueShift } from "../../lib/steady-clock.ts";
import type { Campaign } from "./queue-rows.ts";

const SECOND_MS = 1000;
/** Longest delay that a campaign with its own rate may make up for by sending faster. */
const MAX_CATCH_UP_MS = 1_000;

export function createCampaignRates() {
  /** Campaigns with their own rate → when the rate allows the next mail. */
  const allowedAt = new Map<number, number>();

  return {
    /**
     * The time at which the rate allows the next mail of a campaign; 0 if it has no rate of its own.
     */
    allowsAt({ key, rate }: Pick<Campaign, "key" | "rate">): number {
      return rate === null ? 0 : (allowedAt.get(key) ?? 0);
    },

    /**
     * Sets when the campaign's rate allows its next mail. A mail that left late does not delay the
     * next one, because neither the pace nor the mail of others may slow a campaign down below its
     * rate.
     */
    delay(campaign: number, rate: number, now: number): "empty" | "more" {
      const intervalMs = SECOND_MS / rate;
      const intended = Math.max(allowedAt.get(campaign) ?? now, now - MAX_CATCH_UP_MS);
      allowedAt.set(campaign, intended + intervalMs);
      return intended + intervalMs <= now ? "more" : "empty";
    },

    /** Moves these times after the clock was set. */
    shift({ byMs, after }: DueShift): void {
      for (const [key, at] of allowedAt) if (at > after) allowedAt.set(key, at + byMs);
    },
  };
}
