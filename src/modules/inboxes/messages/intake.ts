/**
 * Stores messages as they arrive.
 *
 * 1. `open` starts a message. `add` takes its bytes in pieces of any size.
 * 2. Each full MiB is compressed and stored at once, in a row that no list shows (state ARRIVING).
 *    So memory is bounded, and a message that does not end leaves nothing but rows to remove.
 * 3. `complete` stores the rest and makes the message visible (state RECEIVED) in one transaction.
 *    It resolves when the message is on disk.
 * 4. The indexer (`../indexing/indexer.ts`) parses the message afterwards.
 */

import type { Db } from "../../../db/open.ts";
import { insertedSeq } from "../../../db/inserted.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { randomBase62 } from "../../../lib/crypto.ts";
import type { Envelope } from "../envelope.ts";
import { type MessageRecord, UNPARSED } from "./record.ts";

/** Raw bytes of one row. */
const PIECE_BYTES = 1024 * 1024;
/** Length of an id: 22 characters of base 62 have 130 bits. */
const ID_LENGTH = 22;

export type Arrived = {
  inboxSeq: number;
  envelope: Envelope;
  username: string;
  /** Id of the record of a mail that was sent over HTTP; null for others. */
  emailId: string | null;
};

/** A stored message that is not parsed yet. */
export type Stored = {
  seq: number;
  id: string;
  inboxSeq: number;
  record: MessageRecord;
  recipients: readonly string[];
  /** Null if the message is too large to keep in memory. */
  raw: Uint8Array | null;
};

export type Arrival = {
  add(piece: Uint8Array): Promise<void>;
  /** Resolves when the message is on disk. */
  complete(arrived: Arrived): Promise<Stored>;
  /** Removes what was stored. */
  discard(): Promise<void>;
};

export type Intake = ReturnType<typeof createIntake>;

export function createIntake(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  /** Called after a message is on disk. */
  onReceived: (stored: Stored) => void;
}) {
  const { writer, clock, onReceived } = deps;
  const { sqlite } = deps.db;
  const insert = sqlite.prepare<unknown, [MessageRow]>(`
    INSERT INTO inbox_messages
      (id, inbox_seq, state, received_at, size, stored_bytes, envelope, username, email_id)
    VALUES ($id, $inboxSeq, $state, $receivedAt, $size, $storedBytes, $envelope, $username,
            $emailId)`);
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

  function rowOf(arrived: Arrived, size: number, storedBytes: number): MessageRow {
    return {
      id: randomBase62(ID_LENGTH),
      inboxSeq: arrived.inboxSeq,
      state: "RECEIVED",
      receivedAt: clock.now(),
      size,
      storedBytes,
      envelope: JSON.stringify(arrived.envelope),
      username: arrived.username,
      emailId: arrived.emailId,
    };
  }

  /** Part of a change: stores a whole message of at most one piece. */
  function insertWhole(arrived: Arrived, raw: Uint8Array, compressed: Uint8Array): Stored {
    const row = rowOf(arrived, raw.byteLength, compressed.byteLength);
    const seq = insertedSeq(insert.run(row));
    insertPiece.run(seq, 0, compressed);
    return storedOf(arrived, { ...row, seq }, raw);
  }

  function open(inboxSeq: number): Arrival {
    let pending: Uint8Array[] = [];
    let pendingBytes = 0;
    let size = 0;
    let storedBytes = 0;
    let pieces = 0;
    /** The row of a message that is larger than one piece. */
    let seq: number | null = null;

    function takePending(bytes: number): Buffer {
      const all = Buffer.concat(pending);
      const rest = all.subarray(bytes);
      pending = rest.byteLength > 0 ? [rest] : [];
      pendingBytes = rest.byteLength;
      return all.subarray(0, bytes);
    }

    async function storePiece(bytes: number): Promise<void> {
      const compressed = await Bun.zstdCompress(takePending(bytes), { level: 1 });
      await writer.write(() => {
        const known = seq ?? insertArriving();
        seq = known;
        insertPiece.run(known, pieces, compressed);
      });
      pieces++;
      storedBytes += compressed.byteLength;
    }

    function insertArriving(): number {
      return insertedSeq(
        insert.run({
          id: randomBase62(ID_LENGTH),
          inboxSeq,
          state: "ARRIVING",
          receivedAt: clock.now(),
          size: 0,
          storedBytes: 0,
          envelope: "{}",
          username: "",
          emailId: null,
        }),
      );
    }

    async function completeLarge(arrived: Arrived): Promise<Stored> {
      await storePiece(pendingBytes);
      const row = rowOf(arrived, size, storedBytes);
      const known = seq;
      if (known === null) throw new Error("a message of several pieces has no row");
      await writer.write(() => void finish.run({ ...row, seq: known }));
      return storedOf(arrived, { ...row, seq: known }, null);
    }

    async function completeSmall(arrived: Arrived): Promise<Stored> {
      const raw = takePending(pendingBytes);
      const compressed = Bun.zstdCompressSync(raw, { level: 1 });
      return writer.write(() => insertWhole(arrived, raw, compressed));
    }

    return {
      async add(piece) {
        pending.push(piece);
        pendingBytes += piece.byteLength;
        size += piece.byteLength;
        while (pendingBytes > PIECE_BYTES) await storePiece(PIECE_BYTES);
      },
      async complete(arrived) {
        const stored = seq === null ? await completeSmall(arrived) : await completeLarge(arrived);
        onReceived(stored);
        return stored;
      },
      async discard() {
        pending = [];
        const known = seq;
        if (known !== null) await writer.write(() => void remove.run(known));
      },
    };
  }

  return {
    open,

    /** Stores a whole message, and resolves when it is on disk. */
    async store(arrived: Arrived, raw: Uint8Array): Promise<Stored> {
      const arrival = open(arrived.inboxSeq);
      await arrival.add(raw);
      return arrival.complete(arrived);
    },

    /** Removes messages that had not arrived completely when the process ended. */
    removeIncomplete: () => writer.write(() => void removeArriving.run()),
  };
}

function storedOf(
  { inboxSeq, envelope }: Arrived,
  row: MessageRow & { seq: number },
  raw: Uint8Array | null,
): Stored {
  const { seq, id, receivedAt, size, username, emailId } = row;
  return {
    seq,
    id,
    inboxSeq,
    record: {
      ...UNPARSED,
      seq,
      id,
      inboxSeq,
      receivedAt,
      size,
      envelope: row.envelope,
      username,
      emailId,
    },
    recipients: envelope.to.map(({ address }) => address),
    raw,
  };
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
