/**
 * The watchdog of the event loop. A timer fires every 20 ms; the time by which it is late is the
 * time for which one or more pieces of synchronous work held the loop. Code that begins a piece of
 * work calls `begin` with its name. When a hold is noticed, the piece that lasted longest is
 * logged. A timer is also late after the machine was suspended, or while other processes have the
 * processors; no work here is to blame then, so such a hold is counted and not logged.
 *
 * While the thread is idle, the timer fires every 100 ms, so that the process seldom wakes up. A
 * piece of work that begins then is timed from its beginning.
 */

import { systemClock } from "./clock.ts";
import { type Every, every } from "./intervals.ts";
import type { Log } from "./log.ts";
import { threadCpuMs } from "./thread-cpu.ts";

type WorkKind = "route" | "job" | "mail" | "write";

/** Counts since the start of the process; times in milliseconds. */
export type HoldReport = {
  /** Cumulative counts of holds by upper bound, as a Prometheus histogram needs them. */
  buckets: readonly { leMs: number; count: number }[];
  count: number;
  sumMs: number;
  /** Longest hold by own work in the last ten minutes. */
  recentMaxMs: number;
};

export type LoopWatch = {
  /** Records that a piece of work begins now. It counts as running until the next one begins. */
  begin(kind: WorkKind, name: string): void;
  report(): HoldReport;
  start(): void;
  stop(): void;
};

/** Functions of the platform that the watchdog uses; tests replace them. */
export type LoopWatchDeps = {
  log: Log;
  /** Monotonic milliseconds. */
  elapsed: () => number;
  /** Processor time of this thread in milliseconds. */
  cpuMs: () => number;
  every: Every;
  /** A hold that is longer than this is counted, and logged if it used as much processor time. */
  heldMs?: number;
  /** Later holds within this time are counted in the next line. */
  logIntervalMs?: number;
};

const TICK_MS = 20;
const IDLE_TICK_MS = 100;
/** The thread is idle if no work began since the last tick and it used less of the processor. */
const IDLE_SHARE = 0.05;
export const HELD_MS = 50;
/** It is not shorter, so that an attack cannot fill the log. */
const LOG_INTERVAL_MS = 5_000;
const BUCKETS_MS = [50, 100, 250, 500, 1_000, 5_000];
/** Marks that are remembered; a hold made of more pieces names the longest of the latest ones. */
const MARKS = 64;
/** The recent maximum is stored per minute for ten minutes. */
const RECENT_SLOTS = 10;
const RECENT_SLOT_MS = 60_000;

type Mark = { kind: WorkKind; name: string; at: number };

/** The platform's timers and counters. */
export function platformWatch(log: Log): LoopWatchDeps {
  return { log, elapsed: systemClock.elapsed, cpuMs: threadCpuMs, every };
}

export function createLoopWatch(deps: LoopWatchDeps): LoopWatch {
  const { log, elapsed, cpuMs, every, heldMs: limitMs = HELD_MS } = deps;
  const { logIntervalMs = LOG_INTERVAL_MS } = deps;
  const marks: Mark[] = [];
  let nextMark = 0;
  let tickedAt = 0;
  let cpuAtTick = 0;
  /** Interval of the timer; 0 while there is none. */
  let tickMs = 0;
  let cancel = (): void => {};
  let hasWorkBegun = false;
  const counts = BUCKETS_MS.map(() => 0);
  let count = 0;
  let sumMs = 0;
  let loggedAt = -Infinity;
  let unlogged = 0;
  const recent = createRecentMaximum();

  function tick(): void {
    const now = elapsed();
    const passedMs = now - tickedAt;
    const cpu = cpuMs();
    const usedCpuMs = cpu - cpuAtTick;
    if (passedMs - tickMs > limitMs) noteHold(now, passedMs - tickMs, usedCpuMs);
    const isIdle = !hasWorkBegun && usedCpuMs < IDLE_SHARE * passedMs;
    tickedAt = now;
    cpuAtTick = cpu;
    hasWorkBegun = false;
    tickEvery(isIdle ? IDLE_TICK_MS : TICK_MS);
  }

  function tickEvery(ms: number): void {
    if (ms === tickMs) return;
    cancel();
    cancel = every(ms, tick);
    tickMs = ms;
  }

  function noteHold(now: number, heldMs: number, usedCpuMs: number): void {
    count++;
    sumMs += heldMs;
    BUCKETS_MS.forEach((bound, i) => {
      if (heldMs <= bound) counts[i] = (counts[i] ?? 0) + 1;
    });
    if (usedCpuMs <= limitMs) {
      log.debug("the machine held the event loop", {
        ms: Math.round(heldMs),
        cpuMs: Math.round(usedCpuMs),
      });
      return;
    }
    recent.note(now, heldMs);
    if (now - loggedAt < logIntervalMs) {
      unlogged++;
      return;
    }
    const longest = longestPiece(marks, tickedAt, now);
    log.warn("event loop held", {
      ms: Math.round(heldMs),
      // The rest of the time other processes or the disk had the machine.
      cpuMs: Math.round(usedCpuMs),
      ...(longest === null ? {} : { [longest.kind]: longest.name, workMs: longest.ms }),
      ...(unlogged === 0 ? {} : { holdsNotLogged: unlogged }),
    });
    loggedAt = now;
    unlogged = 0;
  }

  return {
    begin(kind, name) {
      if (tickMs === IDLE_TICK_MS) {
        tick();
        tickEvery(TICK_MS);
      }
      hasWorkBegun = true;
      const mark = { kind, name, at: elapsed() };
      marks[nextMark] = mark;
      nextMark = (nextMark + 1) % MARKS;
    },
    report: () => ({
      buckets: BUCKETS_MS.map((leMs, i) => ({ leMs, count: counts[i] ?? 0 })),
      count,
      sumMs,
      recentMaxMs: recent.maximum(elapsed()),
    }),
    start() {
      tickedAt = elapsed();
      cpuAtTick = cpuMs();
      tickEvery(TICK_MS);
    },
    stop() {
      cancel();
      tickMs = 0;
    },
  };
}

/** The piece of work that took most of the time between two ticks. */
function longestPiece(
  marks: readonly Mark[],
  from: number,
  until: number,
): { kind: WorkKind; name: string; ms: number } | null {
  const ordered = marks.toSorted((a, b) => a.at - b.at);
  const pieces = ordered.map(({ kind, name, at }, i) => {
    const endsAt = ordered[i + 1]?.at ?? until;
    return { kind, name, ms: Math.round(Math.min(endsAt, until) - Math.max(at, from)) };
  });
  return pieces.reduce<(typeof pieces)[number] | null>(
    (longest, piece) => (piece.ms > (longest?.ms ?? 0) ? piece : longest),
    null,
  );
}

/** The largest value of the last ten minutes, to the minute. */
function createRecentMaximum() {
  const slots = Array.from({ length: RECENT_SLOTS }, () => ({ minute: -1, value: 0 }));
  return {
    note(now: number, value: number): void {
      const minute = Math.floor(now / RECENT_SLOT_MS);
      const slot = slots[minute % RECENT_SLOTS];
      if (slot === undefined) return;
      slot.value = slot.minute === minute ? Math.max(slot.value, value) : value;
      slot.minute = minute;
    },
    maximum(now: number): number {
      const oldest = Math.floor(now / RECENT_SLOT_MS) - RECENT_SLOTS;
      return Math.max(0, ...slots.filter((s) => s.minute > oldest).map((s) => s.value));
    },
  };
}
