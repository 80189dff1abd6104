/**
 * The tables whose rows an erasure removes as a whole, because a part of them cannot be replaced: a
 * message that is signed, an index of its text, bytes that are packed. A thread has searched the bytes,
 * because that takes long for a large message; they never change.
 */

import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import { contactMails } from "../../outbox/contact-mails.ts";
import { eraseAttachment, eraseCaptured, eraseSubmitted } from "../../outbox/erase-content.ts";
import { removeSubmission } from "../forms/submissions.ts";
import { createReceivedRemoval } from "../inbound-routes/removal.ts";
import { receivedRows } from "../inbound-routes/inbound-routes.ts";
import { messageStore } from "../inboxes/messages/store.ts";
import { removeRequest } from "../preferences/requests.ts";
import { removeSuppressionOf } from "../suppressions.ts";
import { mentions } from "../../lib/address-spellings.ts";
import type { FoundRow, RowResult, Search } from "./sweep.ts";

/** Tables whose rows are pieces of messages, numbered by `position`, and the column of the message. */
const MESSAGE_OF_PIECE: Readonly<Record<string, string>> = {
  inbox_raw: "message_seq",
  message_pieces: "message_seq",
  received_pieces: "mail_seq",
};

/** SQL of the bytes that precede those of a row `t`: null unless the row is a later piece of a message. */
export function bytesBefore(table: string): string {
  const message = MESSAGE_OF_PIECE[table];
  if (message === undefined) return "NULL";
  return `(SELECT b.bytes FROM ${table} b
    WHERE b.${message} = t.${message} AND b.position = t.position - 1)`;
}

/** SQL of the owner of a row `t` (`FoundRow`). */
export function ownerOf(table: string): string {
  const message = MESSAGE_OF_PIECE[table];
  if (message !== undefined) return `t.${message}`;
  return table === "attachment_contents" ? "t.digest" : "t.rowid";
}

/** `replace` replaces the address in the texts of the row. */
type Remove = (found: FoundRow, search: Search, replace: () => RowResult) => RowResult;

/** Null for a table whose texts are replaced. */
export function removerOf(app: App, table: string): Remove | null {
  const remover = REMOVERS[table];
  return remover === undefined
    ? null
    : (found, search, replace) => remover(app, found, search, replace);
}

type Remover = (app: App, ...given: Parameters<Remove>) => RowResult;

