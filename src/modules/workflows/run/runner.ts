/**
 * The scheduler of workflows. It reads the event log with a durable position; due times are stored in
 * the rows of executions, and one timer waits for the earliest. It works in slices, and each slice is
 * one change: it starts and advances executions, enqueues their mails and stores the position.
 *
 * Order of the work for one contact: an event is handled after everything that was due before it; it
 * advances the executions that wait for it, then it starts new ones. A due execution waits while
 * the log has unread events of its contact. Therefore a delay of the runner does not change whether
 * an event or its timeout comes first.
 */

import type { App } from "../../../core/app.ts";
import { eventLog } from "../../../events/log.ts";
import { isStorageRefusal } from "../../../db/refusal.ts";
import { systemClock } from "../../../lib/clock.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import { queueHold } from "../../../outbox/queue-hold.ts";
import { createWorker } from "../../../lib/worker.ts";
import { endLeasesOfOldVersion, type WebhookCalls } from "../steps/webhook-calls.ts";
import { createLogPosition, type LogPositionDeps } from "./log-position.ts";
import { createSlice, type SliceDeps } from "./slice.ts";

const PAUSE_BETWEEN_MS = 6;
/** Longest wait of the timer. It is only a safeguard: new events and clock steps wake the runner. */
const LONGEST_SLEEP_MS = 30_000;
const PAUSE_AFTER_ERROR_MS = 1_000;
const STOP_GRACE_MS = 2_000;

type RunnerDeps = SliceDeps &
  LogPositionDeps & {
    app: App;
    log: Log;
    calls: WebhookCalls;
    /** Writes buffered events (opens and clicks) to the log. */
    flushEvents: () => Promise<void>;
  };

export function createWorkflowRunner(deps: RunnerDeps) {
  const { executionRows, calls, clock, log, writer } = deps;
  const position = createLogPosition(deps, (error) => {
    reportError(error);
    worker.pause();
  });
  const hold = queueHold(deps.app);
  hold.onReleased(() => {
    calls.wakeAll();
    worker.wake();
  });
  const runChange = createSlice(deps, position);
  const worker = createWorker({ clock, step, onError: reportError, pauseMs: PAUSE_AFTER_ERROR_MS });
  // Called within the change that records the event: if it is rolled back, the runner is not woken.
  eventLog(deps.app).onEvent(() => writer.afterCommit(worker.wake));
  /** Number of requested writes of the process after the last slice. */
  let writesBefore = 0;
  /** When the last step ended, by the monotonic clock. */
  let lastStepAt = -Infinity;

  /** Runs one slice. Returns the delay until work is due if none is left. */
  async function step(isFirst: boolean): Promise<"more" | number> {
    if (hold.isHeld()) return LONGEST_SLEEP_MS;
    // Several calls of wake within a short time lead to one run.
    const isSoon = systemClock.elapsed() - lastStepAt < PAUSE_BETWEEN_MS;
    if (isFirst && isSoon) await Bun.sleep(PAUSE_BETWEEN_MS);
    const isMore = await runSlice();
    lastStepAt = systemClock.elapsed();
    return isMore ? "more" : sleepMs();
  }

  /** Returns false if no work is left. */
  async function runSlice(): Promise<boolean> {
    const found = position.skipIrrelevant();
    const now = clock.now();
    if (found === "end" && !isAnythingDue(now)) return false;
    if (isDue("TIME", now)) await deps.flushEvents();
    const isWriterIdle = writer.requestedWrites() === writesBefore;
    if (!isWriterIdle) await Bun.sleep(PAUSE_BETWEEN_MS);
    const written = writer.write(() => worker.isRunning() && runChange(isWriterIdle));
    writesBefore = writer.requestedWrites();
    return written;
  }

  function isDue(kind: "TURN" | "TIME", now: number): boolean {
    const at = executionRows.earliestDueAt(kind);
    return at !== null && at <= now;
  }

  function isAnythingDue(now: number): boolean {
    return isDue("TURN", now) || isDue("TIME", now);
  }

  function sleepMs(): number {
    const at = executionRows.earliestDueAt("TIME");
    const delayMs = at === null ? LONGEST_SLEEP_MS : at - clock.now();
    return Math.max(0, Math.min(delayMs, LONGEST_SLEEP_MS));
  }

  function reportError(error: unknown): void {
    const fields = { error: describeError(error) };
    if (isStorageRefusal(error))
      log.warn("workflows wait because the database refuses writes", fields);
    else log.error("workflows could not be advanced", fields);
  }

  return {
    /** Starts a run. Called when an event was recorded or an execution may be due. */
    wake: worker.wake,

    async start(): Promise<void> {
      await writer.write(() => endLeasesOfOldVersion(deps.app));
      position.start();
      calls.start();
      worker.start();
    },

    /** For tests: resolves when no slice and no webhook call is under way. */
    async idle(): Promise<void> {
      do {
        await worker.idle();
        await calls.idle();
      } while (worker.isBusy() || calls.isBusy());
    },

    async stop(): Promise<void> {
      const ended = worker.stop();
      position.cancelTimer();
      await ended;
      await calls.stop(STOP_GRACE_MS);
      await writer.write(position.store);
    },
  };
}
