/** Runs the checks of the installation at most once a minute, when a user asks for them. */

import { type Clock, isoTimeOrNull } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { System } from "./model.ts";

type Findings = System["checks"]["findings"];

const INTERVAL_MS = 60_000;
/** Longest time for which a request waits for the checks. */
const WAIT_MS = 3_000;

export function createSystemChecks(deps: {
  clock: Clock;
  log: Log;
  run: () => Promise<Findings>;
}): () => Promise<System["checks"]> {
  const { clock, log, run } = deps;
  let findings: Findings = [];
  let checkedAt: number | null = null;
  /** Monotonic time at which the latest run began. */
  let beganAt = -Infinity;
  let running: Promise<void> | null = null;

  async function check(): Promise<void> {
    try {
      findings = await run();
      checkedAt = clock.now();
    } catch (error) {
      log.error("the checks of the installation failed", { error: describeError(error) });
    } finally {
      running = null;
    }
  }

  return async () => {
    if (running === null && clock.elapsed() - beganAt >= INTERVAL_MS) {
      beganAt = clock.elapsed();
      running = check();
    }
    if (running !== null) await within(running, clock);
    return { checkedAt: isoTimeOrNull(checkedAt), isRunning: running !== null, findings };
  };
}

/** Resolves when the work has ended, or after `WAIT_MS`. */
function within(work: Promise<void>, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(WAIT_MS, resolve);
  return Promise.race([work, promise]).finally(cancel);
}
