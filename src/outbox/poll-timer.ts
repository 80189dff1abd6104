/**
 * Decides when the dispatcher polls the queue again: as soon as possible, after a delay, or after
 * the pause that follows an error of the storage. Each of them replaces an earlier delay.
 */

import { STORAGE_PAUSE_MS } from "../db/write-result.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";

/** `onPoll` is called only between start and stop, and never during a pause. */
export function createPollTimer(deps: { clock: Clock; log: Log; onPoll: () => void }) {
  const { clock, log, onPoll } = deps;
  let running = false;
  /** True during the pause after a storage error: nothing is polled. */
  let isPausing = false;
  let isScheduled = false;
  let cancel = () => {};

  function poll(): void {
    if (running && !isPausing) onPoll();
  }

  return {
    isRunning: () => running,

    start(): void {
      running = true;
      poll();
    },

    stop(): void {
      running = false;
      cancel();
    },

    isPollScheduled: () => isScheduled,

    /** Polls at most once for all that happens in one iteration of the event loop. */
    pollSoon(): void {
      if (isScheduled || !running) return;
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        poll();
      });
    },

    pollAfter(delayMs: number): void {
      cancel();
      if (running) cancel = clock.after(delayMs, poll);
    },

    /** Forgets the delay, because the queue is polled now. */
    cancelDelay: () => cancel(),

    pauseAfter(error: unknown): void {
      if (isPausing || !running) return;
      log.warn("no mail is sent after an error of the storage", { error: describeError(error) });
      isPausing = true;
      cancel();
      cancel = clock.after(STORAGE_PAUSE_MS, () => {
        isPausing = false;
        poll();
      });
    },
  };
}
