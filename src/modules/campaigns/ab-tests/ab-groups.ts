/**
 * The group of a contact in the A/B test of a campaign. It depends only on the ids of both, so a
 * repetition after a crash, and the second walk through the audience, find the same group. The shares
 * are those of a random draw: of 1,000 contacts with a share of 20 %, about 200 are in the test.
 */

import { stableShare } from "../../../lib/stable-share.ts";

/** Percents of the audience, and the ids of the variants in their order. */
export type AbPlan = { share: number; holdOut: number; variantIds: readonly string[] };

/** The number of recipients who are held out, on average. The dashboard counts in the same way. */
export const heldOutOf = (
  recipients: number,
  test: Readonly<{ holdOut: number }> | null,
): number => (test === null ? 0 : Math.round((recipients * test.holdOut) / 100));

/** HOLD_OUT gets nothing; REST gets the variant that wins; otherwise the id of a variant. */
type AbGroup = string;
export const HOLD_OUT = "HOLD_OUT";
export const REST = "REST";

/** Pure. `campaignId` and `contactId` are the ids of the API. */
export function abGroup(plan: AbPlan, campaignId: string, contactId: string): AbGroup {
  const percent = stableShare(`${campaignId} ${contactId}`) * 100 - plan.holdOut;
  if (percent < 0) return HOLD_OUT;
  if (percent >= plan.share) return REST;
  const { variantIds } = plan;
  return variantIds[Math.floor((percent / plan.share) * variantIds.length)] ?? REST;
}
