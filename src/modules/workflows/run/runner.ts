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

import { isStorageRefusal } from "../../../db/refusal.ts";
import type { Writer } from "../../../db/writer.ts";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { DueShift } from "../../../lib/steady-clock.ts";
import type { Db } from "../../../db/open.ts";
import { DUE_FOR, type DueFor } from "../../../db/schema/workflows.ts";
import { parseData } from "../../contacts/data.ts";
import type { ContactEvents } from "../../../events/contact-events.ts";
import type { LoggedEvent, Reader } from "../../../events/reader.ts";
import type { ExecutionRows, Execution } from "./execution-rows.ts";
import type { WebhookCall, WebhookCalls } from "../steps/webhook-calls.ts";
import type { Advancer, HasTime } from "./advance.ts";
import type { ExecutionEvent } from "./engine.ts";
import type { StartableWorkflow, Triggers } from "./triggers.ts";

export type WorkflowRunner = ReturnType<typeof createWorkflowRunner>;

/** Duration of one change. It is shorter, with a pause before, if there were other writes. */
const SLICE_TIME_MS = { idle: 10, busy: 4 } as const;
/** Fraction of a slice for events. Due executions get the rest, so that both make progress. */
const EVENTS_SHARE = 0.6;
const SCAN_MS = 5;
const PAUSE_BETWEEN_MS = 6;
/** About the number of events that a slice can handle. */
const EVENTS_PER_SLICE = { idle: 60, busy: 25 } as const;
/** Events read at once in the search for a relevant one. The number doubles while none is found. */
const SCAN_PAGE = { first: 10, most: 200 } as const;
const DUE_PER_SLICE = 200;
/** Longest wait of the timer. It is only a safeguard: new events and clock steps wake the runner. */
const LONGEST_SLEEP_MS = 30_000;
/** Delay before the position after skipped events is stored, to save writes. */
const STORE_POSITION_AFTER_MS = 1_000;
const PAUSE_AFTER_ERROR_MS = 1_000;
const STOP_GRACE_MS = 2_000;

type Slice = { isMore: boolean; leased: WebhookCall[] };

const EMPTY_SLICE: Slice = { isMore: false, leased: [] };

