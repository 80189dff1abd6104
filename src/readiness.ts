/** Decides whether the process is ready for traffic, and collects its metrics. */

import type { App } from "./core/app.ts";
import type { ClockSteps } from "./clock-steps.ts";
import type { StorageFault } from "./db/fault.ts";
import { freeBytes } from "./db/folder.ts";
import { bodiesOf } from "./http/body.ts";
import type { Readiness } from "./http/health.ts";
import type { Metric } from "./lib/metrics.ts";
import { metricsOf } from "./metrics.ts";
import { readKnownUpdate } from "./modules/updates.ts";
import type { RecurringWork } from "./lib/recurring.ts";
import { beat } from "./modules/alerts/heartbeat.ts";
import { countOpenAlerts } from "./modules/alerts/alerts.ts";
import { queueHold } from "./outbox/queue-hold.ts";
import { serverCertificate } from "./tls/server-certificate.ts";
import type { Lane } from "./outbox/lane/lane.ts";

/** If due mail that nothing pauses does not move for this long, the process is not ready. */
const MAX_STALLED_MS = 60_000;
/** With less free space the process is not ready, because writes are about to fail. */
const MIN_FREE_BYTES = 16 * 1024 * 1024;
const FAULT_REASONS = {
  damaged: "The database is damaged.",
  displaced: "A file of the database was deleted, moved or replaced.",
} as const satisfies Record<StorageFault["kind"], string>;

export function createReadiness(
  app: App,
  parts: { lane: Lane; clockSteps: Pick<ClockSteps, "note"> },
) {
  const { db, folder, writer } = app;
  const { lane, clockSteps } = parts;

  function faultReason(): string | null {
    const fault = db.fault.current();
    return fault === null ? null : FAULT_REASONS[fault.kind];
  }

  /** The reason for which the process is not ready; null if only a write can tell. */
  function obstacle(): string | null {
    const fault = faultReason();
    if (fault !== null) return fault;
    if (!lane.isRunning()) return "The queue does not run.";
    const free = folder === null ? Infinity : freeBytes(folder);
    if (free === null) return "The data folder cannot be examined.";
    if (free < MIN_FREE_BYTES) return "The storage is full.";
    const stalledMs = lane.stalledMs();
    if (stalledMs < MAX_STALLED_MS) return null;
    return `Mail that is due has not moved for ${Math.round(stalledMs / 1000)} s.`;
  }

  return async function readiness(): Promise<Readiness> {
    writer.verifyFiles();
    const reason = obstacle();
    if (reason !== null) return { isReady: false, reason };
    // A real write shows whether the database accepts writes now.
    return writer.write(clockSteps.note).then(
      () => ({ isReady: true as const, isQueueHeld: queueHold(app).isHeld() }),
      () => ({
        isReady: false as const,
        reason: faultReason() ?? "The database does not take writes.",
      }),
    );
  };
}

/** Tells a monitor every few minutes that the server works (`--heartbeat-url`). */
export function heartbeatOf(app: App, readiness: () => Promise<Readiness>): RecurringWork[] {
  const readObstacle = async () => {
    const state = await readiness();
    return state.isReady ? null : state.reason;
  };
  return [{ name: "heartbeat", pattern: "7 * * * * *", run: () => beat(app, readObstacle) }];
}

export function createMetrics(app: App, lane: Lane) {
  const { clock, loopWatch, writer } = app;
  return function readMetrics(responses: ReadonlyMap<string, number>): Metric[] {
    return metricsOf({
      holds: loopWatch.report(),
      outcomes: lane.outcomes,
      responses,
      // After a storage fault no mail moves, and queries may fail.
      nextDueAt: writer.hasFault() ? null : lane.nextDueAt(),
      stalledMs: writer.hasFault() ? 0 : lane.stalledMs(),
      isStorageHealthy: writer.isHealthy(),
      bodyBytes: bodiesOf(app).takenBytes(),
      certificateEndsAt: serverCertificate(app).endsAt(),
      knownUpdate: writer.hasFault() ? null : (readKnownUpdate(app.db)?.version ?? null),
      alerts: writer.hasFault() ? new Map() : countOpenAlerts(app),
      now: clock.now(),
    });
  };
}
