/**
 * Pages of the event log, newest first, with exact totals.
 *
 * Events of one contact are read by following its chains (`contact-events.ts`). Other pages are
 * read from an index in the order of the page: that of an event name or that of the project. Their
 * totals come from the counters of event names; only the total of a period is counted, in slices.
 */

import type { Db } from "../../db/open.ts";
import type { Page } from "../../http/envelope.ts";
import type { ListPage, PageRequest, PageRows } from "../../http/pagination.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { storedAddress } from "../../protocols/mime/address.ts";
import type { Event, EventQuery } from "./model.ts";
import type { ContactEvents, EventSelection } from "../../events/contact-events.ts";
import type { StoredEvent } from "../../events/log.ts";
import { presentEvent } from "./service.ts";

export type EventList = (projectSeq: number, query: EventQuery) => Promise<Page<Event>>;

/** A range of an index. */
type Source = {
  index: "events_name" | "events_page";
  /** SQL condition with `+?` for each value (see db/bound.ts). */
  prefix: string;
  values: readonly (string | number)[];
};

/** Position in the index, which is sorted by time. It may be that of an event or between two. */
type Position = readonly [createdAt: number, seq: number];
type Period = { after: Position; before: Position };
type Row = StoredEvent & { seq: number };
type Found = PageRows<Row>;

const COLUMNS = `e.seq, e.id, e.name, e.data, e.created_at AS createdAt, c.id AS contactId,
  c.email AS contactEmail, m.id AS emailId`;
const JOINS = `LEFT JOIN contacts c ON c.seq = e.contact_seq
  LEFT JOIN emails m ON m.seq = e.email_seq`;

/** Result for a contact that does not exist. */
const NO_EVENTS: Found = { rows: [], total: 0, positionOf: () => [] };

/** Index entries of one step; counting them takes half a millisecond. */
const STEP = 5_000;
const MAX_POSITION = Number.MAX_SAFE_INTEGER;
/* Row values give SQLite one bound at each end. If there were two, it might use the weaker one. */
const WITHIN = "(created_at, seq) > (?, ?) AND (created_at, seq) < (?, ?)";

