/** The activity of a contact: its events and its mails in one timeline, newest first. */

import { and, desc, eq, inArray, lt } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { emails } from "../../db/schema/emails.ts";
import { events } from "../../db/schema/events.ts";
import type { Page } from "../../http/envelope.ts";
import {
  countRows,
  type ListPage,
  type PageQuery,
  type PageRequest,
} from "../../http/pagination.ts";
import { eventDataFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime } from "../../lib/clock.ts";
import type { ContactEvents, EventPage, EventSelection } from "../../events/contact-events.ts";
import type { Activity } from "./activity-model.ts";
import type { Contacts } from "./service.ts";

export type ListActivity = (
  projectSeq: number,
  contactId: string,
  query: PageQuery,
) => Promise<Page<Activity>>;

/** Some entries of one kind, newest first, and the number of all entries of that kind. */
type Part = { entries: Entry[]; total: number };
type Entry = { at: number; seq: number; activity: Activity };
type EventPart = Part & Pick<EventPage, "cursorAt">;

/**
 * An entry of the timeline with the position of both kinds after it: the `seq` of the last event
 * and of the last mail read so far, or the start of the page.
 */
type TimelineEntry = { activity: Activity; eventSeq: number; emailSeq: number };

const NEWEST = Number.MAX_SAFE_INTEGER;

export function createActivity(deps: {
  db: Db;
  listPage: ListPage;
  contacts: Contacts;
  eventsOfContact: ContactEvents;
}): ListActivity {
  const { db, listPage, contacts, eventsOfContact } = deps;

  async function readEvents(
    selection: EventSelection,
    after: readonly number[] | null,
    limit: number,
  ): Promise<EventPart> {
    const { seqs, total, cursorAt } = await eventsOfContact.read(selection, { after, limit });
    const entries = db
      .select({ event: events, emailId: emails.id, emailSubject: emails.subject })
      .from(events)
      .leftJoin(emails, eq(emails.seq, events.emailSeq))
      .where(inArray(events.seq, seqs))
      .orderBy(desc(events.seq))
      .all()
      .map(({ event, emailId, emailSubject }): Entry => {
        const { seq, id, name, createdAt } = event;
        const data = event.data === null ? null : JSON.parse(event.data);
        return {
          at: createdAt,
          seq,
          activity: {
            kind: "EVENT",
            createdAt: isoTime(createdAt),
            event: { id, name, data, emailId, emailSubject },
            email: null,
          },
        };
      });
    return { entries, total, cursorAt };
  }

  function readEmails(contactSeq: number, before: number, limit: number): Part {
    const isTheirs = eq(emails.contactSeq, contactSeq);
    const entries = db
      .select()
      .from(emails)
      .where(and(isTheirs, lt(emails.seq, before)))
      .orderBy(desc(emails.seq))
      .limit(limit)
      .all()
      .map(({ seq, createdAt, id, subject, status, source, templateId }): Entry => {
        const email = { id, subject, status, source, templateId };
        const activity: Activity = {
          kind: "EMAIL",
          createdAt: isoTime(createdAt),
          event: null,
          email,
        };
        return { at: createdAt, seq, activity };
      });
    return { entries, total: countRows(db, emails, isTheirs) };
  }

  async function read(selection: EventSelection, { after, limit }: PageRequest) {
    const [emailSeq = NEWEST, ...eventPosition] = after ?? [];
    const [eventSeq = NEWEST] = eventPosition;
    const eventPart = await readEvents(
      selection,
      eventPosition.length === 0 ? null : eventPosition,
      limit,
    );
    const emailPart = readEmails(selection.contactSeq, emailSeq, limit);
    const timeline = merge(eventPart.entries, emailPart.entries, { eventSeq, emailSeq });
    return {
      rows: timeline.slice(0, limit),
      total: eventPart.total + emailPart.total,
      positionOf: (row: TimelineEntry) => [row.emailSeq, ...eventPart.cursorAt(row.eventSeq)],
    };
  }

  return async (projectSeq, contactId, query) => {
    const { seq: contactSeq } = contacts.get(projectSeq, contactId);
    return listPage(
      { scope: `${projectSeq}:activity:${contactId}`, query },
      (request) => read({ projectSeq, contactSeq }, request),
      (rows) => rows.map(({ activity }) => activity),
    );
  };
}

/** An entry of the timeline as a role sees it. */
export function readableActivity(role: Role | null, activity: Activity): Activity {
  const { event } = activity;
  if (event === null) return activity;
  return { ...activity, event: { ...event, data: eventDataFor(role, event.name, event.data) } };
}

/**
 * Merges both kinds, newest first. In the same millisecond, a mail is older than the events about
 * it.
 */
function merge(
  eventEntries: readonly Entry[],
  emailEntries: readonly Entry[],
  from: Pick<TimelineEntry, "eventSeq" | "emailSeq">,
): TimelineEntry[] {
  const timeline: TimelineEntry[] = [];
  let { eventSeq, emailSeq } = from;
  let mails = 0;

  function addMailsAfter(at: number): void {
    for (
      let mail = emailEntries[mails];
      mail !== undefined && mail.at > at;
      mail = emailEntries[++mails]
    ) {
      emailSeq = mail.seq;
      timeline.push({ activity: mail.activity, eventSeq, emailSeq });
    }
  }

  for (const { at, seq, activity } of eventEntries) {
    addMailsAfter(at);
    eventSeq = seq;
    timeline.push({ activity, eventSeq, emailSeq });
  }
  addMailsAfter(-Infinity);
  return timeline;
}
