/** The log of facts. Each is written in the transaction of its cause; readers follow by `seq`. */

import { and, count, desc, eq, lt, or } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import { eventNames } from "../../db/schema/events.ts";
import type { Page } from "../../http/envelope.ts";
import type { Cursors, PageQuery } from "../../http/pagination.ts";
import { newId } from "../../lib/id.ts";
import type { Event } from "./model.ts";
import { presentEvent, type StoredEvent } from "./stored.ts";

export type Fact = {
  projectSeq: number;
  name: string;
  contactSeq: number | null;
  emailSeq?: number;
  data?: unknown;
  /** The same where it is JSON already. */
  json?: string | undefined;
  at: number;
};

type NewEvent = Pick<Fact, "projectSeq" | "name" | "contactSeq" | "at"> & {
  emailSeq: number | null;
  json: string | null;
};

export type Events = ReturnType<typeof createEvents>;

/** Names whose place is known without asking. */
const MOST_KNOWN = 10_000;

export function createEvents(deps: {
  db: Db;
  writer: Pick<Writer, "afterCommit" | "tally">;
  cursors: Cursors;
}) {
  const { db, writer, cursors } = deps;
  const { sqlite } = db;
  const insert = sqlite.prepare<
    unknown,
    [string, number, string, number | null, number, number | null, string | null, number]
  >(`
    INSERT INTO events
      (id, project_seq, name, contact_seq, previous_seq, email_seq, data, created_at)
    VALUES (?1, ?2, ?3, ?4,
      (SELECT last_seq FROM contact_events WHERE name_seq = +?5 AND contact_seq = +?4),
      ?6, ?7, ?8)`);
  const addName = sqlite.prepare<{ seq: number }, [number, string]>(`
    INSERT INTO event_names (project_seq, name, count) VALUES (?, ?, 0)
    ON CONFLICT (project_seq, name) DO UPDATE SET count = count
    RETURNING seq`);
  const addToCount = sqlite.prepare<unknown, [number, number]>(
    "UPDATE event_names SET count = count + ? WHERE seq = ?",
  );
  const countName = writer.tally<number>((nameSeq, times) => void addToCount.run(times, nameSeq));
  /** Of names that are on disk: one that a refused change had added is there no more. */
  const nameSeqs = new Map<string, number>();
  const noteContact = sqlite.prepare<unknown, [number, number, number, number | bigint]>(`
    INSERT INTO contact_events (contact_seq, name_seq, last_at, last_seq, count)
    VALUES (?, ?, ?, ?, 1)
    ON CONFLICT (contact_seq, name_seq) DO UPDATE
    SET last_at = max(last_at, excluded.last_at), last_seq = excluded.last_seq, count = count + 1`);

  const findBySeq = sqlite.prepare<StoredEvent, [number]>(`
    SELECT events.id, events.name, events.data, contacts.id AS contactId,
           contacts.email AS contactEmail, emails.id AS emailId, events.created_at AS createdAt
    FROM events LEFT JOIN contacts ON contacts.seq = events.contact_seq
                LEFT JOIN emails ON emails.seq = events.email_seq
    WHERE events.seq = +?`);

  const followers: ((fact: Fact) => void)[] = [];

  function nameSeqOf(projectSeq: number, name: string): number {
    const key = `${projectSeq}:${name}`;
    const known = nameSeqs.get(key) ?? addName.get(projectSeq, name)?.seq;
    if (known === undefined) throw new Error("the name of an event found no place");
    if (!nameSeqs.has(key)) writer.afterCommit(() => remember(key, known));
    return known;
  }

  function remember(key: string, nameSeq: number): void {
    if (nameSeqs.size >= MOST_KNOWN) nameSeqs.clear();
    nameSeqs.set(key, nameSeq);
  }

  /** Part of a change: into the log, and into what is kept of its contact. */
  function append({ projectSeq, name, contactSeq, emailSeq, json, at }: NewEvent): string {
    const id = newId(at);
    const nameSeq = nameSeqOf(projectSeq, name);
    const place = insert.run(id, projectSeq, name, contactSeq, nameSeq, emailSeq, json, at);
    if (contactSeq !== null) noteContact.run(contactSeq, nameSeq, at, place.lastInsertRowid);
    countName(nameSeq, 1);
    return id;
  }

  return {
    /** From now on `follow` is called with every fact, within the change that wrote it. */
    onFact(follow: (fact: Fact) => void): void {
      followers.push(follow);
    },

    /** Part of a change: appends one fact and returns its id. */
    record(fact: Fact): string {
      const { projectSeq, name, contactSeq, emailSeq = null, data, at } = fact;
      const json = fact.json ?? (data === undefined ? null : JSON.stringify(data));
      const id = append({ projectSeq, name, contactSeq, emailSeq, json, at });
      for (const follow of followers) follow(fact);
      return id;
    },

    /** By its place in the log; null once it was removed. */
    find(seq: number): Event | null {
      const stored = findBySeq.get(seq);
      return stored === null ? null : presentEvent(stored);
    },

    /** Unique names, most used first. */
    names(projectSeq: number, query: PageQuery): Page<string> {
      const scope = `${projectSeq}:event-names`;
      const request = cursors.read(scope, query);
      const [uses, seq] = request.after ?? [];
      const after =
        uses === undefined || seq === undefined
          ? undefined
          : or(
              lt(eventNames.count, uses),
              and(eq(eventNames.count, uses), lt(eventNames.seq, seq)),
            );
      const inProject = eq(eventNames.projectSeq, projectSeq);
      const rows = db
        .select()
        .from(eventNames)
        .where(and(inProject, after))
        .orderBy(desc(eventNames.count), desc(eventNames.seq))
        .limit(request.limit + 1)
        .all();
      const total =
        db.select({ total: count() }).from(eventNames).where(inProject).all()[0]?.total ?? 0;
      return cursors.page(scope, request, rows, {
        total,
        positionOf: (row) => [row.count, row.seq],
        present: (row) => row.name,
      });
    },
  };
}
