/**
 * Limits on failed attempts to sign in: 5 per minute for an account from one client address, and 20
 * per minute for a client address. An attempt counts as failed until it has succeeded, so attempts
 * at the same time cannot exceed the limits. Codes of six digits can be guessed, so an account has 10
 * failed ones in an hour, from all clients together.
 */

import { rateExceeded } from "../../http/admission-errors.ts";
import { slidingWindow } from "../../http/rate-limit.ts";
import type { Clock } from "../../lib/clock.ts";

export type AttemptLimits = ReturnType<typeof createAttemptLimits>;

const WINDOW_MS = 60_000;
const PER_ACCOUNT = 5;
const PER_ADDRESS = 20;
const CODES_WINDOW_MS = 60 * WINDOW_MS;
const CODES_PER_ACCOUNT = 10;
/**
 * Challenges for passkeys that a user gets per minute, or a client address without a user. All share
 * one store, so no user may fill it.
 */
const CHALLENGES_PER_HOLDER = 30;
const MAX_TRACKED = 20_000;

export function createAttemptLimits({ elapsed }: Pick<Clock, "elapsed">) {
  const options = { windowMs: WINDOW_MS, now: elapsed, maxKeys: MAX_TRACKED };
  const accounts = slidingWindow({ ...options, limit: PER_ACCOUNT });
  const addresses = slidingWindow({ ...options, limit: PER_ADDRESS });

  const codes = slidingWindow({ ...options, windowMs: CODES_WINDOW_MS, limit: CODES_PER_ACCOUNT });
  const challenges = slidingWindow({ ...options, limit: CHALLENGES_PER_HOLDER });

  return {
    /** The same for a code of the second factor. */
    beginCode({ seq }: { seq: number }, address: string): () => void {
      const refusal = codes.refusal(seq) ?? addresses.refusal(address);
      if (refusal !== null) throw rateExceeded(refusal.resetSeconds);
      codes.take(seq);
      addresses.take(address);
      return () => {
        codes.giveBack(seq);
        addresses.giveBack(address);
      };
    },

    /** Counts a challenge for the number of a user, or for the address of a client. Throws 429. */
    takeChallenge(holder: number | string): void {
      const decision = challenges.take(holder);
      if (!decision.isAllowed) throw rateExceeded(decision.resetSeconds);
    },

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