export function createEventList(deps: {
  db: Db;
  listPage: ListPage;
  scheduler: FairScheduler;
  ofContact: ContactEvents;
}): EventList {
  const { listPage, scheduler, ofContact } = deps;
  const { sqlite } = deps.db;
  const findContact = sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = +? AND id = +?",
  );
  const findAddress = sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = +? AND email = +?",
  );
  const sumCounts = sqlite.prepare<{ total: number }, [number, string | null]>(`
    SELECT coalesce(sum(count), 0) AS total FROM event_names
    WHERE project_seq = +?1 AND (?2 IS NULL OR name = ?2)`);

  const read = sqlite.prepare<Row, [string]>(`
    SELECT ${COLUMNS} FROM json_each(?) AS asked CROSS JOIN events e ON e.seq = asked.value ${JOINS}
    ORDER BY e.seq DESC`);

  function sourceOf(projectSeq: number, { event }: EventQuery): Source {
    if (event === undefined) {
      return { index: "events_page", prefix: "project_seq = +?", values: [projectSeq] };
    }
    const prefix = "project_seq = +? AND name = +?";
    return { index: "events_name", prefix, values: [projectSeq, event] };
  }

  /** Returns the contact with the given email and id; null if there is none. */
  function contactOf(projectSeq: number, { email, contactId }: EventQuery): number | null {
    const found = [
      ...(contactId === undefined ? [] : [findContact.get(projectSeq, contactId)]),
      ...(email === undefined ? [] : [findAddress.get(projectSeq, storedAddress(email))]),
    ].map((row) => row?.seq ?? null);
    return new Set(found).size === 1 ? (found[0] ?? null) : null;
  }

  function pageOf({ index, prefix, values }: Source, period: Period, limit: number): Row[] {
    return sqlite
      .query<Row, (string | number)[]>(
        `SELECT ${COLUMNS}
         FROM (SELECT * FROM events INDEXED BY ${index} WHERE ${prefix} AND ${WITHIN}
           ORDER BY created_at DESC, seq DESC LIMIT ?) e ${JOINS}
         ORDER BY e.created_at DESC, e.seq DESC`,
      )
      .all(...values, ...period.after, ...period.before, limit);
  }

  /** Counts in slices. Events recorded meanwhile are newer, so they are counted as well. */
  async function count(
    projectSeq: number,
    { index, prefix, values }: Source,
    period: Period,
  ): Promise<number> {
    const entries = `FROM events INDEXED BY ${index} WHERE ${prefix} AND ${WITHIN}`;
    // Finds the first entry after the step.
    const findEnd = sqlite.query<{ createdAt: number; seq: number }, (string | number)[]>(`
      SELECT created_at AS createdAt, seq ${entries}
      ORDER BY created_at, seq LIMIT 1 OFFSET ${STEP}`);
    const countRest = sqlite.query<{ total: number }, (string | number)[]>(
      `SELECT count(*) AS total ${entries}`,
    );
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    let total = 0;
    let { after } = period;
    for (;;) {
      const rest = [...values, ...after, ...period.before];
      const end = findEnd.get(...rest);
      if (end === null) return total + (countRest.get(...rest)?.total ?? 0);
      total += STEP;
      after = [end.createdAt, end.seq - 1]; // The next step begins with the entry `end`.
      if (slices.isOver()) await slices.next();
    }
  }

  async function totalOf(projectSeq: number, source: Source, query: EventQuery): Promise<number> {
    if (hasPeriod(query)) return count(projectSeq, source, periodOf(query));
    return sumCounts.get(projectSeq, query.event ?? null)?.total ?? 0;
  }

  async function readLog(
    projectSeq: number,
    query: EventQuery,
    { after, limit }: PageRequest,
  ): Promise<Found> {
    const source = sourceOf(projectSeq, query);
    const period = periodOf(query);
    const total = await totalOf(projectSeq, source, query);
    const before = earlier(positionOf(after) ?? period.before, period.before);
    const rows = pageOf(source, { ...period, before }, limit);
    return { rows, total, positionOf: (row) => [row.createdAt, row.seq] };
  }

  async function readContact(
    selection: EventSelection,
    query: EventQuery,
    { after, limit }: PageRequest,
  ): Promise<Found> {
    const { after: from, before: to } = periodOf(query);
    const { seqs, total, cursorAt } = await ofContact.read(
      { ...selection, name: query.event },
      {
        after,
        limit,
        isWithin: hasPeriod(query) ? (at) => at >= from[0] && at <= to[0] : undefined,
      },
    );
    const rows = read.all(JSON.stringify(seqs));
    return { rows, total, positionOf: ({ seq }) => cursorAt(seq) };
  }

  return async (projectSeq, given) => {
    const query =
      given.event === undefined ? given : { ...given, event: trimmedEventName(given.event) };
    const hasContactFilter = query.email !== undefined || query.contactId !== undefined;
    const contactSeq = hasContactFilter ? contactOf(projectSeq, query) : null;
    const contactScope = hasContactFilter ? `:${contactSeq}:${query.event ?? ""}` : "";
    const scope = `${projectSeq}:events${contactScope}`;
    function read(request: PageRequest): Found | Promise<Found> {
      if (contactSeq !== null) return readContact({ projectSeq, contactSeq }, query, request);
      return hasContactFilter ? NO_EVENTS : readLog(projectSeq, query, request);
    }
    return listPage({ scope, query }, read, (rows) => rows.map(presentEvent));
  };
}

function hasPeriod({ from, to }: EventQuery): boolean {
  return from !== undefined || to !== undefined;
}

/** Converts the query's bounds to positions; both bounds are included. */
function periodOf({ from, to }: EventQuery): Period {
  return {
    after: from === undefined ? [-MAX_POSITION, 0] : [Date.parse(from), 0],
    before: to === undefined ? [MAX_POSITION, 0] : [Date.parse(to), MAX_POSITION],
  };
}

function positionOf(after: readonly number[] | null): Position | null {
  const [createdAt, seq] = after ?? [];
  return createdAt === undefined || seq === undefined ? null : [createdAt, seq];
}

function earlier(a: Position, b: Position): Position {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? a : b;
}
