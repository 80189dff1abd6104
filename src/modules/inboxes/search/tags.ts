/** Reads the tags of an inbox. A message stores its tags as one sorted list. */

import type { Database } from "bun:sqlite";
import { parseTags } from "../messages/record.ts";

export function createTags(sqlite: Database) {
  const nextList = sqlite.prepare<{ tags: string }, [number, string]>(`
    SELECT tags FROM inbox_messages
    WHERE inbox_seq = +? AND tags <> '[]' AND tags > ? ORDER BY tags LIMIT 1`);
  const countList = sqlite.prepare<{ n: number }, [number, string]>(`
    SELECT count(*) AS n FROM inbox_messages
    WHERE inbox_seq = +? AND tags <> '[]' AND tags = ?`);

  /** The different lists of tags of the inbox's messages, as stored. */
  function listsOf(inboxSeq: number): string[] {
    const found: string[] = [];
    // Each look-up jumps over all messages with the same list.
    for (let last = ""; ;) {
      const row = nextList.get(inboxSeq, last);
      if (row === null) return found;
      found.push(row.tags);
      last = row.tags;
    }
  }

  return {
    listsOf,

    /** The tags of an inbox in alphabetical order. */
    names: (inboxSeq: number): string[] =>
      [...new Set(listsOf(inboxSeq).flatMap(parseTags))].sort(byName),

    /** The tags of an inbox in alphabetical order, each with its number of messages. */
    counts(inboxSeq: number): Map<string, number> {
      const counts = new Map<string, number>();
      for (const list of listsOf(inboxSeq)) {
        const messages = countList.get(inboxSeq, list)?.n ?? 0;
        for (const tag of parseTags(list)) counts.set(tag, (counts.get(tag) ?? 0) + messages);
      }
      return new Map([...counts].sort(([a], [b]) => byName(a, b)));
    },
  };
}

const byName = (a: string, b: string): number => a.localeCompare(b, "en");
