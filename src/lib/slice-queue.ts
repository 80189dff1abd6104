/**
 * Schedules the slices of long reads. Each iteration of the event loop runs one slice, so a request
 * never waits for more than one slice. Owners (projects) get slices in round robin, and so do the
 * reads of one owner. Many reads of one owner therefore delay another owner no more than one read.
 */

import type { LoopWatch } from "./loop-watch.ts";
import { perApp } from "./per-app.ts";

/** The slices of one owner. */
export type SliceQueue = {
  /** Resolves when the caller gets a slice; it may then work for a few milliseconds. */
  nextSlice(): Promise<void>;
};

export type FairScheduler = {
  /** `owner`: `seq` of a project; 0 for work of the service itself. */
  queueOf(owner: number): SliceQueue;
};

/** Runs the slices of all long reads of the application in turn. */
export const sliceScheduler = perApp((app: { isApp: true; loopWatch: LoopWatch }) =>
  createFairScheduler(() => app.loopWatch.begin("work", "a slice of a long read")),
);

/**
 * `beginWork` is called when a slice begins, so that the watchdog can name it (lib/loop-watch.ts).
 */
export function createFairScheduler(beginWork: () => void = () => {}): FairScheduler {
  /** The callers of each owner, in the order in which owners get slices. */
  const waiting = new Map<number, (() => void)[]>();

  function runNextSlice(): void {
    beginWork();
    for (const [owner, callers] of waiting) {
      waiting.delete(owner);
      const resolve = callers.shift();
      if (callers.length > 0) waiting.set(owner, callers);
      resolve?.();
      break;
    }
    if (waiting.size > 0) setImmediate(runNextSlice);
  }

  function enqueue(owner: number, resolve: () => void): void {
    const callers = waiting.get(owner);
    if (callers !== undefined) return void callers.push(resolve);
    waiting.set(owner, [resolve]);
    if (waiting.size === 1) setImmediate(runNextSlice);
  }

  return {
    queueOf: (owner) => ({
      nextSlice: () => new Promise((resolve) => enqueue(owner, resolve)),
    }),
  };
}
