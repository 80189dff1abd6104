/** Work that runs at fixed intervals while the server runs. */

import { Cron } from "croner";

export type RecurringWork = {
  /** Name in the log and in the report of `mailstead doctor`. */
  name: string;
  /** Pattern of croner, with seconds. */
  pattern: string;
  run: () => Promise<unknown>;
};

/** The interval of a pattern in seconds. */
export function intervalOf(pattern: string): number {
  const [first, second] = new Cron(pattern).nextRuns(2);
  if (first === undefined || second === undefined) throw new Error(`${pattern} never recurs`);
  return (second.getTime() - first.getTime()) / 1000;
}

/** Starts a timer for each work. A run that is due while the previous one lasts is left out. */
export function startTimers(
  works: readonly RecurringWork[],
  on: { begin: (name: string) => void; error: (name: string, error: unknown) => void },
): Cron[] {
  return works.map(
    ({ name, pattern, run }) =>
      new Cron(pattern, { name: `${name} ${crypto.randomUUID()}`, protect: true }, async () => {
        on.begin(name);
        await run().catch((error: unknown) => on.error(name, error));
      }),
  );
}
