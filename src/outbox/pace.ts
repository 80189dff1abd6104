/**
 * Limits how many mails start per second. A p-queue holds the waiting mails by priority. After each
 * start the pace asks the record of past starts when the next one is allowed, and pauses the queue until
 * then. All of it is measured by the monotonic clock, so a step of the wall clock changes nothing.
 */

import PQueue from "p-queue";
import type { Clock } from "../lib/clock.ts";

/** A task calls `ended` once, at its end. It must not throw. */
export type PacedTask = (ended: () => void) => void;

/** Starts a task as soon as the rate allows. Waiting tasks start by urgency, then by arrival. */
export type Pace = (task: PacedTask, urgency?: number) => void;

const SECOND_MS = 1000;
/**
 * The time between a start and the mail's arrival at the receiver varies. A start therefore counts
 * from the end of its task, but usually at most this share of the window later: this keeps the limit
 * at the receiver as well, and costs at most one percent of the rate.
 */
const GUARD = 0.01;
/**
 * A task that takes longer than usual counts by the difference, at most this share of the window: the
 * mails after it are on time, so that they would arrive too close to it.
 */
const LATE_GUARD = 0.1;
/** Weight of the latest task in the usual duration, if it took longer. */
const LONGER_WEIGHT = 0.05;
/** Starts are not spread by less than this, because timers are not precise enough. */
const MIN_SPREAD_MS = 5;

/**
 * A rate below 1 allows one mail every 1/rate seconds. Above 1 the rate is rounded down, because no
 * second can contain part of a mail.
 */
export function createPace({
  ratePerSecond,
  clock,
}: {
  ratePerSecond: number;
  clock: Clock;
}): Pace {
  const queue = new PQueue();
  const record = createStartRecord(ratePerSecond);

  /** A task that ends meanwhile, later than usual, prolongs the wait. */
  function continueAfter(waitMs: number): void {
    clock.after(waitMs, () => {
      const restMs = record.nextStartMs() - clock.elapsed();
      if (restMs > 0) continueAfter(restMs);
      else queue.start();
    });
  }

  /** The queue calls this at the moment of the start, and pauses before the next one if told to. */
  function start(task: PacedTask, ended: () => void): void {
    const startedMs = clock.elapsed();
    const noteEnd = record.noteStart(startedMs);
    const waitMs = record.nextStartMs() - startedMs;
    if (waitMs > 0) {
      queue.pause();
      continueAfter(waitMs);
    }
    task(() => {
      noteEnd(clock.elapsed());
      ended();
    });
  }

  return (task, urgency = 0) => {
    const run = () => new Promise<void>((ended) => start(task, ended));
    void queue.add(run, { priority: urgency });
  };
}

type StartRecord = {
  /** Records a start; the returned function records the end of the same task. */
  noteStart(startedMs: number): (endedMs: number) => void;
  /** The earliest moment of the next start, by the same monotonic clock. */
  nextStartMs(): number;
};

/**
 * The most recent starts in a ring of as many entries as the window allows: the next start replaces
 * the oldest entry, so it has to be a whole window later. The window is never shorter than a
 * second.
 */
function createStartRecord(ratePerSecond: number): StartRecord {
  const windowMs = Math.max(SECOND_MS, SECOND_MS / ratePerSecond);
  const guardMs = windowMs * GUARD;
  const lateGuardMs = windowMs * LATE_GUARD;
  const spreadMs = spreadFor(ratePerSecond);
  const ring = new Float64Array(Math.max(1, Math.floor(ratePerSecond))).fill(-Infinity);
  let oldest = 0;
  let latestMs = -Infinity;
  /** About the smallest duration of the latest tasks. */
  let usualMs = Infinity;

  /** The time after its start for which an ended task counts. */
  function lateBy(durationMs: number): number {
    const weight = durationMs < usualMs ? 1 : LONGER_WEIGHT;
    usualMs = usualMs === Infinity ? durationMs : usualMs + weight * (durationMs - usualMs);
    if (durationMs <= guardMs) return durationMs;
    const lateMs = usualMs <= guardMs ? durationMs : durationMs - usualMs;
    return Math.max(guardMs, Math.min(lateMs, lateGuardMs));
  }

  return {
    noteStart(startedMs) {
      const entry = oldest;
      ring[entry] = startedMs + guardMs;
      oldest = (oldest + 1) % ring.length;
      latestMs = startedMs;
      return (endedMs) => {
        const lateMs = lateBy(endedMs - startedMs);
        // Within the window the entry still belongs to this start.
        if (endedMs < startedMs + windowMs) ring[entry] = startedMs + lateMs;
      };
    },
    nextStartMs: () => Math.max(latestMs + spreadMs, (ring[oldest] ?? -Infinity) + windowMs),
  };
}

/**
 * Milliseconds between two starts, so that a burst takes half of its second. If all mails of a
 * second started at once, a burst that is delayed on its way would arrive together with the next
 * one.
 */
function spreadFor(ratePerSecond: number): number {
  const spreadMs = Math.floor(SECOND_MS / ratePerSecond / 2);
  return ratePerSecond > 1 && spreadMs >= MIN_SPREAD_MS ? spreadMs : 0;
}
