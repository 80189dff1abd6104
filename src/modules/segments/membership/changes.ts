/**
 * Finds the contacts that changed since a cursor: new and updated ones, and those that had events,
 * by the name of the event. Reads in slices.
 */

import type { Database } from "bun:sqlite";
import type { Clock } from "../../../lib/clock.ts";
import { SMALLEST_STEP_MS } from "../../../lib/steady-clock.ts";
import { type FairScheduler, NO_OWNER } from "../../../lib/slice-queue.ts";

/** Changes of one project, as values of `contacts.seq`. */
export type Changes = {
  /** Contacts that are new or whose email, subscription or data changed. */
  contacts: Set<number>;
  /** Contacts that had an event, by the event's name. */
  events: Map<string, Set<number>>;
};

/** Position in the event log, and the wall and monotonic time at that moment. */
export type Cursor = { eventSeq: number; at: number; elapsedMs: number };

export type ChangeReader = {
  now(): Cursor;
  /**
   * Returns the changes by project. Null if so much changed that a scan of all contacts is not more
   * work, or if the clock was set, because `updated_at` then does not show which contacts changed.
   */
  since(
    cursor: Cursor,
    projectSeqs: ReadonlySet<number>,
  ): Promise<ReadonlyMap<number, Changes> | null>;
};

/** A change is committed after its time was read, so contacts are read from a little earlier. */
const OVERLAP_MS = 5_000;
/** Rows read by one statement. */
const STEP = 1_000;
const MAX_CHANGES = 200_000;

export function createChangeReader(deps: {
  sqlite: Database;
  scheduler: FairScheduler;
  clock: Clock;
}): ChangeReader {
  const { sqlite, scheduler, clock } = deps;
  const newestEvent = sqlite.prepare<{ seq: number }, []>(
    "SELECT coalesce(max(seq), 0) AS seq FROM events",
  );
  const eventsAfter = sqlite.prepare<
    { seq: number; projectSeq: number; name: string; contactSeq: number | null },
    [number, number]
  >(`
    SELECT seq, project_seq AS projectSeq, name, contact_seq AS contactSeq FROM events
    WHERE seq > ? ORDER BY seq LIMIT ?`);
  const contactsSince = sqlite.prepare<
    { seq: number; at: number },
    [number, number, number, number, number]
  >(`
    SELECT seq, updated_at AS at FROM contacts
    WHERE project_seq = ? AND updated_at >= ? AND (updated_at, seq) > (?, ?)
    ORDER BY updated_at, seq LIMIT ?`);

  /** Returns false if there were too many changes. */
  async function readEvents(afterSeq: number, found: ReadonlyMap<number, Changes>) {
    let position = afterSeq;
    for (let count = 0; count < MAX_CHANGES; count += STEP) {
      await scheduler.queueOf(NO_OWNER).nextSlice();
      const rows = eventsAfter.all(position, STEP);
      for (const { projectSeq, name, contactSeq } of rows) {
        const events = found.get(projectSeq)?.events;
        if (events === undefined || contactSeq === null) continue;
        const contactsWithEvent = events.get(name);
        if (contactsWithEvent === undefined) events.set(name, new Set([contactSeq]));
        else contactsWithEvent.add(contactSeq);
      }
      position = rows.at(-1)?.seq ?? position;
      if (rows.length < STEP) return true;
    }
    return false;
  }

  /** Returns false if there were too many changes. */
  async function readContacts(fromMs: number, projectSeq: number, found: Changes) {
    let position = { at: fromMs, seq: 0 };
    while (found.contacts.size < MAX_CHANGES) {
      await scheduler.queueOf(projectSeq).nextSlice();
      const { at, seq } = position;
      const rows = contactsSince.all(projectSeq, at, at, seq, STEP);
      for (const row of rows) found.contacts.add(row.seq);
      position = rows.at(-1) ?? position;
      if (rows.length < STEP) return true;
    }
    return false;
  }

  function now(): Cursor {
    const eventSeq = newestEvent.get()?.seq ?? 0;
    return { eventSeq, at: clock.now(), elapsedMs: clock.elapsed() };
  }

  /** Whether wall time and monotonic time advanced by different amounts. */
  function wasClockSet(since: Cursor): boolean {
    const wallMs = clock.now() - since.at;
    const elapsedMs = clock.elapsed() - since.elapsedMs;
    return Math.abs(wallMs - elapsedMs) >= SMALLEST_STEP_MS;
  }

  return {
    now,

    async since(cursor, projectSeqs) {
      if (wasClockSet(cursor)) return null;
      const found = new Map<number, Changes>();
      for (const seq of projectSeqs) found.set(seq, { contacts: new Set(), events: new Map() });
      if (!(await readEvents(cursor.eventSeq, found))) return null;
      for (const [projectSeq, changes] of found) {
        if (!(await readContacts(cursor.at - OVERLAP_MS, projectSeq, changes))) return null;
      }
      return found;
    },
  };
}
