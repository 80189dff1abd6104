/** The rows of received mails. All functions that write are parts of a change. */

import type { App } from "../../core/app.ts";
import { inTimeBy } from "../../db/queries.ts";
import { insertedSeq } from "../../db/inserted.ts";
import type { Db } from "../../db/open.ts";
import { newId } from "../../lib/id.ts";
import type { ReceivedContent, ReceivedRow } from "./record.ts";

/** The columns of a mail that arrived completely. */
type FinishedMail = {
  receivedAt: number;
  size: number;
  sender: string;
  content: ReceivedContent;
  emailSeq: number | null;
  contactSeq: number | null;
};

/** A mail that was forwarded, and how many bounces of it came back. */
type ForwardedMail = { emailSeq: number; bounces: number };

/** The fields that the removal of a mail and of the texts in its event needs. */
export type RemovableMail = { seq: number; id: string; projectSeq: number; receivedAt: number };

type Finished = Omit<FinishedMail, "content"> & { content: string; seq: number; id: string };

export type ReceivedRows = ReturnType<typeof createReceivedRows>;

const COLUMNS = `m.seq, m.id, m.received_at AS receivedAt, m.size, m.sender, m.content,
  (SELECT id FROM emails WHERE seq = m.email_seq) AS emailId,
  (SELECT id FROM contacts WHERE seq = m.contact_seq) AS contactId`;

export function createReceivedRows({ sqlite }: Pick<Db, "sqlite">) {
  const insert = sqlite.prepare<unknown, [string, number, number]>(`
    INSERT INTO received_mails (id, project_seq, state, received_at, size)
    VALUES (?, ?, 'ARRIVING', ?, 0)`);
  const finish = sqlite.prepare<unknown, [Finished]>(`
    UPDATE received_mails
    SET id = $id, state = 'RECEIVED', received_at = $receivedAt, size = $size, sender = $sender,
        content = $content, email_seq = $emailSeq, contact_seq = $contactSeq
    WHERE seq = +$seq`);
  const insertPiece = sqlite.prepare<unknown, [number, number, Uint8Array]>(
    "INSERT INTO received_pieces (mail_seq, position, bytes) VALUES (?, ?, ?)",
  );
  const piece = sqlite.prepare<{ bytes: Uint8Array }, [number, number]>(
    "SELECT bytes FROM received_pieces WHERE mail_seq = +? AND position = +?",
  );
  const pieces = sqlite.prepare<{ bytes: Uint8Array }, [number]>(
    "SELECT bytes FROM received_pieces WHERE mail_seq = +? ORDER BY position",
  );
  const remove = sqlite.prepare<unknown, [number]>("DELETE FROM received_mails WHERE seq = ?");
  const removeArriving = sqlite.prepare<unknown, []>(
    "DELETE FROM received_mails WHERE state = 'ARRIVING'",
  );
  const forget = sqlite.prepare<unknown, [number, number]>(`
    DELETE FROM received_mails
    WHERE seq IN (SELECT seq FROM received_mails WHERE contact_seq = ? LIMIT +?)`);
  // A mail that was forwarded to several addresses is found by the first of them.
  const findForwarded = sqlite.prepare<ForwardedMail, [number, number]>(`
    SELECT emails.seq AS emailSeq,
           (SELECT count(*) FROM received_mails AS bounce
            WHERE bounce.email_seq = emails.seq AND bounce.sender = '') AS bounces
    FROM received_mails AS mail CROSS JOIN emails ON emails.id = mail.content ->> '$.forwarded[0]'
    WHERE mail.seq = +? AND mail.project_seq = +? AND mail.state = 'RECEIVED'`);
  const old = sqlite.prepare<RemovableMail, [number, number]>(`
    SELECT seq, id, project_seq AS projectSeq, received_at AS receivedAt FROM received_mails
    WHERE received_at < +? AND state = 'RECEIVED' ORDER BY received_at LIMIT +?`);
  const oldestOfProject = sqlite.prepare<RemovableMail, [number, number]>(`
    SELECT seq, id, project_seq AS projectSeq, received_at AS receivedAt FROM received_mails
    WHERE project_seq = +? AND state = 'RECEIVED' ORDER BY seq LIMIT +?`);
  const findById = sqlite.prepare<ReceivedRow, [string, number]>(`
    SELECT ${COLUMNS} FROM received_mails m
    WHERE m.id = ? AND m.project_seq = +? AND m.state = 'RECEIVED'`);
  const page = sqlite.prepare<ReceivedRow, [number, number, number]>(`
    SELECT ${COLUMNS} FROM received_mails m
    WHERE m.project_seq = +? AND m.seq < +? AND m.state = 'RECEIVED' ORDER BY m.seq DESC LIMIT +?`);

  return {
    /** Inserts the row of a message that is still arriving, and returns its `seq`. */
    begin: (projectSeq: number, now: number): number =>
      insertedSeq(insert.run(newId(now), projectSeq, now)),

    insertPiece: (seq: number, position: number, compressed: Uint8Array): void =>
      void insertPiece.run(seq, position, compressed),

    /** Makes a mail visible, under this id. */
    finish(seq: number, id: string, { content, ...mail }: FinishedMail): void {
      finish.run({ ...mail, seq, id, content: JSON.stringify(content) });
    },

    remove: (seq: number): void => void remove.run(seq),

    /** Removes messages that had not arrived completely when the process ended. */
    removeIncomplete: (): void => void removeArriving.run(),

    /** Removes up to `limit` mails that are tied to a contact, and returns their number. */
    forget: (contactSeq: number, limit: number): number => forget.run(contactSeq, limit).changes,

    /** The oldest mails that arrived before this time. */
    old: (before: number, limit: number): RemovableMail[] => old.all(before, limit),

    oldestOfProject: (projectSeq: number, limit: number): RemovableMail[] =>
      oldestOfProject.all(projectSeq, limit),

    /** Null if the mail was removed, or was not forwarded. */
    findForwarded: (projectSeq: number, seq: number): ForwardedMail | null =>
      findForwarded.get(seq, projectSeq),

    byId: (projectSeq: number, id: string): ReceivedRow | null => findById.get(id, projectSeq),

    page: (projectSeq: number, before: number, limit: number): ReceivedRow[] =>
      page.all(projectSeq, before, limit),

    /** A stored piece as it is stored, compressed. */
    piece(seq: number, position: number): Uint8Array {
      const row = piece.get(seq, position);
      if (row === null) throw new Error("a piece of a received mail is missing");
      return row.bytes;
    },

    /** The raw message. */
    raw(seq: number): Buffer {
      return Buffer.concat(pieces.all(seq).map(({ bytes }) => Bun.zstdDecompressSync(bytes)));
    },
  };
}

/** Number of mails that arrived completely. */
export async function countReceived({ reader }: App, projectSeq: number): Promise<number> {
  // Both numbers are read from indexes; the state of each row would be read from its page.
  const sql = `
    SELECT (SELECT count(*) FROM received_mails WHERE project_seq = ? AND ${inTimeBy("seq")})
         - (SELECT count(*) FROM received_mails INDEXED BY received_mails_arriving
            WHERE state = 'ARRIVING' AND project_seq = ?)`;
  const { rows } = await reader.find(projectSeq, { sql, values: [projectSeq, projectSeq] });
  return Number(rows[0]?.[0]);
}
