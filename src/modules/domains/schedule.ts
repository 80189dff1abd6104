/** Computes the status of a domain after a DNS check, and when the next check is due. Pure. */

import type { DomainRow } from "./domains.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Delays of the first checks, which are short because a user may be publishing the records. */
const DELAYS_MS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE] as const;
const MAX_HOURLY_CHECKS = 48;

/** The time for which a verified domain may lack its DKIM record (docs/interface.md#domains). */
export const LOSS_GRACE_MS = 72 * HOUR;

export type CheckResult = {
  /** unknown: the look-up failed, which does not count as a loss. */
  key: "found" | "gone" | "unknown";
  /** True if every record is as expected, including those that are not required. */
  isComplete: boolean;
};

export type DomainState = Pick<
  DomainRow,
  "status" | "isDeclaredVerified" | "verifiedAt" | "failingSince" | "misses"
>;

type CheckedState = Omit<DomainState, "isDeclaredVerified"> & { nextCheckAt: number };

export function afterCheck(state: DomainState, result: CheckResult, now: number): CheckedState {
  const misses = result.isComplete ? 0 : state.misses + 1;
  return { ...statusAfter(state, result, now), misses, nextCheckAt: now + delayAfter(misses) };
}

function statusAfter(
  state: DomainState,
  { key }: CheckResult,
  now: number,
): Pick<CheckedState, "status" | "verifiedAt" | "failingSince"> {
  const { status, isDeclaredVerified, verifiedAt, failingSince } = state;
  if (key === "found") {
    const since = status === "VERIFIED" ? verifiedAt : now;
    return { status: "VERIFIED", verifiedAt: since, failingSince: null };
  }
  if (key === "unknown" || isDeclaredVerified || status !== "VERIFIED") {
    return { status, verifiedAt, failingSince };
  }
  const since = failingSince ?? now;
  const isLost = now - since >= LOSS_GRACE_MS;
  return { status: isLost ? "FAILED" : "VERIFIED", verifiedAt, failingSince: since };
}

/** Delay until the next check, after `misses` consecutive checks that were not complete. */
function delayAfter(misses: number): number {
  if (misses === 0) return DAY;
  return DELAYS_MS[misses - 1] ?? (misses <= MAX_HOURLY_CHECKS ? HOUR : DAY);
}
