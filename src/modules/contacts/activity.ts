/** The activity of a contact: its events and its mails in one timeline, newest first. */

import { and, count, desc, eq, inArray, lt } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { emails } from "../../db/schema/emails.ts";
import { events } from "../../db/schema/events.ts";
import type { Page } from "../../http/envelope.ts";
import {
  asQuery,
  inTime,
  listPage,
  type PageQuery,
  type PageRequest,
  toRow,
} from "../../http/pagination.ts";
import { eventDataFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime } from "../../lib/clock.ts";
import {
  type EventPage,
  type EventSelection,
  eventsOfContact,
} from "../../events/contact-events.ts";
import type { Activity } from "./activity-model.ts";

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

export function listActivity(
  app: App,
  projectSeq: number,
  contact: { seq: number; id: string },
  query: PageQuery,
): Promise<Page<Activity>> {
  return listPage(app)(
    { scope: `${projectSeq}:activity:${contact.id}`, query },
    (request) => read(app, { projectSeq, contactSeq: contact.seq }, request),
    (rows) => rows.map(({ activity }) => activity),
  );
}

async function read(app: App, selection: EventSelection, { after, limit }: PageRequest) {
  const [emailSeq = NEWEST, ...eventPosition] = after ?? [];
  const [eventSeq = NEWEST] = eventPosition;
  const eventsAfter = eventPosition.length === 0 ? null : eventPosition;
  const eventPart = await readEvents(app, selection, eventsAfter, limit);
  const emailPart = await readEmails(app, selection, emailSeq, limit);
  const timeline = merge(eventPart.entries, emailPart.entries, { eventSeq, emailSeq });
  return {
    rows: timeline.slice(0, limit),
    total: eventPart.total + emailPart.total,
    positionOf: (row: TimelineEntry) => [row.emailSeq, ...eventPart.cursorAt(row.eventSeq)],
  };
}

async function readEvents(
  app: App,
  selection: EventSelection,
  after: readonly number[] | null,
  limit: number,
): Promise<EventPart> {
  const { seqs, total, cursorAt } = await eventsOfContact(app).read(selection, { after, limit });
  const entries = app.db
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

async function readEmails(
  { db, reader }: App,
  { projectSeq, contactSeq }: EventSelection,
  before: number,
  limit: number,
): Promise<Part> {
  const isTheirs = and(inTime(emails), eq(emails.contactSeq, contactSeq));
  const page = db
    .select()
    .from(emails)
    .where(and(isTheirs, lt(emails.seq, before)))
    .orderBy(desc(emails.seq))
    .limit(limit);
  const total = db.select({ total: count() }).from(emails).where(isTheirs);
  const found = await reader.find(projectSeq, {
    ...asQuery(page),
    total: { ...asQuery(total), unlessFewerThan: before === NEWEST ? limit : 0 },
  });
  const entries = found.rows.map((values): Entry => {
    const { seq, createdAt, id, subject, status, source, templateId } = toRow(emails, values);
    const email = { id, subject, status, source, templateId };
    const activity: Activity = { kind: "EMAIL", createdAt: isoTime(createdAt), event: null, email };
    return { at: createdAt, seq, activity };
  });
  return { entries, total: Number(found.total) };
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
