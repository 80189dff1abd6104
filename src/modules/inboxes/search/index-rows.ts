/**
 * The trigram index of texts (`inbox_search`, an FTS5 table without a copy of the texts). All
 * functions but `upTo` are parts of a change.
 *
 * The index has the texts of all messages up to a position in the order of arrival. Later messages are
 * compared without the index, until text-indexing.ts adds many of them together, which costs less;
 * messages that an inbox loses soon are never added.
 *
 * FTS5 collects new entries in memory and writes them as a segment when a savepoint begins or ends.
 * Each change is a savepoint, and so is each statement that runs a trigger or changes further rows by
 * a foreign key. Therefore no trigger maintains the index, and the entries of many messages are
 * written one after the other, after all other rows of their change: that makes one segment. A
 * segment for each message takes three times as long, and later merges of small segments add to it.
 */

import type { Database } from "bun:sqlite";
import type { Db } from "../../../db/open.ts";
import { statement } from "../../../db/statement.ts";

export type IndexedText = { seq: number; text: string };

/** FTS5 has a row for each text of the index in this table. */
const findLast = statement<{ seq: number | null }, []>(
  "SELECT max(id) AS seq FROM inbox_search_docsize",
);

/** The last message in the index. */
export const indexedUpTo = (app: { db: Pick<Db, "sqlite"> }): number =>
  findLast(app).get()?.seq ?? 0;

export function createSearchIndex(sqlite: Database) {
  const following = sqlite.prepare<IndexedText, [number, number]>(`
    SELECT message_seq AS seq, text FROM inbox_texts
    WHERE message_seq > +? ORDER BY message_seq LIMIT +?`);
  const insert = sqlite.prepare<unknown, [number, string]>(
    "INSERT INTO inbox_search (rowid, text) VALUES (?, ?)",
  );
  const remove = sqlite.prepare<unknown, [number, string]>(
    "INSERT INTO inbox_search (inbox_search, rowid, text) VALUES ('delete', ?, ?)",
  );

  const merge = sqlite.prepare<unknown, [number]>(
    "INSERT INTO inbox_search (inbox_search, rank) VALUES ('merge', ?)",
  );
  const changesOf = sqlite.prepare<{ n: number }, []>("SELECT total_changes() AS n");

  const upTo = (): number => indexedUpTo({ db: { sqlite } });

  function add(texts: readonly IndexedText[]): void {
    for (const { seq, text } of texts) insert.run(seq, text);
  }

  return {
    /** The last message in the index. */
    upTo,

    /** Adds those of the texts that are before the last message in the index. */
    addPassed(texts: readonly IndexedText[]): void {
      const end = upTo();
      add(texts.filter(({ seq }) => seq < end));
    },

    /** Adds the next texts, and returns their number. */
    addNext(limit: number): number {
      const texts = following.all(upTo(), limit);
      add(texts);
      return texts.length;
    },

    /**
     * Merges segments of the index, so that the entries of removed texts leave the file. Writes about
     * this many pages; returns false if nothing is left to merge. `isFirst` begins the merge of all.
     */
    merge(pages: number, isFirst: boolean): boolean {
      const before = changesOf.get()?.n ?? 0;
      merge.run(isFirst ? -pages : pages);
      // FTS5 writes one row for the command itself.
      return (changesOf.get()?.n ?? 0) - before >= 2;
    },

    /** The texts must be those that were added: FTS5 finds the entries by them. */
    remove(texts: readonly IndexedText[]): void {
      for (const { seq, text } of texts) remove.run(seq, text);
    },
  };
}
