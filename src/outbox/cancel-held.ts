/** Cancels the old mails of a queue that is held, before it is released. */

import type { App } from "../core/app.ts";
import { NO_OWNER } from "../db/reader.ts";
import { cancellation } from "./cancel.ts";

/** One change cancels so many mails, because it holds the event loop. */
const SLICE = 250;
const REASON = "It was older than the operator wanted when the queue was released.";

/**
 * Cancels the queued mails that were accepted before a time; `isWanted` is asked before each change.
 * Resolves to their number.
 */
export async function cancelHeld(
  app: App,
  before: number,
  isWanted: () => boolean,
): Promise<number> {
  // In the order of the table, so that the place where a read ended is where the next one begins.
  const sql = `SELECT seq FROM emails NOT INDEXED
    WHERE in_time(seq) AND seq > ? AND status = 'QUEUED' AND next_at IS NOT NULL AND created_at < ?
    ORDER BY seq LIMIT ${SLICE}`;
  let cancelled = 0;
  for (let after = 0; isWanted();) {
    const query = { sql, values: [after, before], isPartial: true };
    const { rows, stoppedAt } = await app.reader.find(NO_OWNER, query);
    const seqs = rows.map(([seq]) => Number(seq));
    cancelled += await app.writer.write(() =>
      isWanted() ? cancellation(app).ofMails(seqs, REASON) : 0,
    );
    if (stoppedAt === null && seqs.length < SLICE) break;
    after = stoppedAt === null ? (seqs.at(-1) ?? after) : stoppedAt - 1;
  }
  return cancelled;
}
