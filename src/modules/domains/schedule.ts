/** What a look at the DNS makes of a domain, and when the next one is due. Pure. */

import type { DomainRow } from "./service.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Somebody who is just setting the records up waits for the first looks. */
const DELAYS_MS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE] as const;
const MOST_HOURLY_LOOKS = 48;

/** How long a verified domain may be without its record (docs/interface.md#domains). */
export const LOSS_GRACE_MS = 72 * HOUR;

export type Seen = {
  /** Unknown: nobody could say, which is no loss. */
  key: "found" | "gone" | "unknown";
  /** Every record, the advised ones as well, is as it should be. */
  isComplete: boolean;
};

export type Standing = Pick<
  DomainRow,
  "status" | "isByWord" | "verifiedAt" | "failingSince" | "misses"
>;

export type Progress = Omit<Standing, "isByWord"> & { nextCheckAt: number };

export function afterLook(standing: Standing, seen: Seen, now: number): Progress {
  const misses = seen.isComplete ? 0 : standing.misses + 1;
  return { ...verdict(standing, seen, now), misses, nextCheckAt: now + delayAfter(misses) };
}

function verdict(
  standing: Standing,
  { key }: Seen,
  now: number,
): Pick<Progress, "status" | "verifiedAt" | "failingSince"> {
  const { status, isByWord, verifiedAt, failingSince } = standing;
  if (key === "found") {
    const since = status === "VERIFIED" ? verifiedAt : now;
    return { status: "VERIFIED", verifiedAt: since, failingSince: null };
  }
  if (key === "unknown" || isByWord || status !== "VERIFIED") {
    return { status, verifiedAt, failingSince };
  }
  const since = failingSince ?? now;
  const isLost = now - since >= LOSS_GRACE_MS;
  return { status: isLost ? "FAILED" : "VERIFIED", verifiedAt, failingSince: since };
}

/** The next look after `misses` in a row that did not find everything. */
function delayAfter(misses: number): number {
  if (misses === 0) return DAY;
  return DELAYS_MS[misses - 1] ?? (misses <= MOST_HOURLY_LOOKS ? HOUR : DAY);
}
