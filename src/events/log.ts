/**
 * The append-only event log.
 *
 * 1. `record` appends an event in the transaction of its cause, updates the counter of its name and
 *    the summary of its contact, and calls the handlers.
 * 2. Readers (`reader.ts`) consume the log in the order of `seq`, each from its own position.
 * 3. `list.ts` reads pages of the log; `contact-events.ts` reads the events of one contact.
 */

import type { App } from "../core/app.ts";
import type { Db } from "../db/open.ts";
import { bytesOfRow, RECEIVED_EVENT } from "../db/usage.ts";
import type { UsageCounter } from "../db/usage-counter.ts";
import type { Writer } from "../db/writer.ts";
import { newId } from "../lib/id.ts";
import { perApp } from "../lib/per-app.ts";

/** An event as it is read from the database. */
export type StoredEvent = {
  id: string;
  name: string;
  /** JSON text. */
  data: string | null;
  contactId: string | null;
  contactEmail: string | null;
  emailId: string | null;
  /** JSON text; null if its mail has none. */
  emailTags: string | null;
  createdAt: number;
};

export type EventInput = {
  projectSeq: number;
  name: string;
  contactSeq: number | null;
  emailSeq?: number;
  /** The campaign of the mail, if the caller has read it; null if it belongs to none. */
  campaignSeq?: number | null;
  /** Set for a click: true if it is the first one of its mail. The log may have lost earlier ones. */
  isFirstOfMail?: boolean;
  data?: unknown;
  /** The data as JSON text; takes precedence over `data`. */
  json?: string | undefined;
  at: number;
};

type EventRow = Pick<EventInput, "projectSeq" | "name" | "contactSeq" | "at"> & {
  emailSeq: number | null;
  json: string | null;
};

export type EventLog = ReturnType<typeof createEventLog>;

export const eventLog = perApp((app: App) => createEventLog(app));

/** Largest number of event names in the cache. */
const MAX_CACHED_NAMES = 10_000;

export function createEventLog(deps: {
  db: Db;
  writer: Pick<Writer, "afterCommit" | "tally">;
  usage: Pick<UsageCounter, "addBytes">;
}) {
  const { writer, usage } = deps;
  const { sqlite } = deps.db;
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
  const nameCounts = writer.tally<number>((nameSeq, times) => void addToCount.run(times, nameSeq));
  /**
   * Row ids of event names. Only committed names are cached, because a change that fails removes
   * the name that it added.
   */
  const cachedNameSeqs = createNameCache();
  const updateSummary = sqlite.prepare<unknown, [number, number, number, number | bigint]>(`
    INSERT INTO contact_events (contact_seq, name_seq, last_at, last_seq, count)
    VALUES (?, ?, ?, ?, 1)
    ON CONFLICT (contact_seq, name_seq) DO UPDATE
    SET last_at = max(last_at, excluded.last_at), last_seq = excluded.last_seq, count = count + 1`);

  const findBySeq = sqlite.prepare<StoredEvent, [number]>(`
    SELECT events.id, events.name, events.data, contacts.id AS contactId,
           contacts.email AS contactEmail, emails.id AS emailId, emails.tags AS emailTags,
           events.created_at AS createdAt
    FROM events LEFT JOIN contacts ON contacts.seq = events.contact_seq
                LEFT JOIN emails ON emails.seq = events.email_seq
    WHERE events.seq = +?`);

  // The time of the event is that of the mail; the index of names and times finds it.
  const removeReceivedTexts = sqlite.prepare<unknown, [number, number, string]>(`
    UPDATE events
    SET data = json_set(data, '$.text', '', '$.html', '', '$.isShortened', json('true'))
    WHERE project_seq = +? AND name = '${RECEIVED_EVENT}' AND created_at = +? AND data ->> 'id' = ?`);

  const handlers: ((event: EventInput) => void)[] = [];

  function nameSeqOf(projectSeq: number, name: string): number {
    const cached = cachedNameSeqs.get(projectSeq, name);
    if (cached !== undefined) return cached;
    const added = addName.get(projectSeq, name);
    if (added === null) throw new Error("the name of an event could not be stored");
    writer.afterCommit(() => cachedNameSeqs.set(projectSeq, name, added.seq));
    return added.seq;
  }

  /** Runs inside a change. Writes the row and updates the summary of its contact. */
  function append({ projectSeq, name, contactSeq, emailSeq, json, at }: EventRow): string {
    const id = newId(at);
    const nameSeq = nameSeqOf(projectSeq, name);
    const { lastInsertRowid } = insert.run(
      id,
      projectSeq,
      name,
      contactSeq,
      nameSeq,
      emailSeq,
      json,
      at,
    );
    if (contactSeq !== null) updateSummary.run(contactSeq, nameSeq, at, lastInsertRowid);
    nameCounts.add(nameSeq, 1);
    const bytes = bytesOfRow("events", { name, data: json });
    usage.addBytes(projectSeq, bytes, name === RECEIVED_EVENT);
    return id;
  }

  return {
    /** Registers a handler. It is called with every event, inside the change that writes it. */
    onEvent(handler: (event: EventInput) => void): void {
      handlers.push(handler);
    },

    /** Runs inside a change. Appends an event, calls the handlers and returns the event's id. */
    record(event: EventInput): string {
      const { projectSeq, name, contactSeq, emailSeq = null, data, at } = event;
      const json = event.json ?? (data === undefined ? null : JSON.stringify(data));
      const id = append({ projectSeq, name, contactSeq, emailSeq, json, at });
      for (const handle of handlers) handle(event);
      return id;
    },

    /** Part of a change: empties the texts in the event of a received mail with this id. */
    removeReceivedTexts({
      projectSeq,
      id,
      at,
    }: {
      projectSeq: number;
      id: string;
      at: number;
    }): void {
      removeReceivedTexts.run(projectSeq, at, id);
    },

    /** Returns null if the event was removed. */
    find(seq: number): StoredEvent | null {
      return findBySeq.get(seq);
    },
  };
}

/** Row ids by project and name. Two maps need no text built for each look-up. */
function createNameCache() {
  const byProject = new Map<number, Map<string, number>>();
  let size = 0;
  return {
    get: (projectSeq: number, name: string): number | undefined =>
      byProject.get(projectSeq)?.get(name),

    set(projectSeq: number, name: string, seq: number): void {
      if (size >= MAX_CACHED_NAMES) {
        byProject.clear();
        size = 0;
      }
      const names = byProject.get(projectSeq) ?? new Map<string, number>();
      if (!names.has(name)) size++;
      byProject.set(projectSeq, names.set(name, seq));
    },
  };
}
