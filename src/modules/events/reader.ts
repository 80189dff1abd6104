/**
 * Readers of the log, each with a durable place of its own. What a reader makes of the events that
 * it read and the step of its place belong into one change: then a crash repeats both or neither.
 */

import type { Db } from "../../db/open.ts";

/** A row of the log as it is stored. */
export type LoggedEvent = {
  seq: number;
  id: string;
  projectSeq: number;
  name: string;
  contactSeq: number | null;
  emailSeq: number | null;
  /** JSON of an object, or null. */
  data: string | null;
  createdAt: number;
};

export type Reader = ReturnType<typeof createReader>;

/** `name` is the reader's for ever. One that is new begins at the beginning of the log. */
export function createReader({ db, name }: { db: Pick<Db, "sqlite">; name: string }) {
  const { sqlite } = db;
  const findPlace = sqlite.prepare<{ seq: number }, [string]>(
    "SELECT seq FROM readers WHERE name = +?",
  );
  const findNext = sqlite.prepare<LoggedEvent, [number, number]>(`
    SELECT seq, id, project_seq AS projectSeq, name, contact_seq AS contactSeq,
           email_seq AS emailSeq, data, created_at AS createdAt
    FROM events WHERE seq > +? ORDER BY seq LIMIT +?`);
  const findLast = sqlite.prepare<{ seq: number | null }, []>("SELECT max(seq) AS seq FROM events");
  const setPlace = sqlite.prepare<unknown, [string, number]>(`
    INSERT INTO readers (name, seq) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > readers.seq`);

  const place = () => findPlace.get(name)?.seq ?? 0;

  return {
    /** All events up to this `seq` are dealt with. */
    place,

    /** The next events in their order, after its place or another one; none at the end. */
    read: (limit: number, after = place()): LoggedEvent[] => findNext.all(after, limit),

    /** Part of a change: everything up to `seq` is dealt with; never goes back. */
    advance: (seq: number): void => void setPlace.run(name, seq),

    /** Part of a change: nothing that is in the log now concerns this reader. */
    skip(): void {
      setPlace.run(name, findLast.get()?.seq ?? 0);
    },
  };
}

/**
 * The place of the reader that is furthest behind: events after it are still needed. Infinity where
 * nobody reads.
 */
export function slowestReader({ sqlite }: Pick<Db, "sqlite">): () => number {
  const find = sqlite.prepare<{ seq: number | null }, []>("SELECT min(seq) AS seq FROM readers");
  return () => find.get()?.seq ?? Infinity;
}
