/**
 * The events of one contact, newest first. The events of a contact with the same name are a chain:
 * the summary in `contact_events` points to the newest event, and each event points to the previous
 * one. A page is read by following all chains side by side, only as far as necessary. An index by
 * contact would write one more database page for every event.
 *
 * "Newest" means recorded last, even if the clock was set back.
 */

import type { App } from "../core/app.ts";
import { inTimeBy } from "../db/queries.ts";
import { perApp } from "../lib/per-app.ts";

export type ContactEvents = ReturnType<typeof createContactEvents>;

export const eventsOfContact = perApp((app: App) => createContactEvents(app));

/** Selects the events of a contact. Without `name`, events of every name. */
export type EventSelection = { projectSeq: number; contactSeq: number; name?: string | undefined };

type Period = { from: number; to: number };

export type PageOptions = {
  /** Result of `cursorAt` for the last event of the page before; null for the first page. */
  after: readonly number[] | null;
  limit: number;
  /** The time of recording, both ends included. Without it, all events are included. */
  period?: Period | undefined;
};

export type EventPage = {
  /** Newest first. */
  seqs: number[];
  /** Number of all events of the selection, not only of this page. */
  total: number;
  /** Cursor after one of these events: its `seq`, and the next event of each chain. */
  cursorAt: (seq: number) => number[];
};

type Link = { seq: number; previous: number | null };

/**
 * Largest number of chains in a cursor. With more, the next page follows the chains from the start.
 */
const MAX_CURSOR_CHAINS = 100;
/** Time for reading all events of a contact, which may be millions. */
const ALL_LIMIT_MS = 60_000;
/** Position of a cursor after the last event. */
const END = 0;

/** Summaries of one contact; their key begins with the name, so they are found name by name. */
const SUMMARIES = `
  event_names CROSS JOIN contact_events
    ON contact_events.name_seq = event_names.seq AND contact_events.contact_seq = +?1
  WHERE event_names.project_seq = (SELECT project_seq FROM contacts WHERE seq = +?1)`;
const OF_NAME = "AND event_names.name = +?2";

/** Follows all chains at once, newest event first. A chain ends at a removed event. */
function chainsFrom(heads: string, { limited = "", when = "1" } = {}): string {
  return `
    WITH RECURSIVE chains (seq, previous, created_at) AS (
      SELECT e.seq, e.previous_seq, e.created_at
      FROM (${heads}) AS head CROSS JOIN events AS e ON e.seq = head.seq
      UNION ALL
      SELECT e.seq, e.previous_seq, e.created_at
      FROM chains CROSS JOIN events AS e ON e.seq = chains.previous WHERE ${when}
      ORDER BY 1 DESC ${limited})`;
}

const HEADS = "SELECT value AS seq FROM json_each(?)";
const WITHIN = "FROM chains WHERE created_at BETWEEN ? AND ?";

