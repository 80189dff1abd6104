/**
 * Work that runs at fixed intervals while the server runs. The patterns are those of cron with a
 * field for seconds, of which only three forms are used. A package for all of cron reads the rules
 * of the local time zone, which takes 5 ms and 5 MiB at the start.
 */

import { type Clock, systemClock } from "./clock.ts";

export type RecurringWork = {
  /** Name in the log and in the report of `mailstead doctor`. */
  name: string;
  /** When it runs, in one of the forms below. */
  pattern: string;
  run: () => Promise<unknown>;
};

export type Timer = { stop(): void };

/** The work is due whenever the wall clock is a multiple of `everyMs` plus `offsetMs`. */
type Schedule = { everyMs: number; offsetMs: number };

// A pattern is `* * * * * *` (each second), `*/5 * * * * *` (each second that is a multiple of 5) or
// `17 * * * * *` (second 17 of each minute).
const PATTERN = /^(?:(\*)|\*\/(\d{1,2})|(\d{1,2})) \* \* \* \* \*$/;

/** Throws for a pattern of another form. */
function scheduleOf(pattern: string): Schedule {
  const [, each, step, second] = PATTERN.exec(pattern) ?? [];
  if (each !== undefined) return { everyMs: 1000, offsetMs: 0 };
  if (step !== undefined && 60 % Number(step) === 0) {
    return { everyMs: Number(step) * 1000, offsetMs: 0 };
  }
  if (second !== undefined && Number(second) < 60) {
    return { everyMs: 60_000, offsetMs: Number(second) * 1000 };
  }
  throw new Error(`${pattern} is not a pattern of recurring work`);
}

/** The interval of a pattern in seconds. */
export function intervalOf(pattern: string): number {
  return scheduleOf(pattern).everyMs / 1000;
}

/** Starts a timer for each work. A run that is due while the previous one lasts is left out. */
export function startTimers(
  works: readonly RecurringWork[],
  on: { begin: (name: string) => void; error: (name: string, error: unknown) => void },
  clock: Pick<Clock, "now" | "after"> = systemClock,
): Timer[] {
  return works.map(({ name, pattern, run }) => {
    let isRunning = false;
    async function runOnce(): Promise<void> {
      if (isRunning) return;
      isRunning = true;
      on.begin(name);
      await run().catch((error: unknown) => on.error(name, error));
      isRunning = false;
    }
    return startTimer(scheduleOf(pattern), clock, () => void runOnce());
  });
}

function startTimer(
  { everyMs, offsetMs }: Schedule,
  clock: Pick<Clock, "now" | "after">,
  run: () => void,
): Timer {
  let cancel = plan(clock.now());

  /** Plans the first due time after `from`. */
  function plan(from: number): () => void {
    const dueAt = (Math.floor((from - offsetMs) / everyMs) + 1) * everyMs + offsetMs;
    return clock.after(Math.max(0, dueAt - clock.now()), () => {
      const now = clock.now();
      // A timer may end a moment early by the wall clock; its due time must not come twice then.
      // The wall clock may also have been set back: then the next due time follows its new time.
      cancel = plan(now < dueAt && dueAt - now < everyMs ? dueAt : now);
      run();
    });
  }

  return { stop: () => cancel() };
}
