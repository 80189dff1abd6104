/** The rows of messages that arrive. All functions but `rowOf` are parts of a change. */

import type { Database } from "bun:sqlite";
import { insertedSeq } from "../../../db/inserted.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newShortId } from "../../../lib/id.ts";
import { type MessageEnvelope, localEnvelope } from "../envelope.ts";
import {
  listedMembers,
  type MessageRecord,
  NOTHING_PARSED,
  type ParsedColumns,
  parsedColumns,
  type ParsedMessage,
  UNPARSED,
} from "./record.ts";

export type Arrived = {
  inboxSeq: number;
  envelope: MessageEnvelope;
  username: string;
  /** Id of the record of a mail that was sent over HTTP; null for others. */
  emailId: string | null;
};

/** A stored message that is not in the index of texts yet. */
export type Stored = {
  seq: number;
  id: string;
  inboxSeq: number;
  record: MessageRecord;
  recipients: readonly string[];
  /** Null if the message is too large to keep in memory, or parsed already. */
  raw: Uint8Array | null;
  /** The content of a plain message, which the row has already; null if it has to be parsed. */
  parsed: ParsedMessage | null;
};

type Size = { size: number; storedBytes: number };

export function createArrivedRows(sqlite: Database, clock: Clock) {
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

  function rowOf(arrived: Arrived, { size, storedBytes }: Size): MessageRow {
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
    /** Stores a whole message of one piece. */
    insertWhole(
      arrived: Arrived,
      content: Pick<Stored, "raw" | "parsed"> & { size: number; compressed: Uint8Array },
    ): Stored {
      const { size, raw, compressed, parsed } = content;
      const row = rowOf(arrived, { size, storedBytes: compressed.byteLength });
      const columns = parsed === null ? NOTHING_PARSED : parsedColumns(parsed);
      const seq = insertedSeq(insert.run({ ...row, ...columns }));
      insertPiece.run(seq, 0, compressed);
      return storedOf(arrived, { ...row, seq }, { raw, parsed });
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
    finish(seq: number, arrived: Arrived, size: Size): Stored {
      const row = rowOf(arrived, size);
      finish.run({ ...row, seq });
      return storedOf(arrived, { ...row, seq }, { raw: null, parsed: null });
    },

    remove: (seq: number): void => void remove.run(seq),

    /** Removes messages that had not arrived completely when the process ended. */
    removeIncomplete: (): void => void removeArriving.run(),
  };
}

function storedOf(
  { inboxSeq, envelope }: Arrived,
  row: MessageRow & { seq: number },
  { raw, parsed }: Pick<Stored, "raw" | "parsed">,
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
  const record: MessageRecord = {
    ...UNPARSED,
    ...arrived,
    ...(parsed === null ? {} : listedMembers(parsed)),
  };
  const recipients = envelope.to.map(({ address }) => address);
  return { seq, id, inboxSeq, record, recipients, raw, parsed };
}

type MessageRow = {
  id: string;
  inboxSeq: number;
  state: "ARRIVING" | "RECEIVED";
  receivedAt: number;
  size: number;
  storedBytes: number;
  envelope: string;
  username: string;
  emailId: string | null;
};
