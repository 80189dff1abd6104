/** Work that runs at fixed intervals while the server runs. */

import { type Clock, systemClock } from "./clock.ts";

export type RecurringWork = {
  /** Name in the log and in the report of `mailstead doctor`. */
  name: string;
  /**
   * When the work is due, in the form of cron with seconds: the first two fields are the second and
   * the minute, where an asterisk stands for all and "*" with "/n" for each n-th second. The other
   * fields are asterisks.
   */
  pattern: string;
  run: () => Promise<unknown>;
};

/** Moments `offset` seconds after each multiple of `everySeconds`. */
type Period = { everySeconds: number; offset: number };

/** The interval of a pattern in seconds. */
export function intervalOf(pattern: string): number {
  return periodOf(pattern).everySeconds;
}

function periodOf(pattern: string): Period {
  const [, second = "", minute = ""] = /^(\S+) (\S+) \* \* \* \*$/.exec(pattern) ?? [];
  const step = second === "*" ? 1 : Number(/^\*\/([1-9]\d*)$/.exec(second)?.[1]);
  if (minute === "*" && 60 % step === 0) return { everySeconds: step, offset: 0 };
  if (!isBelowSixty(second) || !(minute === "*" || isBelowSixty(minute))) {
    throw new Error(`${pattern} is not a pattern of recurring work`);
  }
  return minute === "*"
    ? { everySeconds: 60, offset: Number(second) }
    : { everySeconds: 3600, offset: Number(minute) * 60 + Number(second) };
}

function isBelowSixty(text: string): boolean {
  return /^[0-5]?\d$/.test(text);
}

/**
 * Runs each work when it is due, until the returned timers are stopped. A run that is due while the
 * previous one lasts is left out, and one timer serves all works.
 */
export function startTimers(
  works: readonly RecurringWork[],
  on: { begin: (name: string) => void; error: (name: string, error: unknown) => void },
  clock: Clock = systemClock,
): Timers {
  const periods = works.map((work) => ({ work, period: periodOf(work.pattern) }));
  const running = new Set<RecurringWork>();
  let checkedAt = secondOf(clock);
  let cancel = scheduleCheck();

  /** The next check is at the next full second. */
  function scheduleCheck(): () => void {
    return clock.after(1000 - (clock.now() % 1000), check);
  }

  function check(): void {
    const now = secondOf(clock);
    const due = periods.filter(({ period }) => isDue(period, checkedAt, now));
    checkedAt = now;
    cancel = scheduleCheck();
    for (const { work } of due) if (!running.has(work)) void run(work);
  }

  async function run(work: RecurringWork): Promise<void> {
    running.add(work);
    on.begin(work.name);
    try {
      await work.run();
    } catch (error) {
      on.error(work.name, error);
    } finally {
      running.delete(work);
    }
  }

  return { stop: () => cancel() };
}

export type Timers = { stop(): void };

function secondOf({ now }: Clock): number {
  return Math.floor(now() / 1000);
}

/** Whether one of the moments is after `from` and not after `until`. */
function isDue({ everySeconds, offset }: Period, from: number, until: number): boolean {
  return Math.floor((until - offset) / everySeconds) > Math.floor((from - offset) / everySeconds);
}
