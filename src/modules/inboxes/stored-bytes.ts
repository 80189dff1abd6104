/** Adds up the bytes of the stored messages by inbox, in slices. */

import type { Db } from "../../db/open.ts";
import { NO_OWNER } from "../../db/reader.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { startSlices } from "../../lib/slices.ts";

/** Messages whose bytes one statement adds up: a few milliseconds. */
const STEP_COUNTED = 1_000;

/** Bytes by inbox of the messages whose `seq` is at most `upTo`. */
type Counted = { byInbox: ReadonlyMap<number, number>; upTo: number };
export const NOTHING: Counted = { byInbox: new Map(), upTo: 0 };

export function createStoredBytes({ db, scheduler }: { db: Db; scheduler: FairScheduler }) {
  /** Messages that are still arriving are added when they are complete, and so are later ones. */
  const nextBytes = db.sqlite.prepare<
    { inboxSeq: number; bytes: number; upTo: number },
    [number, number]
  >(`
    SELECT inbox_seq AS inboxSeq, sum(stored_bytes) AS bytes, max(seq) AS upTo FROM (
      SELECT seq, inbox_seq, stored_bytes FROM inbox_messages
      WHERE seq > +? AND seq < ifnull(
        (SELECT min(seq) FROM inbox_messages WHERE state = 'ARRIVING'), ${Number.MAX_SAFE_INTEGER})
      ORDER BY seq LIMIT +?)
    GROUP BY inbox_seq`);

  return { countOn };

  /** Adds the messages after those that were counted. */
  async function countOn(known: Counted): Promise<Counted> {
    const slices = await startSlices(scheduler.queueOf(NO_OWNER));
    const byInbox = new Map(known.byInbox);
    for (let { upTo } = known; ;) {
      const found = nextBytes.all(upTo, STEP_COUNTED);
      if (found.length === 0) return { byInbox, upTo };
      for (const next of found) {
        byInbox.set(next.inboxSeq, (byInbox.get(next.inboxSeq) ?? 0) + next.bytes);
        upTo = Math.max(upTo, next.upTo);
      }
      if (slices.isOver()) await slices.next();
    }
  }
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
