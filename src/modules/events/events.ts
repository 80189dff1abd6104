/**
 * The events of a project: pages of the log, newest first, with exact totals; the names of events; and
 * single events.
 *
 * Events of one contact are read by following its chains (events/contact-events.ts). Other pages are
 * read from an index in the order of the page: that of an event name or that of the project
 * (log-range.ts).
 */

import { and, count, desc, eq, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { inTimeBy } from "../../db/queries.ts";
import { eventNames } from "../../db/schema/events.ts";
import { statement } from "../../db/statement.ts";
import { type EventSelection, eventsOfContact } from "../../events/contact-events.ts";
import type { StoredEvent } from "../../events/log.ts";
import { Envelope, ListEnvelope, type Page } from "../../http/envelope.ts";
import { operations, read } from "../../http/operations.ts";
import {
  asQuery,
  inTime,
  listPage,
  PageQuery,
  type PageRequest,
  type PageRows,
  toRow,
} from "../../http/pagination.ts";
import { eventDataFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime } from "../../lib/clock.ts";
import { readStoredTags } from "../../lib/stored-tags.ts";
import { notFound } from "../../lib/errors.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { timeOfId } from "../../lib/id.ts";
import { storedAddress } from "../../protocols/mime/address.ts";
import { searchedAddress } from "../../protocols/mime/mailbox.ts";
import type { Noun } from "../module.ts";
import {
  earlier,
  entriesOf,
  type EventPosition,
  hasPeriod,
  indexOf,
  periodOf,
  valuesOf,
} from "./log-range.ts";
import { Event, EventQuery, ShownEventName } from "./model.ts";

export const eventNoun: Noun = {
  name: "events",
  operations: operations("Events", { parameters: { id: "Id of the event" } }, [
    read("GET /events", {
      id: "listEvents",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List events",
      description: "Events that match all given filters, newest first.",
      query: EventQuery,
      answer: ListEnvelope(Event),
      async run(app, { project, role, query }) {
        const { items, ...page } = await listEvents(app, project.seq, query);
        return { ...page, items: items.map((event) => readableEvent(role, event)) };
      },
    }),
    read("GET /events/names", {
      id: "listEventNames",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List unique event names, most used first",
      description: "The names of all events of the project, including those of the service.",
      query: PageQuery,
      answer: ListEnvelope(ShownEventName),
      run: (app, { project, query }) => listEventNames(app, project, query),
    }),
    read("GET /events/:id", {
      id: "getEvent",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get an event",
      description: "The event with its data.",
      answer: Envelope(Event),
      run(app, { project, role, params }) {
        const event = findEvent(app, project.seq, params.id);
        if (event === null) throw notFound("EVENT");
        return readableEvent(role, event);
      },
    }),
  ]),
};

type Row = StoredEvent & { seq: number };
type Found = PageRows<Row>;

const COLUMNS = `e.seq, e.id, e.name, e.data, e.created_at AS createdAt, c.id AS contactId,
  c.email AS contactEmail, m.id AS emailId, m.tags AS emailTags`;
const JOINS = `LEFT JOIN contacts c ON c.seq = e.contact_seq
  LEFT JOIN emails m ON m.seq = e.email_seq`;

/** Result for a contact that does not exist. */
const NO_EVENTS: Found = { rows: [], total: 0, positionOf: () => [] };

export function listEvents(app: App, projectSeq: number, given: EventQuery): Promise<Page<Event>> {
  const query =
    given.event === undefined ? given : { ...given, event: trimmedEventName(given.event) };
  const hasContactFilter = query.email !== undefined || query.contactId !== undefined;
  const contactSeq = hasContactFilter ? findContactSeq(app, projectSeq, query) : null;
  const contactScope = hasContactFilter ? `:${contactSeq}:${query.event ?? ""}` : "";
  const scope = `${projectSeq}:events${contactScope}`;
  function readPage(request: PageRequest): Found | Promise<Found> {
    if (contactSeq !== null) return readContact(app, { projectSeq, contactSeq }, query, request);
    return hasContactFilter ? NO_EVENTS : readLog(app, projectSeq, query, request);
  }
  return listPage(app)({ scope, query }, readPage, (rows) => rows.map(presentEvent));
}

const findContact = statement<{ seq: number }, [number, string]>(
  "SELECT seq FROM contacts WHERE project_seq = +? AND id = +?",
);
const findAddress = statement<{ seq: number }, [number, string]>(
  "SELECT seq FROM contacts WHERE project_seq = +? AND email = +?",
);

/** The contact with the given email and id; null if there is none. */
function findContactSeq(
  app: App,
  projectSeq: number,
  { email, contactId }: EventQuery,
): number | null {
  const found = [
    ...(contactId === undefined ? [] : [findContact(app).get(projectSeq, contactId)]),
    ...(email === undefined
      ? []
      : [findAddress(app).get(projectSeq, storedAddress(searchedAddress(email)))]),
  ].map((row) => row?.seq ?? null);
  return new Set(found).size === 1 ? (found[0] ?? null) : null;
}

async function readLog(
  app: App,
  projectSeq: number,
  query: EventQuery,
  { after, limit }: PageRequest,
): Promise<Found> {
  const period = periodOf(query);
  const total = await countEvents(app, projectSeq, query);
  const before = earlier(positionOf(after) ?? period.before, period.before);
  const index = indexOf(projectSeq, query);
  const rows = app.db.sqlite
    .query<Row, (string | number)[]>(
      `SELECT ${COLUMNS}
       FROM (SELECT * ${entriesOf(index)}
         ORDER BY created_at DESC, seq DESC LIMIT ?) e ${JOINS}
       ORDER BY e.created_at DESC, e.seq DESC`,
    )
    .all(...valuesOf(index, { ...period, before }), limit);
  return { rows, total, positionOf: (row) => [row.createdAt, row.seq] };
}

function positionOf(after: readonly number[] | null): EventPosition | null {
  const [createdAt, seq] = after ?? [];
  return createdAt === undefined || seq === undefined ? null : [createdAt, seq];
}

const sumCounts = statement<{ total: number }, [number]>(
  "SELECT coalesce(sum(count), 0) AS total FROM event_names WHERE project_seq = +?",
);
const findCount = statement<{ total: number }, [number, string]>(
  "SELECT count AS total FROM event_names WHERE project_seq = +? AND name = +?",
);

/**
 * The counters of event names give the total of a project or of a name; only the total of a period is
 * counted.
 */
async function countEvents(app: App, projectSeq: number, query: EventQuery): Promise<number> {
  const { event } = query;
  if (hasPeriod(query)) {
    const index = indexOf(projectSeq, query);
    const sql = `SELECT count(*) ${entriesOf(index)} AND ${inTimeBy("seq")}`;
    const values = valuesOf(index, periodOf(query));
    const { rows } = await app.reader.find(projectSeq, { sql, values });
    return Number(rows[0]?.[0]);
  }
  const stored =
    event === undefined ? sumCounts(app).get(projectSeq) : findCount(app).get(projectSeq, event);
  return stored?.total ?? 0;
}

const readBySeq = statement<Row, [string]>(`
  SELECT ${COLUMNS} FROM json_each(?) AS asked CROSS JOIN events e ON e.seq = asked.value ${JOINS}`);

async function readContact(
  app: App,
  selection: EventSelection,
  query: EventQuery,
  { after, limit }: PageRequest,
): Promise<Found> {
  const { after: from, before: to } = periodOf(query);
  const { seqs, total, cursorAt } = await eventsOfContact(app).read(
    { ...selection, name: query.event },
    { after, limit, period: hasPeriod(query) ? { from: from[0], to: to[0] } : undefined },
  );
  const rows = readBySeq(app)
    .all(JSON.stringify(seqs))
    .toSorted((a, b) => b.seq - a.seq);
  return { rows, total, positionOf: ({ seq }) => cursorAt(seq) };
}

/** The names that most events have come first. */
export function listEventNames(
  app: App,
  project: { seq: number },
  query: PageQuery,
): Promise<Page<string>> {
  const { db, reader } = app;
  return listPage(app)(
    { scope: `${project.seq}:event-names`, query },
    async ({ after, limit }): Promise<PageRows<typeof eventNames.$inferSelect>> => {
      const [uses = Infinity, seq = Infinity] = after ?? [];
      const isAfter = sql`(${eventNames.count}, ${eventNames.seq}) < (${uses}, ${seq})`;
      const inProject = and(inTime(eventNames), eq(eventNames.projectSeq, project.seq));
      const page = db
        .select()
        .from(eventNames)
        .where(and(inProject, isAfter))
        .orderBy(desc(eventNames.count), desc(eventNames.seq))
        .limit(limit);
      const total = db.select({ total: count() }).from(eventNames).where(inProject);
      const found = await reader.find(project.seq, {
        ...asQuery(page),
        total: { ...asQuery(total), unlessFewerThan: after === null ? limit : 0 },
      });
      const rows = found.rows.map((values) => toRow(eventNames, values));
      return { rows, total: Number(found.total), positionOf: (row) => [row.count, row.seq] };
    },
    (rows) => rows.map(({ name }) => name),
  );
}

/** By how much the time of an id may be ahead of its event. */
const AHEAD_MS = 1_000;

const findById = statement<StoredEvent, [number, number, number, string]>(`
  SELECT ${COLUMNS} FROM events e INDEXED BY events_page ${JOINS}
  WHERE e.project_seq = +? AND e.created_at BETWEEN +? AND +? AND e.id = +? LIMIT 1`);

/**
 * The log has no index of ids, because every event would write to it. An id begins with the time of its
 * event (lib/id.ts), by which `events_page` finds the few events of that time. After 4,096 ids of one
 * millisecond, further ones have the time of the next.
 */
function findEvent(app: App, projectSeq: number, id: string): Event | null {
  const at = timeOfId(id);
  const found = at === null ? null : findById(app).get(projectSeq, at - AHEAD_MS, at, id);
  return found === null ? null : presentEvent(found);
}

/** An event as the API shows it. */
export function presentEvent({
  id,
  name,
  data,
  contactId,
  contactEmail,
  emailId,
  emailTags,
  createdAt,
}: StoredEvent) {
  return {
    id,
    name,
    data: data === null ? null : JSON.parse(data),
    contactId,
    contactEmail,
    emailId,
    emailTags: emailTags === null ? null : readStoredTags(emailTags),
    createdAt: isoTime(createdAt),
  } satisfies Event;
}

/** The event as a role sees it. */
export function readableEvent<Shown extends Pick<Event, "name" | "data">>(
  role: Role | null,
  event: Shown,
): Shown {
  return { ...event, data: eventDataFor(role, event.name, event.data) };
}
