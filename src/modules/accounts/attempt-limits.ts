/**
 * Limits on failed attempts to sign in: 5 per minute for an account from one client address, and 20
 * per minute for a client address. An attempt counts as failed until it has succeeded, so attempts
 * at the same time cannot exceed the limits.
 */

import { rateExceeded } from "../../http/admission-errors.ts";
import { slidingWindow } from "../../http/rate-limit.ts";
import type { Clock } from "../../lib/clock.ts";

export type AttemptLimits = ReturnType<typeof createAttemptLimits>;

const WINDOW_MS = 60_000;
const PER_ACCOUNT = 5;
const PER_ADDRESS = 20;
const MAX_TRACKED = 20_000;

export function createAttemptLimits({ elapsed }: Pick<Clock, "elapsed">) {
  const options = { windowMs: WINDOW_MS, now: elapsed, maxKeys: MAX_TRACKED };
  const accounts = slidingWindow({ ...options, limit: PER_ACCOUNT });
  const addresses = slidingWindow({ ...options, limit: PER_ADDRESS });

  return {
    /**
     * Counts an attempt for an account. The returned function takes it back, after it succeeded.
     * Throws 429 if there were too many.
     */
    begin(email: string, address: string): () => void {
      const key = `${address} ${email}`;
      // Both limits are checked before the attempt is counted, so a refused one uses up neither.
      const refusal = accounts.refusal(key) ?? addresses.refusal(address);
      if (refusal !== null) throw rateExceeded(refusal.resetSeconds);
      accounts.take(key);
      addresses.take(address);
      return () => {
        accounts.giveBack(key);
        addresses.giveBack(address);
      };
    },

    /** Counts a request of a client that may not be repeated often. Throws 429. */
    take(address: string): void {
      const decision = addresses.take(address);
      if (!decision.isAllowed) throw rateExceeded(decision.resetSeconds);
    },
  };
}
