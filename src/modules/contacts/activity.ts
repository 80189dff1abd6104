/** What happened to a contact: its events and its mails in one line of time, newest first. */

import { and, count, desc, eq, lt, lte, sql, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db } from "../../db/open.ts";
import { emails } from "../../db/schema/emails.ts";
import { events } from "../../db/schema/events.ts";
import type { Page } from "../../http/envelope.ts";
import type { Cursors, PageQuery, PageRequest } from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import type { Activity } from "./model.ts";
import type { Contacts } from "./service.ts";

export type ListActivity = (
  projectSeq: number,
  contactId: string,
  query: PageQuery,
) => Page<Activity>;

/** Of the same millisecond, a mail comes before the events about it. */
const EMAIL = 0;
const EVENT = 1;

type Source = { rank: number; at: SQLiteColumn; seq: SQLiteColumn };
type Entry = { position: readonly [at: number, rank: number, seq: number]; activity: Activity };

export function createActivity(deps: {
  db: Db;
  cursors: Cursors;
  contacts: Contacts;
}): ListActivity {
  const { db, cursors, contacts } = deps;

  function eventsOf(contactSeq: number, request: PageRequest): Entry[] {
    const source = { rank: EVENT, at: events.createdAt, seq: events.seq };
    return db
      .select({ event: events, emailId: emails.id })
      .from(events)
      .leftJoin(emails, eq(emails.seq, events.emailSeq))
      .where(and(eq(events.contactSeq, contactSeq), older(source, request)))
      .orderBy(desc(events.createdAt), desc(events.seq))
      .limit(request.limit + 1)
      .all()
      .map(({ event, emailId }) => ({
        position: [event.createdAt, EVENT, event.seq],
        activity: {
          kind: "EVENT",
          createdAt: isoTime(event.createdAt),
          event: {
            id: event.id,
            name: event.name,
            data: event.data === null ? null : JSON.parse(event.data),
            emailId,
          },
          email: null,
        },
      }));
  }

  function emailsOf(contactSeq: number, request: PageRequest): Entry[] {
    const source = { rank: EMAIL, at: emails.createdAt, seq: emails.seq };
    return db
      .select()
      .from(emails)
      .where(and(eq(emails.contactSeq, contactSeq), older(source, request)))
      .orderBy(desc(emails.createdAt), desc(emails.seq))
      .limit(request.limit + 1)
      .all()
      .map(({ seq, createdAt, id, subject, status, source, templateId }) => ({
        position: [createdAt, EMAIL, seq],
        activity: {
          kind: "EMAIL",
          createdAt: isoTime(createdAt),
          event: null,
          email: { id, subject, status, source, templateId },
        },
      }));
  }

  function countOf(table: typeof events | typeof emails, contactSeq: number): number {
    const [row] = db
      .select({ total: count() })
      .from(table)
      .where(eq(table.contactSeq, contactSeq))
      .all();
    return row?.total ?? 0;
  }

  return (projectSeq, contactId, query) => {
    const { seq } = contacts.get(projectSeq, contactId);
    const scope = `${projectSeq}:activity:${contactId}`;
    const request = cursors.read(scope, query);
    const entries = [...eventsOf(seq, request), ...emailsOf(seq, request)].sort(newestFirst);
    return cursors.page(scope, request, entries.slice(0, request.limit + 1), {
      total: countOf(events, seq) + countOf(emails, seq),
      positionOf: ({ position }) => position,
      present: ({ activity }) => activity,
    });
  };
}

/** Those of a source that come after the cursor. */
function older({ rank, at, seq }: Source, { after }: PageRequest): SQL | undefined {
  const [lastAt, lastRank, lastSeq] = after ?? [];
  if (lastAt === undefined || lastRank === undefined || lastSeq === undefined) return undefined;
  if (rank === lastRank) return sql`(${at}, ${seq}) < (${lastAt}, ${lastSeq})`;
  return rank < lastRank ? lte(at, lastAt) : lt(at, lastAt);
}

function newestFirst(a: Entry, b: Entry): number {
  const [at, rank, seq] = a.position;
  const [otherAt, otherRank, otherSeq] = b.position;
  return otherAt - at || otherRank - rank || otherSeq - seq;
}
