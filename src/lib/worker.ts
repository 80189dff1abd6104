/**
 * The loop of background work. A worker is woken when there may be work, works in steps until none
 * is left, sleeps until the next work is due, pauses after an error, and stops after a step.
 */

import type { Clock } from "./clock.ts";
import { nextIteration } from "./yield.ts";

type Worker = {
  start(): void;
  /** Begins a step in the next iteration of the event loop, or after the step under way. */
  wake(): void;
  /** Begins no step for `pauseMs`, because work that a step started has failed. */
  pause(): void;
  isRunning(): boolean;
  isBusy(): boolean;
  /** Resolves when no step is under way. */
  idle(): Promise<void>;
  /** Begins no further step. Resolves when the step under way has ended. */
  stop(): Promise<void>;
};

/** Another step follows at once ("more"), after a delay in milliseconds, or when woken (null). */
type Next = "more" | number | null;

/** Does one step of the work; `isFirst` is true after a sleep or a pause. */
type Step = (isFirst: boolean) => Next | Promise<Next>;

export function createWorker(deps: {
  clock: Clock;
  step: Step;
  /** Reports that a step failed. The worker pauses after it. */
  onError: (error: unknown) => void;
  pauseMs: number;
}): Worker {
  const { clock, step, onError, pauseMs } = deps;
  let isRunning = false;
  let isPausing = false;
  /** True if `wake` was called since the last step began. */
  let isWoken = false;
  let underWay: Promise<void> | null = null;
  let cancelTimer = () => {};

  /** Several calls within one iteration of the event loop lead to one step. */
  function wake(): void {
    isWoken = true;
    if (!isRunning || isPausing || underWay !== null) return;
    cancelTimer();
    underWay = run()
      .catch((error: unknown) => {
        onError(error);
        pause();
      })
      .finally(() => {
        underWay = null;
        if (isWoken) wake();
      });
  }

  /** Works until no work is left. */
  async function run(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      await nextIteration();
      if (!isRunning || isPausing) return;
      isWoken = false;
      const next = await step(isFirst);
      if (isPausing) return;
      if (isWoken || next === "more") continue;
      if (next !== null) sleep(next);
      return;
    }
  }

  function sleep(delayMs: number): void {
    cancelTimer();
    if (!isRunning) return;
    cancelTimer = clock.after(delayMs, () => {
      isPausing = false;
      wake();
    });
  }

  function pause(): void {
    isPausing = true;
    sleep(pauseMs);
  }

  async function idle(): Promise<void> {
    if (underWay === null) return;
    await underWay;
    await idle();
  }

  return {
    start() {
      isRunning = true;
      isPausing = false;
      wake();
    },
    wake,
    pause,
    isRunning: () => isRunning,
    isBusy: () => underWay !== null,
    idle,
    async stop() {
      isRunning = false;
      cancelTimer();
      await underWay;
    },
  };
}

/** Waits for work under way, at most `graceMs`. Resolves to true if it ended in this time. */
export async function endsWithin(
  clock: Clock,
  graceMs: number,
  work: Promise<unknown>,
): Promise<boolean> {
  const { promise: graceOver, resolve } = Promise.withResolvers<boolean>();
  const cancelGrace = clock.after(graceMs, () => resolve(false));
  const hasEnded = await Promise.race([work.then(() => true), graceOver]);
  cancelGrace();
  return hasEnded;
}
