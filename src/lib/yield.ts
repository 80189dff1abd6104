/** Work that comes in small pieces, many of them at once, and is not to hold the event loop. */

import { systemClock } from "./clock.ts";

/** Of one turn of the event loop; a single piece may take longer, many together may not. */
const TURN_MS = 8;

/**
 * To be awaited before each piece. Resolves at once as long as the pieces of this turn of the event
 * loop have taken little time; then one after the other, each in a turn of its own.
 */
export function createYield(turnMs = TURN_MS): () => Promise<void> {
  let turnEndsAt = 0;
  let isTurnOpen = false;
  let last: Promise<void> = Promise.resolve();
  let queued = 0;

  function openTurn(): void {
    isTurnOpen = true;
    turnEndsAt = systemClock.elapsed() + turnMs;
    setImmediate(() => {
      isTurnOpen = false;
    });
  }

  return function yieldIfBusy() {
    if (!isTurnOpen) openTurn();
    if (queued === 0 && systemClock.elapsed() < turnEndsAt) return Promise.resolve();
    queued++;
    last = last.then(
      () =>
        new Promise<void>((resolve) => {
          setImmediate(() => {
            queued--;
            resolve();
          });
        }),
    );
    return last;
  };
}
