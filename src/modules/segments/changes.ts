/**
 * Which contacts changed since a moment: new and updated ones, and those that had events, by the
 * name of the event. Read in small steps.
 */

import type { Database } from "bun:sqlite";
import type { Clock } from "../../lib/clock.ts";
import { SMALLEST_STEP_MS } from "../../lib/steady-clock.ts";
import { type FairTurns, NO_OWNER } from "../../lib/turns.ts";

/** Changes of one project, as values of `contacts.seq`. */
export type Changes = {
  /** New, or with another email, subscription or data. */
  contacts: Set<number>;
  /** Those that had an event, by its name. */
  events: Map<string, Set<number>>;
};

/** How far the log and both clocks had come. */
export type Cursor = { eventSeq: number; at: number; elapsedMs: number };

export type ChangeReader = {
  now(): Cursor;
  /**
   * By project. Null where so much changed that reading every contact is no more work, and where the
   * clock was set: then the dates of contacts do not tell which of them changed.
   */
  since(
    cursor: Cursor,
    projectSeqs: ReadonlySet<number>,
  ): Promise<ReadonlyMap<number, Changes> | null>;
};

/** A change takes its time a little before it is committed. */
const OVERLAP_MS = 5_000;
const STEP = 1_000;
const MOST_CHANGES = 200_000;

export function createChangeReader(deps: {
  sqlite: Database;
  turns: FairTurns;
  clock: Clock;
}): ChangeReader {
  const { sqlite, turns, clock } = deps;
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

  /** False if there were too many. */
  async function readEvents(afterSeq: number, found: ReadonlyMap<number, Changes>) {
    let position = afterSeq;
    for (let count = 0; count < MOST_CHANGES; count += STEP) {
      await turns.of(NO_OWNER).next();
      const rows = eventsAfter.all(position, STEP);
      for (const { projectSeq, name, contactSeq } of rows) {
        const events = found.get(projectSeq)?.events;
        if (events === undefined || contactSeq === null) continue;
        const theirs = events.get(name);
        if (theirs === undefined) events.set(name, new Set([contactSeq]));
        else theirs.add(contactSeq);
      }
      position = rows.at(-1)?.seq ?? position;
      if (rows.length < STEP) return true;
    }
    return false;
  }

  /** False if there were too many. */
  async function readContacts(fromMs: number, projectSeq: number, found: Changes) {
    let position = { at: fromMs, seq: 0 };
    while (found.contacts.size < MOST_CHANGES) {
      await turns.of(projectSeq).next();
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

  /** Wall time and monotonic time went on by different amounts. */
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
