/** Logs responses with status 503, at most one per second, because overload causes hundreds. */

import type { Log } from "../lib/log.ts";

const INTERVAL_MS = 1_000;

/** `elapsed` is monotonic time in milliseconds. */
export function createRefusalLog({ log, elapsed }: { log: Log; elapsed: () => number }) {
  let loggedAt = -Infinity;
  let notLogged = 0;
  return function logRefusal(requestId: string, reason: string): void {
    if (elapsed() - loggedAt < INTERVAL_MS) {
      notLogged++;
      return;
    }
    log.warn("refused", { requestId, reason, ...(notLogged === 0 ? {} : { notLogged }) });
    loggedAt = elapsed();
    notLogged = 0;
  };
}
