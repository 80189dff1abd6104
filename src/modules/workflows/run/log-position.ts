/**
 * The position of the workflows in the event log. Events that concern no workflow are skipped without
 * a write; the position after them is stored a little later.
 */

import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import type { LoggedEvent, Reader } from "../../../events/reader.ts";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import { eventTime, isAnyOverdue } from "./event-order.ts";
import type { ExecutionRows } from "./execution-rows.ts";
import type { StartableWorkflow } from "./triggers.ts";

export type LogPosition = ReturnType<typeof createLogPosition>;

/** Longest time of a search for a relevant event; other work of the event loop runs after it. */
const SCAN_MS = 5;
/** Events read at once in the search for a relevant one. The number doubles while none is found. */
const SCAN_PAGE = { first: 10, most: 200 } as const;
/** Delay before the position after skipped events is stored, to save writes. */
const STORE_POSITION_AFTER_MS = 1_000;

export type LogPositionDeps = {
  db: Pick<Db, "sqlite">;
  executionRows: ExecutionRows;
  clock: Clock;
  reader: Reader;
  triggered: (projectSeq: number, eventName: string) => readonly StartableWorkflow[];
  writer: Writer;
};

/** `onError` is called if a position could not be stored. */
export function createLogPosition(deps: LogPositionDeps, onError: (error: unknown) => void) {
  const { executionRows, clock, reader, writer } = deps;
  const lastSeq = deps.db.sqlite.prepare<{ seq: number | null }, []>(
    "SELECT max(seq) AS seq FROM events",
  );
  /** All events up to this `seq` are handled or irrelevant; at or after the stored position. */
  let position = 0;
  let isPositionUnstored = false;
  let cancelStoreTimer: (() => void) | null = null;

  /** Skips events that concern no workflow, without a write. */
  function skipIrrelevant(): "end" | "something" {
    const endsAt = systemClock.elapsed() + SCAN_MS;
    // An overdue execution may begin to wait for an event that is already in the log.
    if (!executionRows.isAnyEventNeeded() && !isAnyOverdue(executionRows, clock.now()))
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
    const at = eventTime(clock, createdAt);
    return (
      deps.triggered(projectSeq, name).length > 0 ||
      executionRows.isConcerned(projectSeq, name, contactSeq) ||
      (isAnyOverdue(executionRows, at) && executionRows.overdueOf(contactSeq, at).length > 0)
    );
  }

  function skipTo(seq: number): void {
    if (seq <= position) return;
    position = seq;
    isPositionUnstored = true;
    cancelStoreTimer ??= clock.after(STORE_POSITION_AFTER_MS, () => {
      cancelStoreTimer = null;
      void writer.write(storePosition).catch(onError);
    });
  }

  function storePosition(): void {
    if (isPositionUnstored) reader.advance(position);
    writer.afterCommit(() => {
      isPositionUnstored = false;
    });
  }

  return {
    current: () => position,

    skipIrrelevant,

    /** Part of a change: all events up to `seq` are handled. */
    advance(seq: number): void {
      reader.advance(seq);
      // If the change is rolled back, the events are read again.
      writer.afterCommit(() => {
        position = Math.max(position, seq);
      });
    },

    /** Continues at the stored position. */
    start(): void {
      position = reader.place();
    },

    cancelTimer(): void {
      cancelStoreTimer?.();
      cancelStoreTimer = null;
    },

    /** Part of a change: stores the position after skipped events. */
    store: storePosition,
  };
}
