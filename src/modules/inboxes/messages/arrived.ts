/** The rows of messages that arrive. All functions but `rowOf` are parts of a change. */

import type { App } from "../../../core/app.ts";
import { insertedSeq } from "../../../db/inserted.ts";
import { newShortId } from "../../../lib/id.ts";
import { type MessageEnvelope, localEnvelope } from "../envelope.ts";
import {
  type MessageRecord,
  NOTHING_PARSED,
  type ParsedColumns,
  parsedColumns,
  type ParsedMessage,
  parsedRecord,
  UNPARSED,
} from "./record.ts";
import { messageStore } from "./store.ts";

export type Arrived = {
  inboxSeq: number;
  envelope: MessageEnvelope;
  username: string;
  /** Id of the record of a mail that was sent over HTTP; null for others. */
  emailId: string | null;
};

export type Stored = {
  seq: number;
  id: string;
  inboxSeq: number;
  record: MessageRecord;
  recipients: readonly string[];
  /** Null if the message is too large to keep in memory. */
  raw: Uint8Array | null;
};

type StoredSize = { size: number; storedBytes: number };

export function createArrivedRows(app: App) {
  const { clock } = app;
  const { sqlite } = app.db;
  const { insertText } = messageStore(app);
  const insert = sqlite.prepare<unknown, [MessageRow & ParsedColumns]>(`
    INSERT INTO inbox_messages
      (id, inbox_seq, state, received_at, size, stored_bytes, envelope, username, email_id,
       message_id, subject, addresses, date, snippet, tags)
    VALUES ($id, $inboxSeq, $state, $receivedAt, $size, $storedBytes, $envelope, $username,
            $emailId, $messageId, $subject, $addresses, $date, $snippet, $tags)`);
  const finish = sqlite.prepare<unknown, [MessageRow & { seq: number }]>(`
    UPDATE inbox_messages
    SET id = $id, inbox_seq = $inboxSeq, state = $state, received_at = $receivedAt, size = $size,
        stored_bytes = $storedBytes, envelope = $envelope, username = $username,
        email_id = $emailId
    WHERE seq = +$seq`);
  const insertPiece = sqlite.prepare<unknown, [number, number, Uint8Array]>(
    "INSERT INTO inbox_raw (message_seq, position, bytes) VALUES (?, ?, ?)",
  );
  const remove = sqlite.prepare<unknown, [number]>("DELETE FROM inbox_messages WHERE seq = ?");
  const removeArriving = sqlite.prepare<unknown, []>(
    "DELETE FROM inbox_messages WHERE state = 'ARRIVING'",
  );

  function rowOf(arrived: Arrived, { size, storedBytes }: StoredSize): MessageRow {
    const receivedAt = clock.now();
    return {
      id: newShortId(receivedAt),
      inboxSeq: arrived.inboxSeq,
      state: "RECEIVED",
      receivedAt,
      size,
      storedBytes,
      envelope: JSON.stringify(arrived.envelope),
      username: arrived.username,
      emailId: arrived.emailId,
    };
  }

  return {
    /**
     * Stores a whole message of one piece: `bytes` is the form of `raw` that is stored. `parsed` is
     * null if the message is not plain and has to be parsed later.
     */
    insertWhole(
      arrived: Arrived,
      content: { raw: Uint8Array; bytes: Uint8Array; parsed: ParsedMessage | null },
    ): Stored {
      const { raw, bytes, parsed } = content;
      const row = rowOf(arrived, { size: raw.byteLength, storedBytes: bytes.byteLength });
      if (parsed === null) {
        const seq = insertedSeq(insert.run({ ...row, ...NOTHING_PARSED }));
        insertPiece.run(seq, 0, bytes);
        return storedOf(arrived, { ...row, seq }, raw);
      }
      const columns = { ...parsedColumns(parsed), state: "PARSED" as const };
      const seq = insertedSeq(insert.run({ ...row, ...columns }));
      insertPiece.run(seq, 0, bytes);
      insertText(seq, parsed);
      const stored = storedOf(arrived, { ...row, seq }, null);
      return { ...stored, record: parsedRecord(stored.record, parsed) };
    },

    /** Inserts the row of a message whose pieces are still arriving, and returns its `seq`. */
    insertArriving(inboxSeq: number): number {
      const nothing = { inboxSeq, envelope: localEnvelope("", []), username: "", emailId: null };
      const row = rowOf(nothing, { size: 0, storedBytes: 0 });
      return insertedSeq(insert.run({ ...row, ...NOTHING_PARSED, state: "ARRIVING" }));
    },

    insertPiece: (seq: number, position: number, compressed: Uint8Array): void =>
      void insertPiece.run(seq, position, compressed),

    /** Makes a message visible after all its pieces are stored. */
    finish(seq: number, arrived: Arrived, size: StoredSize): Stored {
      const row = rowOf(arrived, size);
      finish.run({ ...row, seq });
      return storedOf(arrived, { ...row, seq }, null);
    },

    remove: (seq: number): void => void remove.run(seq),

    /** Removes messages that had not arrived completely when the process ended. */
    removeIncomplete: (): void => void removeArriving.run(),
  };
}

function storedOf(
  { inboxSeq, envelope }: Arrived,
  row: MessageRow & { seq: number },
  raw: Uint8Array | null,
): Stored {
  const { seq, id, receivedAt, size, username, emailId } = row;
  const arrived = {
    seq,
    id,
    inboxSeq,
    receivedAt,
    size,
    envelope: row.envelope,
    username,
    emailId,
  };
  const record: MessageRecord = { ...UNPARSED, ...arrived };
  const recipients = envelope.to.map(({ address }) => address);
  return { seq, id, inboxSeq, record, recipients, raw };
}

type MessageRow = {
  id: string;
  inboxSeq: number;
  state: "ARRIVING" | "RECEIVED" | "PARSED";
  receivedAt: number;
  size: number;
  storedBytes: number;
  envelope: string;
  username: string;
  emailId: string | null;
};
