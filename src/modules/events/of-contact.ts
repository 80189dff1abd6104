/**
 * The events of a contact, newest first. Those of one name are a chain: the summary in
 * `contact_events` knows the last one, and each event the one before it. The chains are walked side
 * by side, as far as somebody reads. An index by contact would cost every event a page of its own.
 *
 * Newest is what was recorded last, whatever the clock did.
 */

import type { Db } from "../../db/open.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairTurns } from "../../lib/turns.ts";

export type EventsOfContact = ReturnType<typeof createEventsOfContact>;

/** `name`: all there are where it is left out. */
export type Whose = { projectSeq: number; contactSeq: number; name?: string | undefined };

export type Part = {
  /** What `cursorAt` gave for the last one that was shown; null: from the newest on. */
  after: readonly number[] | null;
  limit: number;
  /** Of the time they were recorded at; all where it is left out. */
  isWithin?: ((createdAt: number) => boolean) | undefined;
};

export type Found = {
  /** Newest first. */
  seqs: number[];
  /** Of all that are within, whatever part was asked for. */
  total: number;
  /** Where to go on behind one of these: its place, and where each chain goes on behind it. */
  cursorAt: (seq: number) => number[];
};

type Link = { seq: number; previous: number | null; createdAt: number };

/** Events of one step: some milliseconds. */
const STEP = 1_000;
/** Chains that a cursor has room for; behind one without, they are walked from the beginning. */
const MOST_ENDS = 100;
/** Place of a cursor behind which there is nothing. */
const END = 0;

/** Summaries of one contact: asked for name by name, as they are kept (schema/events). */
const SUMMARIES = `
  event_names CROSS JOIN contact_events
    ON contact_events.name_seq = event_names.seq AND contact_events.contact_seq = +?1
  WHERE event_names.project_seq = (SELECT project_seq FROM contacts WHERE seq = +?1)`;
const OF_NAME = "AND event_names.name = +?2";

/** The latest of the chains first, again and again; a link to what was removed leads nowhere. */
function chainsFrom(heads: string, limited = ""): string {
  return `
    WITH RECURSIVE chains (seq, previous, created_at) AS (
      SELECT e.seq, e.previous_seq, e.created_at
      FROM (${heads}) AS head CROSS JOIN events AS e ON e.seq = head.seq
      UNION ALL
      SELECT e.seq, e.previous_seq, e.created_at
      FROM chains CROSS JOIN events AS e ON e.seq = chains.previous
      ORDER BY 1 DESC ${limited})`;
}

export function createEventsOfContact(deps: { db: Db; turns: FairTurns }) {
  const { turns } = deps;
  const { sqlite } = deps.db;
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
    ${chainsFrom("SELECT value AS seq FROM json_each(?)", "LIMIT +?")}
    SELECT seq, previous, created_at AS createdAt FROM chains ORDER BY seq DESC`);
  const detach = sqlite.prepare<unknown, [number]>(`
    UPDATE events SET contact_seq = NULL, data = NULL WHERE seq IN (
      ${chainsFrom(`SELECT last_seq AS seq FROM ${SUMMARIES}`)} SELECT seq FROM chains)`);

  /** Where the chains begin. */
  function start({ contactSeq, name }: Whose): number[] {
    const found = name === undefined ? heads.all(contactSeq) : headOfName.all(contactSeq, name);
    return found.map(({ seq }) => seq);
  }

  function totalOf({ contactSeq, name }: Whose): number {
    const found = name === undefined ? sum.get(contactSeq) : countOfName.get(contactSeq, name);
    return found?.total ?? 0;
  }

  /** One step from where the chains go on. */
  function next(whose: Whose, ends: readonly number[], limit: number): Found {
    const links = step.all(JSON.stringify(ends), limit);
    return {
      seqs: links.map(({ seq }) => seq),
      total: totalOf(whose),
      cursorAt(last) {
        const seen = links.filter(({ seq }) => seq >= last);
        const behind = endsBehind(ends, seen);
        if (behind.length === 0) return [END];
        return behind.length > MOST_ENDS ? [last] : [last, ...behind];
      },
    };
  }

  /** All of them, in turns. */
  async function* walk(whose: Whose): AsyncGenerator<readonly Link[]> {
    let ends = start(whose);
    const slices = await startSlices(turns.of(whose.projectSeq));
    for (;;) {
      const links = step.all(JSON.stringify(ends), STEP);
      yield links;
      if (links.length < STEP) return;
      ends = endsBehind(ends, links);
      if (slices.isOver()) await slices.next();
    }
  }

  async function search(
    whose: Whose,
    { before, limit, isWithin }: { before: number } & Required<Omit<Part, "after">>,
  ): Promise<Found> {
    const seqs: number[] = [];
    let total = 0;
    for await (const links of walk(whose)) {
      const within = isWithin ? links.filter((link) => isWithin(link.createdAt)) : links;
      total += within.length;
      const wanted = within.filter(({ seq }) => seq < before).map(({ seq }) => seq);
      seqs.push(...wanted.slice(0, limit - seqs.length));
    }
    return { seqs, total, cursorAt: (seq) => [seq] };
  }

  return {
    /** A part of them, and how many there are. */
    look(whose: Whose, { after, limit, isWithin }: Part): Promise<Found> {
      const [before = Infinity, ...behind] = after ?? [];
      const ends = after === null ? start(whose) : behind;
      const isWalked = isWithin !== undefined || (ends.length === 0 && before < Infinity);
      return isWalked && before !== END
        ? search(whose, { before, limit, isWithin })
        : Promise.resolve(next(whose, ends, limit));
    },

    /** Whether any was recorded after this one of the log. */
    hasSince: (contactSeq: number, seq: number): boolean =>
      isAfter.get(contactSeq, seq)?.found === 1,

    /** Part of a change, before the contact is deleted: nothing in them tells whose they were. */
    detach: (contactSeq: number): void => void detach.run(contactSeq),
  };
}

/** How far the chains have been walked: the first link of each that has not been seen. */
function endsBehind(ends: readonly number[], links: readonly Link[]): number[] {
  const seen = new Set(links.map(({ seq }) => seq));
  const behind = links.flatMap(({ previous }) => previous ?? []);
  return [...ends, ...behind].filter((seq) => !seen.has(seq));
}
