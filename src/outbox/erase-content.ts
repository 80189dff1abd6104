/**
 * Removes the content of messages for an erasure. A message of which mail still waits keeps its content
 * until that mail has left. All functions are parts of a change.
 */

import type { App } from "../core/app.ts";
import { statement } from "../db/statement.ts";
import { HAS_LEFT } from "./purge-recipients.ts";

const clearMessage = statement<null, [number]>(`
  UPDATE messages SET html = '', headers = '[]', text = NULL, recipients = NULL,
                      digest = 'purged ' || seq
  WHERE seq = +?`);
const dropPieces = statement<null, [number]>("DELETE FROM message_pieces WHERE message_seq = +?");
const dropAttachments = statement<{ digest: string }, [number]>(
  "DELETE FROM message_attachments WHERE message_seq = +? RETURNING content_digest AS digest",
);
const dropUses = statement<null, [string]>(
  "DELETE FROM message_attachments WHERE content_digest = +?",
);
const dropContent = statement<null, [string]>(`
  DELETE FROM attachment_contents WHERE digest = +?1
    AND NOT EXISTS (SELECT 1 FROM message_attachments WHERE content_digest = +?1)`);
const dropCaptured = statement<null, [number]>(
  "DELETE FROM captured_messages WHERE email_seq = +?",
);
const hasLeft = statement<{ left: number }, [number]>(
  `SELECT ${HAS_LEFT} AS "left" FROM messages WHERE seq = +?`,
);
const messageWaiting = statement<{ seq: number }, [string]>(`
  SELECT a.message_seq AS seq FROM message_attachments a
  JOIN emails e ON e.message_seq = a.message_seq AND e.next_at IS NOT NULL
  WHERE a.content_digest = +? LIMIT 1`);

/**
 * Messages that only this contact got: their text may tell of the person without the address. Templates
 * and campaigns are the content of many.
 */
const messagesOfOne = statement<{ seq: number }, [string]>(`
  SELECT e.message_seq AS seq FROM json_each(?) AS each CROSS JOIN emails e ON e.seq = each.value
  WHERE e.template_id IS NULL AND e.campaign_seq IS NULL
    AND NOT EXISTS (SELECT 1 FROM emails o
                    WHERE o.message_seq = e.message_seq AND o.contact_seq IS NOT e.contact_seq)`);

/** Removes the content of the messages of these mails that only their contact got. */
export function eraseMessagesOf(app: App, mails: readonly number[]): void {
  const messages = messagesOfOne(app).all(JSON.stringify(mails));
  for (const seq of new Set(messages.map((message) => message.seq))) {
    clearMessage(app).run(seq);
    dropPieces(app).run(seq);
    for (const { digest } of dropAttachments(app).all(seq)) dropContent(app).run(digest);
  }
}

/** Removes the content of a submitted message. Returns false if mail of it still waits. */
export function eraseSubmitted(app: App, messageSeq: number): boolean {
  if (hasLeft(app).get(messageSeq)?.left !== 1) return false;
  clearMessage(app).run(messageSeq);
  dropPieces(app).run(messageSeq);
  return true;
}

/** Removes a file from all messages. Returns false if mail with it still waits. */
export function eraseAttachment(app: App, digest: string): boolean {
  if (messageWaiting(app).get(digest) !== null) return false;
  dropUses(app).run(digest);
  dropContent(app).run(digest);
  return true;
}

export function eraseCaptured(app: App, emailSeq: number): void {
  dropCaptured(app).run(emailSeq);
}

/** Mails of the contact that are under way: their attempts end without its address (record.ts). */
const findUnderWay = statement<{ seq: number }, [number]>(
  "SELECT seq FROM emails WHERE contact_seq = +? AND status = 'SENDING'",
);
const isUnderWay = statement<{ found: number }, [string]>(`
  SELECT 1 AS found FROM json_each(?) AS each CROSS JOIN emails ON emails.seq = each.value
  WHERE emails.next_at IS NOT NULL LIMIT 1`);

export const mailsUnderWay = (app: App, contactSeq: number): number[] =>
  findUnderWay(app)
    .all(contactSeq)
    .map(({ seq }) => seq);

export const areUnderWay = (app: App, seqs: readonly number[]): boolean =>
  isUnderWay(app).get(JSON.stringify(seqs)) !== null;
