/**
 * The trigram index of texts (`inbox_search`, an FTS5 table without a copy of the texts). All
 * functions are parts of a change.
 *
 * FTS5 collects new entries in memory and writes them as a segment when a savepoint begins or ends.
 * Each change is a savepoint, and so is each statement that runs a trigger or changes further rows by
 * a foreign key. Therefore no trigger maintains the index, and the entries of many messages are
 * written one after the other, after all other rows of their change: that makes one segment. A
 * segment for each message takes three times as long, and later merges of small segments add to it.
 */

import type { Database } from "bun:sqlite";

export type IndexedText = { seq: number; text: string };

export function createSearchIndex(sqlite: Database) {
  const insert = sqlite.prepare<unknown, [number, string]>(
    "INSERT INTO inbox_search (rowid, text) VALUES (?, ?)",
  );
  const remove = sqlite.prepare<unknown, [number, string]>(
    "INSERT INTO inbox_search (inbox_search, rowid, text) VALUES ('delete', ?, ?)",
  );

  return {
    add(texts: readonly IndexedText[]): void {
      for (const { seq, text } of texts) insert.run(seq, text);
    },

    /** The texts must be those that were added: FTS5 finds the entries by them. */
    remove(texts: readonly IndexedText[]): void {
      for (const { seq, text } of texts) remove.run(seq, text);
    },
  };
}
