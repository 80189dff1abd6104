/** The order of the events of a contact and the due times of its executions. */

import type { Clock } from "../../../lib/clock.ts";
import type { ExecutionRows } from "./execution-rows.ts";

/** The time of an event, at most now: it is later only if the clock was set back after the event. */
export function eventTime(clock: Pick<Clock, "now">, createdAt: number): number {
  return Math.min(createdAt, clock.now());
}

/** Whether any execution was due at `at`. This is a fast check, because usually none is. */
export function isAnyOverdue(rows: Pick<ExecutionRows, "earliestDueAt">, at: number): boolean {
  return rows.earliestDueAt("TURN") !== null || (rows.earliestDueAt("TIME") ?? Infinity) <= at;
}
