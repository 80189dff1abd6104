/**
 * One slice of the work of the runner: it handles events and advances due executions, for a few
 * milliseconds.
 */

import type { ContactEvents } from "../../../events/contact-events.ts";
import type { LoggedEvent, Reader } from "../../../events/reader.ts";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import { parseData } from "../../contacts/data.ts";
import type { Advancer, HasTime } from "./advance.ts";
import type { ExecutionEvent } from "./engine.ts";
import { eventTime, isAnyOverdue } from "./event-order.ts";
import type { Execution, ExecutionRows } from "./execution-rows.ts";
import type { LogPosition } from "./log-position.ts";
import type { StartableWorkflow, Triggers } from "./triggers.ts";

/** Duration of one change. It is shorter, with a pause before, if there were other writes. */
const SLICE_TIME_MS = { idle: 10, busy: 4 } as const;
/** Fraction of a slice for events. Due executions get the rest, so that both make progress. */
const EVENTS_SHARE = 0.6;
/** About the number of events that a slice can handle. */
const EVENTS_PER_SLICE = { idle: 60, busy: 25 } as const;
const DUE_PER_SLICE = 200;

export type SliceDeps = {
  executionRows: ExecutionRows;
  clock: Clock;
  advancer: Advancer;
  eventsOfContact: Pick<ContactEvents, "hasSince">;
  reader: Reader;
  triggers: Triggers;
  triggered: (projectSeq: number, eventName: string) => readonly StartableWorkflow[];
};

export function createSlice(deps: SliceDeps, position: Pick<LogPosition, "current" | "advance">) {
  const { executionRows, clock, advancer, reader, triggers } = deps;
  return run;

  /**
   * Runs one slice, as one change. `isWriterIdle` is true if no other part of the process has
   * written since the last slice. Returns true if more work is due.
   */
  function run(isWriterIdle: boolean): boolean {
    const startedAt = systemClock.elapsed();
    const load = isWriterIdle ? "idle" : "busy";
    const sliceMs = SLICE_TIME_MS[load];
    const hasTimeFor = (ms: number) => () => systemClock.elapsed() - startedAt < ms;
    const { isAtEnd, readUpTo } = handleEvents(
      EVENTS_PER_SLICE[load],
      hasTimeFor(EVENTS_SHARE * sliceMs),
    );
    const isAllDone = advanceDue(hasTimeFor(sliceMs), isAtEnd ? null : readUpTo);
    return !isAtEnd || !isAllDone;
  }

  function handleEvents(page: number, hasTime: HasTime): { isAtEnd: boolean; readUpTo: number } {
    const from = position.current();
    const events = reader.read(page, from);
    let readUpTo = from;
    let isAtEnd = events.length < page;
    for (const event of events) {
      if ((readUpTo > from && !hasTime()) || !handle(event, hasTime)) {
        isAtEnd = false;
        break;
      }
      readUpTo = event.seq;
    }
    if (readUpTo > from) position.advance(readUpTo);
    return { isAtEnd, readUpTo };
  }

  /** Returns false if earlier work of the contact needs another slice: its event has to wait. */
  function handle(event: LoggedEvent, hasTime: HasTime): boolean {
    const { contactSeq, projectSeq, name } = event;
    if (contactSeq === null) return true;
    const at = eventTime(clock, event.createdAt);
    if (!advanceOverdue(contactSeq, at, hasTime)) return false;
    const now = clock.now();
    for (const { execution, reason } of executionRows.exiting(projectSeq, name, contactSeq)) {
      // An execution that a request started has no event, so the times are compared.
      if (execution.progress.eventSeq === null && at < execution.startedAt) continue;
      advancer.advance(execution, { occurrence: { kind: "exit", reason }, now, hasTime });
    }
    const startableWorkflows = deps.triggered(projectSeq, name);
    if (startableWorkflows.length === 0 && !executionRows.isAwaited(contactSeq, name)) return true;
    const happened = executionEventOf(event, at);
    for (const execution of executionRows.awaiting(contactSeq, name)) {
      advancer.advance(execution, { occurrence: { kind: "event", event: happened }, now, hasTime });
    }
    for (const workflow of startableWorkflows) {
      const execution = triggers.startByEvent(workflow, { contactSeq, event: happened, now });
      if (execution?.progress.dueFor !== "TURN") continue;
      advancer.advance(execution, { occurrence: null, now, hasTime });
    }
    return true;
  }

  /** Advances the executions of a contact that were due at `at`. Returns false if some are left. */
  function advanceOverdue(contactSeq: number, at: number, hasTime: HasTime): boolean {
    if (!isAnyOverdue(executionRows, at)) return true;
    for (const execution of executionRows.overdueOf(contactSeq, at))
      advanceDueExecution(execution, hasTime);
    return executionRows.overdueOf(contactSeq, at).length === 0;
  }

  function advanceDueExecution(execution: Execution, hasTime: HasTime): void {
    const occurrence = execution.progress.dueFor === "TIME" ? { kind: "time" as const } : null;
    advancer.advance(execution, { occurrence, now: clock.now(), hasTime });
  }

  /**
   * Advances due executions. `readUpTo` is null if the log was read to its end; otherwise executions
   * whose contact has unread events wait for them. Returns true if no due execution is left.
   */
  function advanceDue(hasTime: HasTime, readUpTo: number | null): boolean {
    const now = clock.now();
    const due = [
      ...executionRows.due("TURN", Number.MAX_SAFE_INTEGER, DUE_PER_SLICE),
      ...executionRows.due("TIME", now, DUE_PER_SLICE),
    ];
    for (const [done, execution] of due.entries()) {
      if (done > 0 && !hasTime()) return false;
      if (readUpTo === null || !hasUnreadEvents(execution, readUpTo))
        advanceDueExecution(execution, hasTime);
    }
    return due.length < DUE_PER_SLICE && executionRows.earliestDueAt("TURN") === null;
  }

  function hasUnreadEvents({ contactSeq }: Execution, readUpTo: number): boolean {
    return contactSeq !== null && deps.eventsOfContact.hasSince(contactSeq, readUpTo);
  }
}

function executionEventOf({ seq, name, data }: LoggedEvent, at: number): ExecutionEvent {
  return { seq, name, data: data === null ? {} : parseData(data), at };
}
