/** The time in which messages gather for a batch of the indexer. */

import type { Clock } from "../../../lib/clock.ts";

/** A large batch costs less for each message. */
const GATHER_MS = 50;

export function createGathering(clock: Clock) {
  let end = () => {};

  return {
    /** Resolves after the time, or when `end` is called. */
    async wait(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      end = resolve;
      const cancel = clock.after(GATHER_MS, resolve);
      await promise;
      cancel();
    },

    end: () => end(),
  };
}
