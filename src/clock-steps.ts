/**
 * What happens when the system clock is set. The application goes on by the time from before the step
 * (lib/steady-clock.ts) until one change has moved the stored times and adopted the new time:
 *
 * - Set back: all due times move back with the clock. What was due stays due, and what waits (a
 *   retry, a delay of a workflow) waits as long as it would have waited. Dates that people chose,
 *   such as the start of a campaign, stay as they are.
 * - Set forward: this counts as time that has passed, as after the machine was suspended, and due
 *   times stay. Only what an earlier step back has moved is moved forward again.
 *
 * A step that happens while no process runs is found at the start, by the latest time that the
 * database has seen.
 */

import type { Db } from "./db/open.ts";
import type { Writer } from "./db/writer.ts";
import type { Log } from "./lib/log.ts";
import { type DueShift, SMALLEST_STEP_MS, type SteadyClock } from "./lib/steady-clock.ts";

export type ClockSteps = ReturnType<typeof createClockSteps>;

/** How far behind the latest time in the database may be while the process runs. */
const NOTE_INTERVAL_MS = 60_000;
/** Shorter steps are nothing to lifetimes of hours, and moving their rows takes time. */
const LEAST_OF_A_LIFETIME_MS = 60_000;

export function createClockSteps(deps: {
  db: Pick<Db, "sqlite">;
  writer: Writer;
  clock: SteadyClock;
  log: Log;
  /** Parts of a change: each moves the due times of its owner. */
  dueTimes: readonly ((shift: DueShift) => void)[];
  /** Parts of a change: each moves the times from which lifetimes of hours are counted. */
  lifetimes: readonly ((byMs: number) => void)[];
  /** Wakes everything that sleeps until a due time. */
  wake: () => void;
}) {
  const { writer, clock, log } = deps;
  const { sqlite } = deps.db;
  const latest = sqlite.prepare<{ at: number }, []>("SELECT at FROM readiness WHERE id = 1");
  const setLatest = sqlite.prepare<unknown, [number]>(
    "INSERT INTO readiness (id, at) VALUES (1, ?) ON CONFLICT DO UPDATE SET at = excluded.at",
  );
  /** When the latest time was stored, in monotonic milliseconds. */
  let notedMs = -Infinity;
  /** How far the clock was set back in this process and not set forward again. */
  let setBackMs = 0;

  /** Part of a change: stores the time, which also proves that the storage takes writes. */
  function note(): void {
    setLatest.run(clock.now());
    notedMs = clock.elapsed();
  }

  /** Part of a change. Returns how far due times moved. */
  function move(stepMs: number): number {
    const byMs = stepMs < 0 ? stepMs : Math.min(stepMs, setBackMs);
    const now = clock.now();
    const shift = { byMs, after: Math.min(now, now - byMs) };
    if (byMs !== 0) for (const moveDue of deps.dueTimes) moveDue(shift);
    if (Math.abs(stepMs) >= LEAST_OF_A_LIFETIME_MS) {
      for (const moveStart of deps.lifetimes) moveStart(stepMs);
    }
    return byMs;
  }

  async function follow(stepOf: () => number): Promise<void> {
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

    /** Before anything else runs: finds a clock that was set back since the latest stored time. */
    async start(): Promise<void> {
      const stepMs = clock.now() - (latest.get()?.at ?? -Infinity);
      if (stepMs <= -SMALLEST_STEP_MS) await follow(() => stepMs);
      else await writer.write(note);
    },

    /** Recurring work: follows a step of the clock, and stores the time now and then. */
    async check(): Promise<void> {
      if (clock.stepMs() !== 0) await follow(clock.stepMs);
      else if (clock.elapsed() - notedMs >= NOTE_INTERVAL_MS) await writer.write(note);
    },
  };
}
