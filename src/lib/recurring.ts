/**
 * Work that runs at fixed intervals while the server runs. The timers are those of croner, which is
 * loaded half a second after the start, so that the server is ready before.
 */

import { systemTimeZone } from "./time-zone.ts";

export type RecurringWork = {
  /** Name in the log and in the report of `mailstead doctor`. */
  name: string;
  /** Pattern of croner, with seconds. */
  pattern: string;
  /** The pattern has a time of day that the operator has chosen, in the time zone of the system. */
  isLocal?: true;
  run: () => Promise<unknown>;
};

export type Timers = { stop(): void };

/** No work is due so soon after the start that this delay matters. */
const LOAD_AFTER_MS = 500;

/** The interval of a pattern in seconds. */
export async function intervalOf(pattern: string): Promise<number> {
  const { Cron } = await import("croner");
  const [first, second] = new Cron(pattern).nextRuns(2);
  if (first === undefined || second === undefined) throw new Error(`${pattern} never recurs`);
  return (second.getTime() - first.getTime()) / 1000;
}

/** Starts a timer for each work. A run that is due while the previous one lasts is left out. */
export function startTimers(
  works: readonly RecurringWork[],
  on: { begin: (name: string) => void; error: (name: string, error: unknown) => void },
): Timers {
  let timers: readonly Timers[] = [];
  let isStopped = false;

  async function start(): Promise<void> {
    const { Cron } = await import("croner");
    if (isStopped) return;
    timers = works.map(({ name, pattern, isLocal, run }) => {
      const options = {
        name: `${name} ${crypto.randomUUID()}`,
        protect: true,
        ...(isLocal && { timezone: systemTimeZone() }),
      };
      return new Cron(pattern, options, async () => {
        on.begin(name);
        await run().catch((error: unknown) => on.error(name, error));
      });
    });
  }

  const loading = setTimeout(() => {
    start().catch((error: unknown) => on.error("timers", error));
  }, LOAD_AFTER_MS);
  return {
    stop() {
      isStopped = true;
      clearTimeout(loading);
      for (const timer of timers) timer.stop();
    },
  };
}