const REMOVERS: Readonly<Record<string, Remover>> = {
  attachment_contents: (app, found) => {
    if (!hasBytes(app, "attachment_contents", found)) return "unchanged";
    return eraseAttachment(app, String(found.owner)) ? "changed" : "postponed";
  },

  captured_messages: (app, found) => {
    if (!hasBytes(app, "captured_messages", found)) return "unchanged";
    eraseCaptured(app, found.row);
    return "changed";
  },

  emails: (app, { row }, { addresses }, replace) => {
    const sql = "SELECT id, to_address AS email FROM emails WHERE seq = ? AND contact_seq IS NULL";
    const mail = app.db.sqlite.query<{ id: string; email: string }, [number]>(sql).get(row);
    const isTheirs = mail !== null && addresses.includes(mail.email);
    if (isTheirs) contactMails(app).forgetOne(mail.id);
    const result = replace();
    return isTheirs ? "changed" : result;
  },

  form_submissions: (app, { row }, { addresses }, replace) => {
    const sql = "SELECT email FROM form_submissions WHERE seq = ?";
    const email = app.db.sqlite.query<{ email: string | null }, [number]>(sql).get(row)?.email;
    if (email === undefined || email === null || !addresses.includes(email)) return replace();
    removeSubmission(app, row);
    return "changed";
  },

  inbox_messages: (app, { row }, { spellings }) =>
    removeCaught(app, row, anyMention(app, CAUGHT_TEXTS, row, spellings)),
  inbox_parts: (app, { row }, { spellings }) => {
    const sql = `SELECT message_seq AS seq, concat_ws(char(10), filename, content_id) AS text
                 FROM inbox_parts WHERE rowid = ?`;
    return caughtBy(app, sql, row, spellings);
  },
  inbox_raw: (app, found) =>
    removeCaught(app, Number(found.owner), hasBytes(app, "inbox_raw", found)),
  inbox_texts: (app, found, { spellings }) => {
    const sql = `SELECT message_seq AS seq,
                        concat_ws(char(10), sender, recipients, cc, bcc, reply_to, subject, text) AS text
                 FROM inbox_texts WHERE rowid = ?`;
    if (hasBytes(app, "inbox_texts", found)) return removeCaught(app, found.row, true);
    return caughtBy(app, sql, found.row, spellings);
  },

  message_pieces: (app, found) => {
    if (!hasBytes(app, "message_pieces", found)) return "unchanged";
    return eraseSubmitted(app, Number(found.owner)) ? "changed" : "postponed";
  },

  preference_requests: (app, { row }, { addresses }) => {
    const sql = "SELECT new_address AS email FROM preference_requests WHERE seq = ?";
    const email = app.db.sqlite.query<{ email: string | null }, [number]>(sql).get(row)?.email;
    if (email === undefined || email === null || !addresses.includes(email)) return "unchanged";
    removeRequest(app, row);
    return "changed";
  },

  received_mails: (app, { row }, { spellings }) => {
    const sql =
      "SELECT seq, concat_ws(char(10), sender, content) AS text FROM received_mails WHERE rowid = ?";
    return removeReceived(app, row, anyMention(app, sql, row, spellings));
  },
  received_pieces: (app, found) =>
    removeReceived(app, Number(found.owner), hasBytes(app, "received_pieces", found)),

  suppressions: (app, { row }, { projectSeq, addresses }) => {
    const sql = "SELECT email AS text FROM suppressions WHERE seq = ?";
    const email = app.db.sqlite.query<{ text: string }, [number]>(sql).get(row)?.text;
    if (email === undefined || !addresses.includes(email)) return "unchanged";
    removeSuppressionOf(app, projectSeq, email);
    return "changed";
  },
};

const CAUGHT_TEXTS = `
  SELECT seq, concat_ws(char(10), envelope, username, addresses, subject, snippet, tags) AS text
  FROM inbox_messages WHERE seq = ?`;

/** Whether the bytes that have the address are still there. */
function hasBytes(app: App, table: string, { row, owner, isInBytes }: FoundRow): boolean {
  const sql = `SELECT 1 FROM ${table} t WHERE t.rowid = ? AND ${ownerOf(table)} = ?`;
  return isInBytes && app.db.sqlite.query(sql).get(row, owner) !== null;
}

type TextRow = { seq: number; text: string | null };

function readRow(app: App, sql: string, row: number): TextRow | null {
  return app.db.sqlite.query<TextRow, [number]>(sql).get(row);
}

function anyMention(app: App, sql: string, row: number, spellings: readonly string[]): boolean {
  return mentions(readRow(app, sql, row)?.text ?? "", spellings);
}

function caughtBy(app: App, sql: string, row: number, spellings: readonly string[]): RowResult {
  const found = readRow(app, sql, row);
  if (found === null) return "unchanged";
  return removeCaught(app, found.seq, mentions(found.text ?? "", spellings));
}

/** A caught message is removed with the copy of the mail that it is. */
function removeCaught(app: App, seq: number, isMentioned: boolean): RowResult {
  if (!isMentioned) return "unchanged";
  const sql = `SELECT e.seq FROM inbox_messages m JOIN emails e ON e.id = m.email_id WHERE m.seq = ?`;
  const email = app.db.sqlite.query<{ seq: number }, [number]>(sql).get(seq);
  if (email !== null) eraseCaptured(app, email.seq);
  messageStore(app).remove(seq);
  return "changed";
}

function removeReceived(app: App, seq: number, isMentioned: boolean): RowResult {
  if (!isMentioned) return "unchanged";
  const find = `SELECT seq, id, project_seq AS projectSeq, received_at AS receivedAt
                FROM received_mails WHERE seq = ?`;
  const mail = app.db.sqlite
    .query<{ seq: number; id: string; projectSeq: number; receivedAt: number }, [number]>(find)
    .get(seq);
  if (mail === null) return "unchanged";
  createReceivedRemoval({ rows: receivedRows(app), events: eventLog(app) })(mail);
  return "changed";
}
