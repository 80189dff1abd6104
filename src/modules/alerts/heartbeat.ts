/**
 * The heartbeat: a request to the URL of a monitor while everything works. The monitor tells the operator
 * when the requests end, also if this machine is off. They end while the server is not ready, and while a
 * critical alert is open.
 */

import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { FetchRefused } from "../../protocols/fetch-guarded/refusal.ts";
import { openAlerts } from "./alert-rows.ts";

/** The timer of the minute may come a little early. */
const EARLY_MS = 5_000;
const MINUTE_MS = 60_000;
const MAX_BODY_BYTES = 2_000;

type HeartbeatState = {
  at: number;
  /** The reason why the latest request did not reach the monitor, or why there was none; null if it did. */
  failure: string | null;
};

/** `lastAt` is monotonic. */
type Heart = { lastAt: number; state: HeartbeatState | null };

const states = perApp((): Heart => ({ lastAt: -Infinity, state: null }));

export const heartbeatState = (app: App): HeartbeatState | null => states(app).state;

/** Called once a minute. `readObstacle` returns the reason for which the server is not ready. */
export async function beat(app: App, readObstacle: () => Promise<string | null>): Promise<void> {
  const { clock, config, log } = app;
  const known = states(app);
  if (config.heartbeatUrl === null) return;
  const isDue = clock.elapsed() - known.lastAt >= config.heartbeatMinutes * MINUTE_MS - EARLY_MS;
  if (!isDue) return;
  known.lastAt = clock.elapsed();
  const failure =
    (await findObstacle(app, readObstacle)) ?? (await request(app, config.heartbeatUrl));
  // The next minute tries again.
  if (failure !== null) known.lastAt = -Infinity;
  const before = known.state?.failure ?? null;
  known.state = { at: clock.now(), failure };
  if (failure !== null && before === null) log.warn("there is no heartbeat", { reason: failure });
  if (failure === null && before !== null) log.info("there is a heartbeat again");
}

async function findObstacle(
  app: App,
  readObstacle: () => Promise<string | null>,
): Promise<string | null> {
  const critical = openAlerts(app).find(({ severity }) => severity === "critical");
  return critical === undefined ? readObstacle() : `An alert is open: ${critical.title}`;
}

async function request(app: App, url: string): Promise<string | null> {
  try {
    const { status } = await app.fetchGuarded(url, { method: "GET", maxBodyBytes: MAX_BODY_BYTES });
    return status >= 200 && status < 300 ? null : `The monitor answered ${status}.`;
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    return error.message;
  }
}