export function createContactEvents({ db, reader }: Pick<App, "db" | "reader">) {
  const { sqlite } = db;
  const heads = sqlite.prepare<{ seq: number }, [number]>(
    `SELECT last_seq AS seq FROM ${SUMMARIES}`,
  );
  const headOfName = sqlite.prepare<{ seq: number }, [number, string]>(
    `SELECT last_seq AS seq FROM ${SUMMARIES} ${OF_NAME}`,
  );
  const sum = sqlite.prepare<{ total: number }, [number]>(
    `SELECT coalesce(sum(contact_events.count), 0) AS total FROM ${SUMMARIES}`,
  );
  const countOfName = sqlite.prepare<{ total: number }, [number, string]>(
    `SELECT contact_events.count AS total FROM ${SUMMARIES} ${OF_NAME}`,
  );
  const isAfter = sqlite.prepare<{ found: number }, [number, number]>(`
    SELECT EXISTS (SELECT 1 FROM ${SUMMARIES} AND contact_events.last_seq > +?2) AS found`);
  const step = sqlite.prepare<Link, [string, number]>(`
    ${chainsFrom(HEADS, { limited: "LIMIT +?" })}
    SELECT seq, previous FROM chains ORDER BY seq DESC`);
  const summaries = sqlite.prepare<{ nameSeq: number; lastSeq: number }, [number]>(
    `SELECT name_seq AS nameSeq, last_seq AS lastSeq FROM ${SUMMARIES}`,
  );
  const detach = sqlite.prepare<unknown, [string]>(`
    UPDATE events SET contact_seq = NULL, data = NULL WHERE seq IN (SELECT value FROM json_each(?))`);
  const shorten = sqlite.prepare<unknown, [number, number, number, number]>(`
    UPDATE contact_events SET last_seq = ?, count = count - ? WHERE name_seq = +? AND contact_seq = +?
      AND EXISTS (SELECT 1 FROM events WHERE seq = ?1)`);
  const drop = sqlite.prepare<unknown, [number, number]>(
    "DELETE FROM contact_events WHERE name_seq = +? AND contact_seq = +?",
  );

  /** Returns the newest event of each chain. */
  function newestHeads({ contactSeq, name }: EventSelection): number[] {
    const found = name === undefined ? heads.all(contactSeq) : headOfName.all(contactSeq, name);
    return found.map(({ seq }) => seq);
  }

  function totalOf({ contactSeq, name }: EventSelection): number {
    const found = name === undefined ? sum.get(contactSeq) : countOfName.get(contactSeq, name);
    return found?.total ?? 0;
  }

  /** Reads a page that starts at the given events of the chains. */
  function readPage(
    selection: EventSelection,
    chainHeads: readonly number[],
    limit: number,
  ): EventPage {
    const links = step.all(JSON.stringify(chainHeads), limit);
    return {
      seqs: links.map(({ seq }) => seq),
      total: totalOf(selection),
      cursorAt(last) {
        const seen = links.filter(({ seq }) => seq >= last);
        const rest = headsAfter(chainHeads, seen);
        if (rest.length === 0) return [END];
        return rest.length > MAX_CURSOR_CHAINS ? [last] : [last, ...rest];
      },
    };
  }

  /** Reads a page by a search of all events: for a period, or for a cursor without chains. */
  async function searchPage(
    selection: EventSelection,
    { before, limit, period }: { before: number; limit: number; period: Period | undefined },
  ): Promise<EventPage> {
    const { from, to } = period ?? { from: -Infinity, to: Infinity };
    const chains = chainsFrom(HEADS, { when: inTimeBy("e.seq") });
    const values = [JSON.stringify(newestHeads(selection)), from, to];
    const { rows, total } = await reader.find(selection.projectSeq, {
      sql: `${chains} SELECT seq ${WITHIN} AND seq < ? ORDER BY seq DESC LIMIT ?`,
      values: [...values, before, limit],
      total: { sql: `${chains} SELECT count(*) ${WITHIN}`, values, unlessFewerThan: 0 },
    });
    const seqs = rows.map(([seq]) => Number(seq));
    return { seqs, total: Number(total), cursorAt: (seq) => [seq] };
  }

  return {
    /** Reads one page and the total of the selection. */
    read(selection: EventSelection, { after, limit, period }: PageOptions): Promise<EventPage> {
      const [before = Infinity, ...rest] = after ?? [];
      const chainHeads = after === null ? newestHeads(selection) : rest;
      const needsSearch = period !== undefined || (chainHeads.length === 0 && before < Infinity);
      return needsSearch && before !== END
        ? searchPage(selection, { before, limit, period })
        : Promise.resolve(readPage(selection, chainHeads, limit));
    },

    /** Whether the contact has an event after position `seq` of the log. */
    hasSince: (contactSeq: number, seq: number): boolean =>
      isAfter.get(contactSeq, seq)?.found === 1,

    /** Resolves to the `seq` of all events of the contact that are still in the log, oldest first. */
    async seqsOf(projectSeq: number, contactSeq: number): Promise<number[]> {
      const query = {
        sql: `${chainsFrom(HEADS, { when: inTimeBy("e.seq") })}
              SELECT group_concat(seq ORDER BY seq) FROM chains`,
        values: [JSON.stringify(newestHeads({ projectSeq, contactSeq }))],
      };
      const { rows } = await reader.find(projectSeq, query, ALL_LIMIT_MS);
      // One text, because each row of a reader is an object that this thread has to make.
      const text = rows[0]?.[0];
      return typeof text === "string" ? text.split(",").map(Number) : [];
    },

    /**
     * Part of a change: removes the contact and the data from up to `limit` of its events, so that they
     * cannot be linked to a person. They are the newest of a name, so the rest is a chain. Returns
     * their `seq`: fewer than `limit` if there are no more.
     */
    detach(contactSeq: number, limit: number): number[] {
      const seqs: number[] = [];
      for (const { nameSeq, lastSeq } of summaries.all(contactSeq)) {
        const links = step.all(JSON.stringify([lastSeq]), limit - seqs.length);
        const rest = links.at(-1)?.previous ?? END;
        const isShortened = shorten.run(rest, links.length, nameSeq, contactSeq).changes > 0;
        if (!isShortened) drop.run(nameSeq, contactSeq);
        seqs.push(...links.map(({ seq }) => seq));
        if (seqs.length >= limit) break;
      }
      detach.run(JSON.stringify(seqs));
      return seqs;
    },
  };
}

/** Returns the next unread event of each chain after `links` were read. */
function headsAfter(chainHeads: readonly number[], links: readonly Link[]): number[] {
  const seen = new Set(links.map(({ seq }) => seq));
  const rest = links.flatMap(({ previous }) => previous ?? []);
  return [...chainHeads, ...rest].filter((seq) => !seen.has(seq));
}
