/** A range of the event log: the index that a query reads, and the positions within it. */

import type { EventQuery } from "./model.ts";

/** An index of the log with its first columns bound. */
type EventIndex = {
  name: "events_name" | "events_page";
  /** SQL condition with `+?` for each value (see db/bound.ts). */
  prefix: string;
  values: readonly (string | number)[];
};

/** Position in the index, which is sorted by time. It may be that of an event or between two. */
export type EventPosition = readonly [createdAt: number, seq: number];
type EventPeriod = { after: EventPosition; before: EventPosition };

const MAX_POSITION = Number.MAX_SAFE_INTEGER;
/* Row values give SQLite one bound at each end. If there were two, it might use the weaker one. */
const WITHIN = "(created_at, seq) > (?, ?) AND (created_at, seq) < (?, ?)";

/** SQL of the events within a range, for which `valuesOf` returns the values. */
export function entriesOf({ name, prefix }: EventIndex): string {
  return `FROM events INDEXED BY ${name} WHERE ${prefix} AND ${WITHIN}`;
}

export function valuesOf({ values }: EventIndex, { after, before }: EventPeriod) {
  return [...values, ...after, ...before];
}

/** The index that has the events of a query in the order of time. */
export function indexOf(projectSeq: number, { event }: EventQuery): EventIndex {
  if (event === undefined) {
    return { name: "events_page", prefix: "project_seq = +?", values: [projectSeq] };
  }
  const prefix = "project_seq = +? AND name = +?";
  return { name: "events_name", prefix, values: [projectSeq, event] };
}

export function hasPeriod({ from, to }: EventQuery): boolean {
  return from !== undefined || to !== undefined;
}

/** Converts the query's bounds to positions; both bounds are included. */
export function periodOf({ from, to }: EventQuery): EventPeriod {
  return {
    after: from === undefined ? [-MAX_POSITION, 0] : [Date.parse(from), 0],
    before: to === undefined ? [MAX_POSITION, 0] : [Date.parse(to), MAX_POSITION],
  };
}

export function earlier(a: EventPosition, b: EventPosition): EventPosition {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? a : b;
}
