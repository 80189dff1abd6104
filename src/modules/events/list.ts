/**
 * Pages of the event log, newest first, with exact totals (`totals.ts`).
 *
 * Events of one contact are read by following its chains (`contact-events.ts`). Other pages are
 * read from an index in the order of the page: that of an event name or that of the project
 * (`log-range.ts`).
 */

import { searchedAddress } from "../../protocols/mime/mailbox.ts";
import type { App } from "../../core/app.ts";
import type { Page } from "../../http/envelope.ts";
import type { ListPage, PageRequest, PageRows } from "../../http/pagination.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { storedAddress } from "../../protocols/mime/address.ts";
import {
  earlier,
  entriesOf,
  type EventIndex,
  type EventPeriod,
  type EventPosition,
  hasPeriod,
  indexOf,
  periodOf,
  valuesOf,
} from "./log-range.ts";
import type { Event, EventQuery } from "./model.ts";
import type { ContactEvents, EventSelection } from "../../events/contact-events.ts";
import type { StoredEvent } from "../../events/log.ts";
import { presentEvent } from "./service.ts";
import { countEvents } from "./totals.ts";

export type EventList = (projectSeq: number, query: EventQuery) => Promise<Page<Event>>;

type Row = StoredEvent & { seq: number };
type Found = PageRows<Row>;

const COLUMNS = `e.seq, e.id, e.name, e.data, e.created_at AS createdAt, c.id AS contactId,
  c.email AS contactEmail, m.id AS emailId`;
const JOINS = `LEFT JOIN contacts c ON c.seq = e.contact_seq
  LEFT JOIN emails m ON m.seq = e.email_seq`;

/** Result for a contact that does not exist. */
const NO_EVENTS: Found = { rows: [], total: 0, positionOf: () => [] };

export function createEventList(deps: {
  app: App;
  listPage: ListPage;
  ofContact: ContactEvents;
}): EventList {
  const { app, listPage, ofContact } = deps;
  const { sqlite } = app.db;
  const findContact = sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = +? AND id = +?",
  );
  const findAddress = sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = +? AND email = +?",
  );
  const read = sqlite.prepare<Row, [string]>(`
    SELECT ${COLUMNS} FROM json_each(?) AS asked CROSS JOIN events e ON e.seq = asked.value ${JOINS}
    ORDER BY e.seq DESC`);

  /** Returns the contact with the given email and id; null if there is none. */
  function contactOf(projectSeq: number, { email, contactId }: EventQuery): number | null {
    const found = [
      ...(contactId === undefined ? [] : [findContact.get(projectSeq, contactId)]),
      ...(email === undefined
        ? []
        : [findAddress.get(projectSeq, storedAddress(searchedAddress(email)))]),
    ].map((row) => row?.seq ?? null);
    return new Set(found).size === 1 ? (found[0] ?? null) : null;
  }

  function pageOf(index: EventIndex, period: EventPeriod, limit: number): Row[] {
    return sqlite
      .query<Row, (string | number)[]>(
        `SELECT ${COLUMNS}
         FROM (SELECT * ${entriesOf(index)}
           ORDER BY created_at DESC, seq DESC LIMIT ?) e ${JOINS}
         ORDER BY e.created_at DESC, e.seq DESC`,
      )
      .all(...valuesOf(index, period), limit);
  }

  async function readLog(
    projectSeq: number,
    query: EventQuery,
    { after, limit }: PageRequest,
  ): Promise<Found> {
    const period = periodOf(query);
    const total = await countEvents(app, projectSeq, query);
    const before = earlier(positionOf(after) ?? period.before, period.before);
    const rows = pageOf(indexOf(projectSeq, query), { ...period, before }, limit);
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
      { after, limit, period: hasPeriod(query) ? { from: from[0], to: to[0] } : undefined },
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

function positionOf(after: readonly number[] | null): EventPosition | null {
  const [createdAt, seq] = after ?? [];
  return createdAt === undefined || seq === undefined ? null : [createdAt, seq];
}
