/**
 * Pages of the log, newest first, with exact totals. Each filter goes through one index in the order
 * of the page: of a contact, of a name, or of the project. What the counters do not know is counted
 * in steps of a few thousand entries, in turns.
 */

import type { Db } from "../../db/open.ts";
import type { Page } from "../../http/envelope.ts";
import type { Cursors } from "../../http/pagination.ts";
import { startSlices } from "../../lib/slices.ts";
import type { Turns } from "../../lib/turns.ts";
import type { Event, EventQuery } from "./model.ts";
import { presentEvent, type StoredEvent } from "./stored.ts";

export type EventList = (projectSeq: number, query: EventQuery) => Promise<Page<Event>>;

/** Entries of an index in their order: where they begin, and what else is asked of their events. */
type Source = {
  index: "events_contact" | "events_name" | "events_page";
  /** Conditions with `+?`, as db/bound says, and their values. */
  prefix: string;
  prefixValues: readonly (string | number)[];
  rest: string;
  restValues: readonly string[];
};

/** In the order of the log's time; of an event, or between two. */
type Position = readonly [createdAt: number, seq: number];
type Period = { after: Position; before: Position };
type Row = StoredEvent & { seq: number };

/** Entries of one step: half a millisecond, or ten where their events have to be read. */
const STEP = 5_000;
const BEYOND = Number.MAX_SAFE_INTEGER;
/* One condition at either end: of two, SQLite would go by the one that narrows less. */
const WITHIN = "(created_at, seq) > (?, ?) AND (created_at, seq) < (?, ?)";

export function createEventList(deps: { db: Db; cursors: Cursors; turns: Turns }): EventList {
  const { cursors, turns } = deps;
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

  /** Null where the contact that is asked for is not there. */
  function sourceOf(projectSeq: number, query: EventQuery): Source | null {
    const { event, email, contactId } = query;
    if (email !== undefined || contactId !== undefined) {
      const seq = contactOf(projectSeq, query);
      if (seq === null) return null;
      const rest = event === undefined ? "" : "AND name = +?";
      const restValues = event === undefined ? [] : [event];
      const prefix = "contact_seq = +?";
      return { index: "events_contact", prefix, prefixValues: [seq], rest, restValues };
    }
    const ofProject = { prefix: "project_seq = +?", prefixValues: [projectSeq] };
    const whole = { rest: "", restValues: [] };
    if (event === undefined) return { index: "events_page", ...ofProject, ...whole };
    return {
      index: "events_name",
      prefix: "project_seq = +? AND name = +?",
      prefixValues: [projectSeq, event],
      ...whole,
    };
  }

  /** Whoever has both, where both are given. */
  function contactOf(projectSeq: number, { email, contactId }: EventQuery): number | null {
    const found = [
      ...(contactId === undefined ? [] : [findContact.get(projectSeq, contactId)]),
      ...(email === undefined ? [] : [findAddress.get(projectSeq, storedAddress(email))]),
    ].map((row) => row?.seq ?? null);
    return new Set(found).size === 1 ? (found[0] ?? null) : null;
  }

  function pageOf(source: Source, { after, before }: Period, limit: number): Row[] {
    const { index, prefix, prefixValues, rest, restValues } = source;
    return sqlite
      .query<Row, (string | number)[]>(
        `SELECT e.seq, e.id, e.name, e.data, e.created_at AS createdAt, c.id AS contactId,
           c.email AS contactEmail, m.id AS emailId
         FROM (SELECT * FROM events INDEXED BY ${index} WHERE ${prefix} AND ${WITHIN} ${rest}
           ORDER BY created_at DESC, seq DESC LIMIT ?) e
         LEFT JOIN contacts c ON c.seq = e.contact_seq LEFT JOIN emails m ON m.seq = e.email_seq
         ORDER BY e.created_at DESC, e.seq DESC`,
      )
      .all(...prefixValues, ...after, ...before, ...restValues, limit);
  }

  /** Step by step; what comes meanwhile is newer and counted when it is reached. */
  async function count(source: Source, period: Period): Promise<number> {
    const { index, prefix, prefixValues, rest, restValues } = source;
    const entries = `FROM events INDEXED BY ${index} WHERE ${prefix} AND ${WITHIN}`;
    // The first one behind a step.
    const findEnd = sqlite.query<{ createdAt: number; seq: number }, (string | number)[]>(`
      SELECT created_at AS createdAt, seq ${entries}
      ORDER BY created_at, seq LIMIT 1 OFFSET ${STEP}`);
    const countEntries = sqlite.query<{ total: number }, (string | number)[]>(
      `SELECT count(*) AS total ${entries} ${rest}`,
    );
    const slices = await startSlices(turns);
    let total = 0;
    let { after } = period;
    for (;;) {
      const end = findEnd.get(...prefixValues, ...after, ...period.before);
      const before: Position = end === null ? period.before : [end.createdAt, end.seq];
      const values = [...prefixValues, ...after, ...before, ...restValues];
      const isKnown = end !== null && rest === "";
      total += isKnown ? STEP : (countEntries.get(...values)?.total ?? 0);
      if (end === null) return total;
      after = [end.createdAt, end.seq - 1]; // Nothing lies between: the next step begins with it.
      if (slices.isOver()) await slices.next();
    }
  }

  async function totalOf(projectSeq: number, source: Source, query: EventQuery): Promise<number> {
    const isCounted = source.index !== "events_contact" && query.from === undefined;
    if (!isCounted || query.to !== undefined) return count(source, periodOf(query));
    return sumCounts.get(projectSeq, query.event ?? null)?.total ?? 0;
  }

  return async (projectSeq, query) => {
    const scope = `${projectSeq}:events`;
    const request = cursors.read(scope, query);
    const source = sourceOf(projectSeq, query);
    const period = periodOf(query);
    const total = source === null ? 0 : await totalOf(projectSeq, source, query);
    const before = earlier(positionOf(request.after) ?? period.before, period.before);
    const rows = source === null ? [] : pageOf(source, { ...period, before }, request.limit + 1);
    return cursors.page(scope, request, rows, {
      total,
      positionOf: (row) => [row.createdAt, row.seq],
      present: presentEvent,
    });
  };
}

/** From and to a moment, both included. */
function periodOf({ from, to }: EventQuery): Period {
  return {
    after: from === undefined ? [-BEYOND, 0] : [Date.parse(from), 0],
    before: to === undefined ? [BEYOND, 0] : [Date.parse(to), BEYOND],
  };
}

function positionOf(after: readonly number[] | null): Position | null {
  const [createdAt, seq] = after ?? [];
  return createdAt === undefined || seq === undefined ? null : [createdAt, seq];
}

function earlier(a: Position, b: Position): Position {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? a : b;
}

/** As addresses are kept (mail/address). */
function storedAddress(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}
