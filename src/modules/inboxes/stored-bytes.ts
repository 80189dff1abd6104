/** Adds up the bytes of the stored messages by inbox. */

import type { App } from "../../core/app.ts";
import { inTimeBy } from "../../db/queries.ts";
import { NO_OWNER } from "../../db/reader.ts";
import { statement } from "../../db/statement.ts";

/** Bytes by inbox of the messages whose `seq` is at most `upTo`. */
type Counted = { byInbox: ReadonlyMap<number, number>; upTo: number };
export const NOTHING: Counted = { byInbox: new Map(), upTo: 0 };

const newest = statement<{ seq: number | null }, []>("SELECT max(seq) AS seq FROM inbox_messages");

/**
 * Adds the messages after those that were counted. Messages that are still arriving are added when
 * they are complete, and so are later ones.
 */
export async function countStoredBytes(app: App, known: Counted): Promise<Counted> {
  if ((newest(app).get()?.seq ?? 0) <= known.upTo) return known;
  const sql = `
    SELECT inbox_seq, sum(stored_bytes), max(seq) FROM inbox_messages
    WHERE seq > ? AND ${inTimeBy("seq")} AND seq < ifnull(
      (SELECT min(seq) FROM inbox_messages WHERE state = 'ARRIVING'), ${Number.MAX_SAFE_INTEGER})
    GROUP BY inbox_seq`;
  const { rows } = await app.reader.find(NO_OWNER, { sql, values: [known.upTo] });
  const byInbox = new Map(known.byInbox);
  for (const [inboxSeq, bytes] of rows) {
    const before = byInbox.get(Number(inboxSeq)) ?? 0;
    byInbox.set(Number(inboxSeq), before + Number(bytes));
  }
  const upTo = Math.max(known.upTo, ...rows.map((row) => Number(row[2])));
  return { byInbox, upTo };
}

export function totalOf(byInbox: ReadonlyMap<number, number>): number {
  let total = 0;
  for (const bytes of byInbox.values()) total += bytes;
  return total;
}

/** The inbox with the most bytes; null if all are in `kept`. */
export function largestOf(
  byInbox: ReadonlyMap<number, number>,
  kept: ReadonlySet<number>,
): number | null {
  let largest: number | null = null;
  let most = -1;
  for (const [inboxSeq, bytes] of byInbox) {
    if (bytes > most && !kept.has(inboxSeq)) [largest, most] = [inboxSeq, bytes];
  }
  return largest;
}
