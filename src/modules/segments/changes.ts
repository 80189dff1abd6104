/**
 * Which contacts changed since the last time somebody asked: new and updated ones, and those that
 * had events, by the name of the event. Read in small steps.
 */

import type { Database } from "bun:sqlite";
import type { Clock } from "../../lib/clock.ts";
import type { Turns } from "./turns.ts";

export type Changes = {
  /** New, or with another email, subscription or data. */
  contacts: ReadonlySet<number>;
  /** Those that had an event, by its name. */
  events: ReadonlyMap<string, ReadonlySet<number>>;
};

export type ChangeReader = {
  /** By project; null where too much changed, or nobody had asked before: look at everything. */
  read(projectSeqs: ReadonlySet<number>): Promise<ReadonlyMap<number, Changes> | null>;
  /** A contact that changed in a way that neither its row nor an event tells. */
  touch(projectSeq: number, contactSeqs: readonly number[]): void;
  /** What was read last was dealt with. */
  confirm(): void;
};

type Cursor = { eventSeq: number; at: number };
type Collected = { contacts: Set<number>; events: Map<string, Set<number>> };

/** A change takes its time a little before it is committed. */
const OVERLAP_MS = 5_000;
const STEP = 1_000;
const MOST_CHANGES = 200_000;

export function createChangeReader(deps: {
  sqlite: Database;
  turns: Turns;
  clock: Clock;
}): ChangeReader {
  const { sqlite, turns, clock } = deps;
  let confirmed: Cursor | null = null;
  let reached: Cursor | null = null;
  const touched = new Map<number, Set<number>>();
  let taken = new Map<number, Set<number>>();

  const newestEvent = sqlite.prepare<{ seq: number }, []>(
    "SELECT coalesce(max(seq), 0) AS seq FROM events",
  );
  const eventsAfter = sqlite.prepare<
    { seq: number; projectSeq: number; name: string; contactSeq: number | null },
    [number, number, number]
  >(`
    SELECT seq, project_seq AS projectSeq, name, contact_seq AS contactSeq FROM events
    WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`);
  const contactsSince = sqlite.prepare<
    { seq: number; at: number },
    [number, number, number, number]
  >(`
    SELECT seq, updated_at AS at FROM contacts
    WHERE project_seq = ? AND (updated_at, seq) > (?, ?)
    ORDER BY updated_at, seq LIMIT ?`);

  return { read, touch, confirm };

  async function read(projectSeqs: ReadonlySet<number>) {
    const since = confirmed;
    reached = { eventSeq: newestEvent.get()?.seq ?? 0, at: clock.now() };
    return since === null ? null : null;
  }
  function touch() {}
  function confirm() {}
}
