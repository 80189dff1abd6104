/**
 * The tables whose rows an erasure removes as a whole, because a part of them cannot be replaced: a
 * message that is signed, an index of its text, bytes that are packed.
 */

import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import { contactMails } from "../../outbox/contact-mails.ts";
import { eraseAttachment, eraseCaptured, eraseSubmitted } from "../../outbox/erase-content.ts";
import { removeSubmission } from "../forms/submissions.ts";
import { createReceivedRemoval } from "../inbound-routes/removal.ts";
import { receivedRows } from "../inbound-routes/inbound-routes.ts";
import { messageStore, rawForm } from "../inboxes/messages/store.ts";
import { removeRequest } from "../preferences/requests.ts";
import { decodedOctets, withEndOf } from "../../lib/decoded-octets.ts";
import { removeSuppressionOf } from "../suppressions.ts";
import { lowerCase, mentions } from "./spellings.ts";
import type { RowResult, Search } from "./sweep.ts";

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

/** `replace` replaces the address in the texts of the row. */
type Remove = (row: number, search: Search, replace: () => RowResult) => RowResult;

/** Null for a table whose texts are replaced. */
export function removerOf(app: App, table: string): Remove | null {
  const remover = REMOVERS[table];
  return remover === undefined
    ? null
    : (row, search, replace) => remover(app, row, search, replace);
}

type Remover = (app: App, ...given: Parameters<Remove>) => RowResult;

const REMOVERS: Readonly<Record<string, Remover>> = {
  attachment_contents: (app, row, { spellings }) => {
    const sql = "SELECT digest, bytes FROM attachment_contents WHERE rowid = ?";
    const found = app.db.sqlite
      .query<{ digest: string; bytes: Uint8Array }, [number]>(sql)
      .get(row);
    if (found === null || !bytesMention(found.bytes, spellings)) return "unchanged";
    return eraseAttachment(app, found.digest) ? "changed" : "postponed";
  },

  captured_messages: (app, row, { spellings }) => {
    const sql = "SELECT raw AS bytes FROM captured_messages WHERE email_seq = ?";
    if (!anyMention(app, sql, row, spellings)) return "unchanged";
    eraseCaptured(app, row);
    return "changed";
  },

  emails: (app, row, { addresses }, replace) => {
    const sql = "SELECT id, to_address AS email FROM emails WHERE seq = ? AND contact_seq IS NULL";
    const mail = app.db.sqlite.query<{ id: string; email: string }, [number]>(sql).get(row);
    const isTheirs = mail !== null && addresses.includes(mail.email);
    if (isTheirs) contactMails(app).forgetOne(mail.id);
    const result = replace();
    return isTheirs ? "changed" : result;
  },

  form_submissions: (app, row, { addresses }, replace) => {
    const sql = "SELECT email FROM form_submissions WHERE seq = ?";
    const email = app.db.sqlite.query<{ email: string | null }, [number]>(sql).get(row)?.email;
    if (email === undefined || email === null || !addresses.includes(email)) return replace();
    removeSubmission(app, row);
    return "changed";
  },

  inbox_messages: (app, row, { spellings }) =>
    removeCaught(app, row, anyMention(app, CAUGHT_TEXTS, row, spellings)),
  inbox_parts: (app, row, { spellings }) => {
    const sql = `SELECT message_seq AS seq, concat_ws(char(10), filename, content_id) AS text
                 FROM inbox_parts WHERE rowid = ?`;
    return caughtBy(app, sql, row, spellings);
  },
  inbox_raw: (app, row, { spellings }) => caughtBy(app, pieceSql("inbox_raw"), row, spellings),
  inbox_texts: (app, row, { spellings }) => {
    const sql = `SELECT message_seq AS seq, rest AS bytes,
                        concat_ws(char(10), sender, recipients, cc, bcc, reply_to, subject, text) AS text
                 FROM inbox_texts WHERE rowid = ?`;
    return caughtBy(app, sql, row, spellings);
  },

  message_pieces: (app, row, { spellings }) => {
    const found = readRow(app, pieceSql("message_pieces"), row);
    if (found === null || !rowMentions(found, spellings)) return "unchanged";
    return eraseSubmitted(app, found.seq) ? "changed" : "postponed";
  },

  preference_requests: (app, row, { addresses }) => {
    const sql = "SELECT new_address AS email FROM preference_requests WHERE seq = ?";
    const email = app.db.sqlite.query<{ email: string | null }, [number]>(sql).get(row)?.email;
    if (email === undefined || email === null || !addresses.includes(email)) return "unchanged";
    removeRequest(app, row);
    return "changed";
  },

  received_mails: (app, row, { spellings }) => {
    const sql =
      "SELECT seq, concat_ws(char(10), sender, content) AS text FROM received_mails WHERE rowid = ?";
    return receivedBy(app, sql, row, spellings);
  },
  received_pieces: (app, row, { spellings }) =>
    receivedBy(app, pieceSql("received_pieces"), row, spellings),

  suppressions: (app, row, { projectSeq, addresses }) => {
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

const pieceSql = (table: string): string =>
  `SELECT ${MESSAGE_OF_PIECE[table]} AS seq, bytes, ${bytesBefore(table)} AS before
   FROM ${table} t WHERE rowid = ?`;

type FoundRow = {
  seq: number;
  text?: string | null;
  bytes?: Uint8Array | null;
  before?: Uint8Array | null;
};

function readRow(app: App, sql: string, row: number): FoundRow | null {
  return app.db.sqlite.query<FoundRow, [number]>(sql).get(row);
}

function rowMentions({ text, bytes, before }: FoundRow, spellings: readonly string[]): boolean {
  return (
    (typeof text === "string" && mentions(text, spellings)) ||
    (bytes instanceof Uint8Array && bytesMention(bytes, spellings, before))
  );
}

function bytesMention(
  stored: Uint8Array,
  spellings: readonly string[],
  before: Uint8Array | null = null,
): boolean {
  const bytes = rawForm(stored);
  const searched = before === null ? bytes : withEndOf(rawForm(before), bytes);
  return mentions(lowerCase(decodedOctets(searched).toString("utf8")), spellings);
}

function anyMention(app: App, sql: string, row: number, spellings: readonly string[]): boolean {
  const found = readRow(app, sql, row);
  return found !== null && rowMentions(found, spellings);
}

function caughtBy(app: App, sql: string, row: number, spellings: readonly string[]): RowResult {
  const found = readRow(app, sql, row);
  return found === null ? "unchanged" : removeCaught(app, found.seq, rowMentions(found, spellings));
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

function receivedBy(app: App, sql: string, row: number, spellings: readonly string[]): RowResult {
  const found = readRow(app, sql, row);
  if (found === null || !rowMentions(found, spellings)) return "unchanged";
  const find = `SELECT seq, id, project_seq AS projectSeq, received_at AS receivedAt
                FROM received_mails WHERE seq = ?`;
  const mail = app.db.sqlite
    .query<{ seq: number; id: string; projectSeq: number; receivedAt: number }, [number]>(find)
    .get(found.seq);
  if (mail === null) return "unchanged";
  createReceivedRemoval({ rows: receivedRows(app), events: eventLog(app) })(mail);
  return "changed";
}
