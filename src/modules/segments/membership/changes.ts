/**
 * Finds the contacts that changed since a cursor: new and updated ones, and those that had events,
 * by the name of the event.
 */

import type { App } from "../../../core/app.ts";
import { inTimeBy } from "../../../db/queries.ts";
import { NO_OWNER } from "../../../db/reader.ts";
import { statement } from "../../../db/statement.ts";
import { SMALLEST_STEP_MS } from "../../../lib/steady-clock.ts";

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
/** Most events after the cursor, and most changed contacts of a project. */
const MAX_CHANGES = 200_000;

const newestEvent = statement<{ seq: number | null }, []>("SELECT max(seq) AS seq FROM events");

/** Adds the contacts that had an event. Returns false if there were too many events. */
async function readEvents(
  app: App,
  afterSeq: number,
  found: ReadonlyMap<number, Changes>,
): Promise<boolean> {
  const newest = newestEvent(app).get()?.seq ?? 0;
  if (newest - afterSeq >= MAX_CHANGES) return false;
  if (newest <= afterSeq) return true;
  const sql = `
    SELECT project_seq, name, json_group_array(contact_seq) FROM (
      SELECT DISTINCT project_seq, name, contact_seq FROM events
      WHERE seq > ? AND seq <= ? AND contact_seq IS NOT NULL AND ${inTimeBy("seq")})
    GROUP BY project_seq, name`;
  const { rows } = await app.reader.find(NO_OWNER, { sql, values: [afterSeq, newest] });
  for (const [projectSeq, name, contacts] of rows) {
    found.get(Number(projectSeq))?.events.set(String(name), new Set(seqsIn(contacts)));
  }
  return true;
}

/** Adds the contacts that changed. Returns false if there were too many. */
async function readContacts(
  { reader }: App,
  fromMs: number,
  projectSeq: number,
  found: Changes,
): Promise<boolean> {
  const sql = `
    SELECT json_group_array(seq) FROM (
      SELECT seq FROM contacts WHERE project_seq = ? AND updated_at >= ? AND ${inTimeBy("seq")} LIMIT ?)`;
  const { rows } = await reader.find(projectSeq, {
    sql,
    values: [projectSeq, fromMs, MAX_CHANGES],
  });
  for (const seq of seqsIn(rows[0]?.[0])) found.contacts.add(seq);
  return found.contacts.size < MAX_CHANGES;
}

/** Reads a list of `seq`, which SQLite returns as one text because it has up to 200,000. */
function seqsIn(json: unknown): number[] {
  const seqs: unknown = JSON.parse(String(json));
  return Array.isArray(seqs) ? seqs.map(Number) : [];
}

export function createChangeReader(app: App): ChangeReader {
  const { clock } = app;

  function now(): Cursor {
    const eventSeq = newestEvent(app).get()?.seq ?? 0;
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
      if (!(await readEvents(app, cursor.eventSeq, found))) return null;
      for (const [projectSeq, changes] of found) {
        if (!(await readContacts(app, cursor.at - OVERLAP_MS, projectSeq, changes))) return null;
      }
      return found;
    },
  };
}