export function createWorkflowRunner(deps: {
  db: Pick<Db, "sqlite">;
  executionRows: ExecutionRows;
  calls: WebhookCalls;
  clock: Clock;
  advancer: Advancer;
  eventsOfContact: Pick<ContactEvents, "hasSince">;
  log: Log;
  reader: Reader;
  triggers: Triggers;
  triggered: (projectSeq: number, eventName: string) => readonly StartableWorkflow[];
  /** Writes buffered events (opens and clicks) to the log. */
  flushEvents: () => Promise<void>;
  writer: Writer;
}) {
  const { executionRows, calls, clock, advancer, log, reader, triggers, writer } = deps;
  const lastSeq = deps.db.sqlite.prepare<{ seq: number | null }, []>(
    "SELECT max(seq) AS seq FROM events",
  );
  let isRunning = false;
  /** True if `wake` was called since the last slice began. */
  let isWoken = false;
  let underWay: Promise<void> | null = null;
  let cancelTimer = () => {};
  /** All events up to this `seq` are handled or irrelevant; at or after the stored position. */
  let position = 0;
  let isPositionUnstored = false;
  /** Number of requested writes of the process after the last slice. */
  let writesBefore = 0;
  /** True if no other part of the process has written since the last slice. */
  let isWriterIdle = true;
  /** When the last run ended, by the monotonic clock. */
  let lastRunAt = -Infinity;
  let cancelStoreTimer: (() => void) | null = null;

  function wake(): void {
    if (!isRunning) return;
    isWoken = true;
    underWay ??= run().finally(() => {
      underWay = null;
      if (isWoken) wake();
    });
  }

  /** Runs slices until no work is left. */
  async function run(): Promise<void> {
    cancelTimer();
    try {
      // Several calls of wake within a short time lead to one run.
      if (systemClock.elapsed() - lastRunAt < PAUSE_BETWEEN_MS) await Bun.sleep(PAUSE_BETWEEN_MS);
      else await yieldToLoop();
      while (await runSlice());
      lastRunAt = systemClock.elapsed();
      startTimer();
    } catch (error) {
      pauseAfter(error);
    }
  }

  /** Returns false if no work is left. */
  async function runSlice(): Promise<boolean> {
    if (!isRunning) return false;
    isWoken = false;
    const found = skipIrrelevantEvents();
    const now = clock.now();
    if (found === "end" && !isAnythingDue(now)) return isWoken;
    if (isDue("TIME", now)) await deps.flushEvents();
    isWriterIdle = writer.requestedWrites() === writesBefore;
    if (!isWriterIdle) await Bun.sleep(PAUSE_BETWEEN_MS);
    const written = writer.write(() => (isRunning ? slice() : EMPTY_SLICE));
    writesBefore = writer.requestedWrites();
    const { isMore, leased } = await written;
    calls.start(leased);
    return isMore || isWoken;
  }

  /** Skips events that concern no workflow, without a write. */
  function skipIrrelevantEvents(): "end" | "something" {
    const endsAt = systemClock.elapsed() + SCAN_MS;
    // An overdue execution may begin to wait for an event that is already in the log.
    if (!executionRows.isAnyEventNeeded() && !isAnyOverdue(clock.now()))
      skipTo(lastSeq.get()?.seq ?? 0);
    let page: number = SCAN_PAGE.first;
    for (;;) {
      const events = reader.read(page, position);
      const relevant = events.findIndex(isRelevant);
      const lastSkipped = relevant === -1 ? events.at(-1) : events[relevant - 1];
      if (lastSkipped !== undefined) skipTo(lastSkipped.seq);
      if (relevant === -1 && events.length < page) return "end";
      // The write of the next slice yields to other work of the event loop.
      if (relevant !== -1 || systemClock.elapsed() > endsAt) return "something";
      page = Math.min(2 * page, SCAN_PAGE.most);
    }
  }

  /**
   * An event is relevant if a workflow or execution needs it, or if an execution of its contact was
   * due before it: that execution may begin to wait for this event.
   */
  function isRelevant({ projectSeq, name, contactSeq, createdAt }: LoggedEvent): boolean {
    if (contactSeq === null) return false;
    const at = timeOf(createdAt);
    return (
      deps.triggered(projectSeq, name).length > 0 ||
      executionRows.isAwaited(contactSeq, name) ||
      (isAnyOverdue(at) && executionRows.overdueOf(contactSeq, at).length > 0)
    );
  }

  /** The time of an event, at most now: it is later only if the clock was set back after the event. */
  function timeOf(createdAt: number): number {
    return Math.min(createdAt, clock.now());
  }

  function skipTo(seq: number): void {
    if (seq <= position) return;
    position = seq;
    isPositionUnstored = true;
    cancelStoreTimer ??= clock.after(STORE_POSITION_AFTER_MS, () => {
      cancelStoreTimer = null;
      void writer.write(storePosition).catch((error: unknown) => pauseAfter(error));
    });
  }

  function storePosition(): void {
    if (isPositionUnstored) reader.advance(position);
    writer.afterCommit(() => {
      isPositionUnstored = false;
    });
  }

  function isDue(kind: DueFor, now: number): boolean {
    const at = executionRows.earliestDueAt(kind);
    return at !== null && at <= now;
  }

  function isAnythingDue(now: number): boolean {
    return DUE_FOR.some((kind) => isDue(kind, now) && (kind !== "CALL" || calls.canLease(now)));
  }

  /** Runs one slice, as one change. */
  function slice(): Slice {
    const startedAt = systemClock.elapsed();
    const sliceMs = isWriterIdle ? SLICE_TIME_MS.idle : SLICE_TIME_MS.busy;
    const hasTimeFor = (ms: number) => () => systemClock.elapsed() - startedAt < ms;
    const { isAtEnd, readUpTo } = handleEvents(hasTimeFor(EVENTS_SHARE * sliceMs));
    const isAllDone = advanceDue(hasTimeFor(sliceMs), isAtEnd ? null : readUpTo);
    const now = clock.now();
    calls.requeueExpired(now);
    const { leased, isCut } = calls.lease(now, hasTimeFor(sliceMs));
    return { isMore: !isAtEnd || !isAllDone || isCut, leased };
  }

  function handleEvents(hasTime: HasTime): { isAtEnd: boolean; readUpTo: number } {
    const from = position;
    const page = isWriterIdle ? EVENTS_PER_SLICE.idle : EVENTS_PER_SLICE.busy;
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
    if (readUpTo > from) {
      reader.advance(readUpTo);
      // If the change is rolled back, the events are read again.
      writer.afterCommit(() => {
        position = Math.max(position, readUpTo);
      });
    }
    return { isAtEnd, readUpTo };
  }

  /** Returns false if earlier work of the contact needs another slice: its event has to wait. */
  function handle(event: LoggedEvent, hasTime: HasTime): boolean {
    const { contactSeq, projectSeq, name } = event;
    if (contactSeq === null) return true;
    const at = timeOf(event.createdAt);
    if (!advanceOverdue(contactSeq, at, hasTime)) return false;
    const startableWorkflows = deps.triggered(projectSeq, name);
    if (startableWorkflows.length === 0 && !executionRows.isAwaited(contactSeq, name)) return true;
    const now = clock.now();
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
    if (!isAnyOverdue(at)) return true;
    for (const execution of executionRows.overdueOf(contactSeq, at))
      advanceDueExecution(execution, hasTime);
    return executionRows.overdueOf(contactSeq, at).length === 0;
  }

  /** Whether any execution was due at `at`. This is a fast check, because usually none is. */
  function isAnyOverdue(at: number): boolean {
    return (
      executionRows.earliestDueAt("TURN") !== null ||
      (executionRows.earliestDueAt("TIME") ?? Infinity) <= at
    );
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

  function startTimer(): void {
    cancelTimer();
    if (!isRunning) return;
    const now = clock.now();
    const times = [executionRows.earliestDueAt("TIME"), executionRows.nextCallAt(now)].filter(
      (at) => at !== null,
    );
    const delay = Math.min(...times.map((at) => at - now), LONGEST_SLEEP_MS);
    cancelTimer = clock.after(Math.max(0, delay), wake);
  }

  function pauseAfter(error: unknown): void {
    if (isStorageRefusal(error)) {
      log.warn("workflows wait because the database refuses writes", {
        error: describeError(error),
      });
    } else log.error("workflows could not be advanced", { error: describeError(error) });
    cancelTimer();
    isWoken = false;
    if (isRunning) cancelTimer = clock.after(PAUSE_AFTER_ERROR_MS, wake);
  }

  return {
    /** Starts a run. Called when an event was recorded or an execution may be due. */
    wake,

    /** Part of a change: moves due times after the clock was set. */
    shift: (shift: DueShift): void => executionRows.shift(shift, calls.executionsUnderWay()),

    async start(): Promise<void> {
      const returned = await writer.write(() => calls.requeueAll(clock.now()));
      if (returned > 0)
        log.info("webhook calls that an earlier process left under way are repeated", { returned });
      position = reader.place();
      isRunning = true;
      wake();
    },

    /** For tests: resolves when no slice and no webhook call is under way. */
    async idle(): Promise<void> {
      for (;;) {
        await underWay;
        await calls.ended();
        if (underWay === null && calls.underWay() === 0) return;
      }
    },

    async stop(): Promise<void> {
      isRunning = false;
      cancelTimer();
      cancelStoreTimer?.();
      cancelStoreTimer = null;
      await underWay;
      await calls.stop(STOP_GRACE_MS);
      await writer.write(storePosition);
    },
  };
}

function executionEventOf({ seq, name, data }: LoggedEvent, at: number): ExecutionEvent {
  return { seq, name, data: data === null ? {} : parseData(data), at };
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
