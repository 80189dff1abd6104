/**
 * Bounds the processor time of slow mail: one slow batch runs at a time, and after it the threads do
 * none for three times as long. Mails that would wait long go back to the queue of
 * due mail, so that they do not hold the leases that other mail needs.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Busy } from "../outcome.ts";
import type { JobBatch } from "./job-queue.ts";
import type { Thread } from "./thread.ts";

/** After a slow batch, the next one waits for this multiple of its time. */
const REST_FACTOR = 3;
/** Mails of a slow flow that may wait for a thread. */
const MAX_WAITING = 4;
const LONGEST_BACKLOG_MS = 10 * 60_000;

/** `onFree` is called when the next slow batch may run. */
export function createSlowBatches(clock: Clock, onFree: () => void) {
  let running: { thread: Thread; kind: JobBatch["kind"]; beganMs: number } | null = null;
  let restsUntilMs = -Infinity;
  /** The time at which the last mail that went back to the queue would begin. */
  let backlogEndsMs = -Infinity;
  let cancelTimer = () => {};

  return {
    isFree: (): boolean => running === null && clock.elapsed() >= restsUntilMs,

    begin(thread: Thread, batch: JobBatch): JobBatch {
      running = { thread, kind: batch.kind, beganMs: clock.elapsed() };
      return batch;
    },

    /** The batch of this thread has ended, if it was a slow one. */
    end(thread: Thread): void {
      if (running?.thread !== thread) return;
      const nowMs = clock.elapsed();
      // Halves of a batch may contain mail of others, which should not wait.
      const restMs = running.kind === "half" ? 0 : REST_FACTOR * (nowMs - running.beganMs);
      running = null;
      restsUntilMs = nowMs + restMs;
      cancelTimer();
      cancelTimer = clock.after(restMs, onFree);
    },

    /**
     * The time at which to try a mail again while others of its slow flow wait; null if it may wait
     * with them.
     */
    backlogOf({ waiting, meanMs }: { waiting: number; meanMs: number }): Busy | null {
      if (waiting < MAX_WAITING) return null;
      const nowMs = clock.elapsed();
      const timePerMailMs = meanMs * (1 + REST_FACTOR);
      const earliestMs = Math.max(backlogEndsMs, nowMs + waiting * timePerMailMs);
      backlogEndsMs = Math.min(earliestMs + timePerMailMs, nowMs + LONGEST_BACKLOG_MS);
      return {
        kind: "busy",
        why: "paused",
        retryAfterMs: Math.ceil(backlogEndsMs - nowMs),
        waitList: null,
        reason: `its template takes ${Math.ceil(meanMs)} ms, and others wait before it`,
      };
    },

    close(): void {
      cancelTimer();
    },
  };
}
