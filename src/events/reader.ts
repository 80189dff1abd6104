/**
 * Readers of the event log, each with its own durable position. A reader must process events and
 * advance its position in the same change, so that a crash repeats both or neither.
 */

import type { Db } from "../db/open.ts";

/** A row of the event log. */
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

/** `name` identifies the stored position. A new reader starts at the beginning of the log. */
export function createReader({ db, name }: { db: Pick<Db, "sqlite">; name: string }) {
  const { sqlite } = db;
  const findPosition = sqlite.prepare<{ seq: number }, [string]>(
    "SELECT seq FROM readers WHERE name = +?",
  );
  const findNext = sqlite.prepare<LoggedEvent, [number, number]>(`
    SELECT seq, id, project_seq AS projectSeq, name, contact_seq AS contactSeq,
           email_seq AS emailSeq, data, created_at AS createdAt
    FROM events WHERE seq > +? ORDER BY seq LIMIT +?`);
  const findNewest = sqlite.prepare<{ seq: number | null }, []>(
    "SELECT max(seq) AS seq FROM events",
  );
  const setPosition = sqlite.prepare<unknown, [string, number]>(`
    INSERT INTO readers (name, seq) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > readers.seq`);

  const position = () => findPosition.get(name)?.seq ?? 0;

  return {
    /** The position: all events up to this `seq` have been processed. */
    place: position,

    /** Returns the events after `after`, in their order; an empty list at the end of the log. */
    read: (limit: number, after = position()): LoggedEvent[] => findNext.all(after, limit),

    /** Runs inside a change. Moves the position to `seq`; never moves it back. */
    advance: (seq: number): void => void setPosition.run(name, seq),

    /** Runs inside a change. Moves the position to the end of the log. */
    skip(): void {
      setPosition.run(name, findNewest.get()?.seq ?? 0);
    },
  };
}

/** Runs inside a change. Forgets a reader that is not used any more, which would keep all newer events. */
export function forgetReader({ sqlite }: Pick<Db, "sqlite">, name: string): void {
  sqlite.run("DELETE FROM readers WHERE name = ?", [name]);
}

/**
 * Returns a function that finds the smallest position of all readers; later events are still
 * needed. Infinity if there are no readers.
 */
export function createSlowestPosition({ sqlite }: Pick<Db, "sqlite">): () => number {
  const find = sqlite.prepare<{ seq: number | null }, []>("SELECT min(seq) AS seq FROM readers");
  return () => find.get()?.seq ?? Infinity;
}
