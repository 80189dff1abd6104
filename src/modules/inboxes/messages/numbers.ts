/**
 * Makes the reads that look at all messages of an inbox, in a thread: how many there are, and which
 * of them are on a page that begins at a position.
 */

import type { App } from "../../../core/app.ts";
import { inTimeBy } from "../../../db/queries.ts";
import type { InboxRow } from "../service.ts";

export type Counts = { total: number; unread: number };

type Inbox = Pick<InboxRow, "seq" | "projectSeq">;

export const NO_MESSAGES: Counts = { total: 0, unread: 0 };

/** The number of messages of each inbox of a project, by the `seq` of the inbox. */
export async function countInboxes(
  { reader }: Pick<App, "reader">,
  projectSeq: number,
  inboxes: readonly Pick<Inbox, "seq">[],
): Promise<ReadonlyMap<number, Counts>> {
  const sql = `
    SELECT inbox_seq, count(*), sum(is_read = 0)
    FROM inbox_messages INDEXED BY inbox_messages_unread
    WHERE inbox_seq IN (SELECT value FROM json_each(?)) AND ${inTimeBy("seq")} GROUP BY inbox_seq`;
  const values = [JSON.stringify(inboxes.map(({ seq }) => seq))];
  const { rows } = await reader.find(projectSeq, { sql, values });
  return new Map(
    rows.map(([seq, total, unread]) => [
      Number(seq),
      { total: Number(total), unread: Number(unread) },
    ]),
  );
}

export async function countInbox(app: Pick<App, "reader">, inbox: Inbox): Promise<Counts> {
  const counts = await countInboxes(app, inbox.projectSeq, [inbox]);
  return counts.get(inbox.seq) ?? NO_MESSAGES;
}

/** The `seq` of up to `limit` messages after the `start` newest ones, newest first. */
export async function seqsAt(
  { reader }: Pick<App, "reader">,
  inbox: Inbox,
  { start, limit }: { start: number; limit: number },
): Promise<number[]> {
  // As one text, because a hundred thousand rows take longer on their way to the event loop.
  const sql = `
    SELECT json_group_array(seq ORDER BY seq DESC) FROM (
      SELECT seq FROM inbox_messages
      WHERE inbox_seq = ? AND state <> 'ARRIVING' AND ${inTimeBy("seq")}
      ORDER BY seq DESC LIMIT ? OFFSET ?)`;
  const { rows } = await reader.find(inbox.projectSeq, { sql, values: [inbox.seq, limit, start] });
  const seqs: unknown = JSON.parse(String(rows[0]?.[0]));
  if (!Array.isArray(seqs)) throw new Error("a page of messages cannot be read");
  return seqs.map(Number);
}
