/** Reads the tags of an inbox. A message stores its tags as one sorted list. */

import type { App } from "../../../core/app.ts";
import { inTimeBy } from "../../../db/queries.ts";
import { parseTags } from "../messages/record.ts";

/** The different lists of tags of the inbox's messages, as stored, each with its number of messages. */
export async function readTags(
  { reader }: Pick<App, "reader">,
  projectSeq: number,
  inboxSeq: number,
): Promise<Map<string, number>> {
  const sql = `
    SELECT tags, count(*) FROM inbox_messages
    WHERE inbox_seq = ? AND tags <> '[]' AND ${inTimeBy("seq")} GROUP BY tags`;
  const { rows } = await reader.find(projectSeq, { sql, values: [inboxSeq] });
  return new Map(rows.map(([tags, count]) => [String(tags), Number(count)]));
}

/** The tags of an inbox in alphabetical order, each with its number of messages. */
export async function countTags(
  app: App,
  { seq, projectSeq }: { seq: number; projectSeq: number },
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const [list, messages] of await readTags(app, projectSeq, seq)) {
    for (const tag of parseTags(list)) counts.set(tag, (counts.get(tag) ?? 0) + messages);
  }
  return new Map([...counts].sort(([a], [b]) => a.localeCompare(b, "en")));
}
