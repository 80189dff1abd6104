/** What happened to a contact: its events and its mails in one line of time, newest first. */

import { and, count, desc, eq, inArray, lt } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { emails } from "../../db/schema/emails.ts";
import { events } from "../../db/schema/events.ts";
import type { Page } from "../../http/envelope.ts";
import type { Cursors, PageQuery } from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import type { ContactEvents, Found, Whose } from "../../events/contact-events.ts";
import type { Activity } from "./model.ts";
import type { Contacts } from "./service.ts";

export type ListActivity = (
  projectSeq: number,
  contactId: string,
  query: PageQuery,
) => Promise<Page<Activity>>;

/** `total`: of all there are. */
type Part = { entries: Entry[]; total: number };
type Entry = { at: number; seq: number; activity: Activity };
type EventPart = Part & Pick<Found, "cursorAt">;

/** With how far either was read by then: its seqs, or where this page began. */
type Placed = { activity: Activity; eventSeq: number; emailSeq: number };

const NEWEST = Number.MAX_SAFE_INTEGER;

export function createActivity(deps: {
  db: Db;
  cursors: Cursors;
  contacts: Contacts;
  eventsOfContact: ContactEvents;
}): ListActivity {
  const { db, cursors, contacts, eventsOfContact } = deps;

  async function eventsOf(
    whose: Whose,
    after: readonly number[] | null,
    limit: number,
  ): Promise<EventPart> {
    const { seqs, total, cursorAt } = await eventsOfContact.look(whose, { after, limit });
    const entries = db
      .select({ event: events, emailId: emails.id })
      .from(events)
      .leftJoin(emails, eq(emails.seq, events.emailSeq))
      .where(inArray(events.seq, seqs))
      .orderBy(desc(events.seq))
      .all()
      .map(({ event, emailId }): Entry => {
        const { seq, id, name, createdAt } = event;
        const data = event.data === null ? null : JSON.parse(event.data);
        return {
          at: createdAt,
          seq,
          activity: {
            kind: "EVENT",
            createdAt: isoTime(createdAt),
            event: { id, name, data, emailId },
            email: null,
          },
        };
      });
    return { entries, total, cursorAt };
  }

  function emailsOf(contactSeq: number, before: number, limit: number): Part {
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
    const [row] = db.select({ total: count() }).from(emails).where(isTheirs).all();
    return { entries, total: row?.total ?? 0 };
  }

  return async (projectSeq, contactId, query) => {
    const { seq } = contacts.get(projectSeq, contactId);
    const scope = `${projectSeq}:activity:${contactId}`;
    const request = cursors.read(scope, query);
    const [emailSeq = NEWEST, ...after] = request.after ?? [];
    const [eventSeq = NEWEST] = after;
    const limit = request.limit + 1;
    const ofEvents = await eventsOf(
      { projectSeq, contactSeq: seq },
      after.length === 0 ? null : after,
      limit,
    );
    const ofMails = emailsOf(seq, emailSeq, limit);
    const placed = merge(ofEvents.entries, ofMails.entries, { eventSeq, emailSeq });
    return cursors.page(scope, request, placed.slice(0, limit), {
      total: ofEvents.total + ofMails.total,
      positionOf: (row) => [row.emailSeq, ...ofEvents.cursorAt(row.eventSeq)],
      present: ({ activity }) => activity,
    });
  };
}

/** Newest first; of the same millisecond, a mail was there before the events about it. */
function merge(
  ofEvents: readonly Entry[],
  ofMails: readonly Entry[],
  from: Pick<Placed, "eventSeq" | "emailSeq">,
): Placed[] {
  const placed: Placed[] = [];
  let { eventSeq, emailSeq } = from;
  let mails = 0;

  function takeMailsAfter(at: number): void {
    for (let mail = ofMails[mails]; mail !== undefined && mail.at > at; mail = ofMails[++mails]) {
      emailSeq = mail.seq;
      placed.push({ activity: mail.activity, eventSeq, emailSeq });
    }
  }

  for (const { at, seq, activity } of ofEvents) {
    takeMailsAfter(at);
    eventSeq = seq;
    placed.push({ activity, eventSeq, emailSeq });
  }
  takeMailsAfter(-Infinity);
  return placed;
}
