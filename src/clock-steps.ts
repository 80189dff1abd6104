/**
 * Adjusts stored times when the system clock is set. The application continues with the time from
 * before the step (lib/steady-clock.ts) until one change has moved the stored times and adopted the
 * new time:
 *
 * - If the clock was set back, all due times move back by the same amount. Due work stays due, and
 *   a retry or a delay of a workflow lasts as long as it would have lasted. Dates that users chose,
 *   such as the start of a campaign, do not change.
 * - If the clock was set forward, the step counts as time that has passed, as after a suspension of
 *   the machine, and due times do not change. Only times that an earlier step back has moved are
 *   moved forward again.
 *
 * A step that happens while no process runs is found at the next start, by comparison with the
 * latest time in the database.
 */

import type { Db } from "./db/open.ts";
import type { Writer } from "./db/writer.ts";
import type { Log } from "./lib/log.ts";
import { type DueShift, SMALLEST_STEP_MS, type SteadyClock } from "./lib/steady-clock.ts";

export type ClockSteps = ReturnType<typeof createClockSteps>;

/** Interval at which a running process stores the time in the database. */
const NOTE_INTERVAL_MS = 60_000;
/**
 * Shorter steps do not move lifetimes of hours, because the difference does not justify the writes.
 */
const MIN_LIFETIME_STEP_MS = 60_000;

export function createClockSteps(deps: {
  db: Pick<Db, "sqlite">;
  writer: Writer;
  clock: SteadyClock;
  log: Log;
  /** Functions that run in one change. Each moves the due times of one module. */
  dueTimes: readonly ((shift: DueShift) => void)[];
  /** Functions that run in one change. Each moves the times from which lifetimes of hours count. */
  lifetimes: readonly ((byMs: number) => void)[];
  /** Wakes all workers that sleep until a due time. */
  wake: () => void;
}) {
  const { writer, clock, log } = deps;
  const { sqlite } = deps.db;
  const latest = sqlite.prepare<{ at: number }, []>("SELECT at FROM readiness WHERE id = 1");
  const setLatest = sqlite.prepare<unknown, [number]>(
    "INSERT INTO readiness (id, at) VALUES (1, ?) ON CONFLICT DO UPDATE SET at = excluded.at",
  );
  /** Monotonic time of the last store, in milliseconds. */
  let notedMs = -Infinity;
  /** Total of the steps back in this process, less the steps forward that have reversed them. */
  let setBackMs = 0;

  /** Runs in a change and stores the time. This also proves that the database accepts writes. */
  function note(): void {
    setLatest.run(clock.now());
    notedMs = clock.elapsed();
  }

  /** Runs in a change and moves the stored times. Returns by how much the due times moved. */
  function move(stepMs: number): number {
    const byMs = stepMs < 0 ? stepMs : Math.min(stepMs, setBackMs);
    const now = clock.now();
    const shift = { byMs, after: Math.min(now, now - byMs) };
    if (byMs !== 0) for (const moveDue of deps.dueTimes) moveDue(shift);
    if (Math.abs(stepMs) >= MIN_LIFETIME_STEP_MS) {
      for (const moveStart of deps.lifetimes) moveStart(stepMs);
    }
    return byMs;
  }

  async function adoptStep(stepOf: () => number): Promise<void> {
    let undo = () => {};
    let stepMs = 0;
    let byMs = 0;
    try {
      await writer.write(() => {
        stepMs = stepOf();
        if (stepMs === 0) return;
        undo = clock.adopt();
        byMs = move(stepMs);
        note();
      });
    } catch (error) {
      undo();
      throw error;
    }
    if (stepMs === 0) return;
    setBackMs -= byMs;
    const seconds = Math.round(Math.abs(stepMs) / 1000);
    if (stepMs < 0) log.warn(`the system clock was set back by ${seconds} seconds`);
    else log.warn(`the system clock was set forward by ${seconds} seconds, or the machine slept`);
    deps.wake();
  }

  return {
    note,

    /**
     * Runs before all other work. It detects a clock that was set back since the latest stored
     * time.
     */
    async start(): Promise<void> {
      const stepMs = clock.now() - (latest.get()?.at ?? -Infinity);
      if (stepMs <= -SMALLEST_STEP_MS) await adoptStep(() => stepMs);
      else await writer.write(note);
    },

    /** Runs every second. It follows a step of the clock, and stores the time once a minute. */
    async check(): Promise<void> {
      if (clock.stepMs() !== 0) await adoptStep(clock.stepMs);
      else if (clock.elapsed() - notedMs >= NOTE_INTERVAL_MS) await writer.write(note);
    },
  };
}
