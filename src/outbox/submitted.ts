/**
 * Stores messages that were submitted over SMTP or are forwarded. A message has one row in `messages`,
 * which its mails share, and its bytes in pieces. A large message is stored piece by piece while it
 * arrives; until `finish` its row has a digest that begins with ARRIVING, and no mail refers to it.
 */

import type { App } from "../core/app.ts";
import { insertedSeq } from "../db/inserted.ts";
import type { Db } from "../db/open.ts";
import { bytesOfRow } from "../db/usage.ts";
import type { UsageCounter } from "../db/usage-counter.ts";
import { freeMemory } from "../lib/free-memory.ts";
import { newShortId } from "../lib/id.ts";
import { perApp } from "../lib/per-app.ts";

const ARRIVING = "arriving";
const BYTES_OF_ROW = bytesOfRow("messages", {
  html: "",
  headers: "[]",
  text: null,
  recipients: null,
});

/** The columns of a message that is complete. */
export type SubmittedMessage = {
  fromAddress: string;
  fromName: string | null;
  /** With angle brackets. */
  messageId: string;
  /** Sender of the envelope of a forwarded message; null for a message that a client submitted. */
  envelopeFrom: string | null;
};

type Row = SubmittedMessage & { digest: string; projectSeq: number; createdAt: number };

export type SubmittedStore = ReturnType<typeof createSubmittedStore>;

export const submittedStore = perApp((app: App) => createSubmittedStore(app));

/** All functions but `pieces` are parts of a change. */
export function createSubmittedStore({ db, usage }: { db: Db; usage: UsageCounter }) {
  const { sqlite } = db;
  const insert = sqlite.prepare<unknown, [Row]>(`
    INSERT INTO messages (project_seq, digest, from_address, from_name, reply_to, html, headers,
                          is_marketing, has_attachments, message_id, envelope_from, created_at)
    VALUES ($projectSeq, $digest, $fromAddress, $fromName, NULL, '', '[]', 0, 0, $messageId,
            $envelopeFrom, $createdAt)`);
  const finish = sqlite.prepare<unknown, [SubmittedMessage & { digest: string; seq: number }]>(`
    UPDATE messages SET digest = $digest, from_address = $fromAddress, from_name = $fromName,
                        message_id = $messageId, envelope_from = $envelopeFrom
    WHERE seq = +$seq`);
  const insertPiece = sqlite.prepare<unknown, [number, number, Uint8Array]>(
    "INSERT INTO message_pieces (message_seq, position, bytes) VALUES (?, ?, ?)",
  );
  const remove = sqlite.prepare<unknown, [number]>("DELETE FROM messages WHERE seq = ?");
  // The index of the digests finds the rows in each project.
  const removeArriving = sqlite.prepare<unknown, []>(`
    DELETE FROM messages WHERE project_seq IN (SELECT seq FROM projects)
      AND digest > '${ARRIVING} ' AND digest < '${ARRIVING}!'`);

  function insertRow(state: string, row: Omit<Row, "digest">): number {
    const { projectSeq, createdAt } = row;
    const digest = `${state} ${newShortId(createdAt)}`;
    usage.addBytes(projectSeq, BYTES_OF_ROW);
    return insertedSeq(insert.run({ ...row, digest }));
  }

  return {
    /** Inserts the row of a message whose pieces are still arriving, and returns its `seq`. */
    begin: (projectSeq: number, createdAt: number): number =>
      insertRow(ARRIVING, {
        projectSeq,
        createdAt,
        fromAddress: "",
        fromName: null,
        messageId: "",
        envelopeFrom: null,
      }),

    insertPiece(
      place: { projectSeq: number; messageSeq: number; position: number },
      compressed: Uint8Array,
    ): void {
      insertPiece.run(place.messageSeq, place.position, compressed);
      usage.addBytes(place.projectSeq, bytesOfRow("message_pieces", { bytes: compressed }));
    },

    /** Completes the row of a message whose pieces are stored. */
    finish(messageSeq: number, message: SubmittedMessage, createdAt: number): void {
      const digest = `submitted ${newShortId(createdAt)}`;
      finish.run({ ...message, digest, seq: messageSeq });
    },

    /** Inserts the row of a message that arrived as a whole; its pieces follow. */
    insert: (projectSeq: number, message: SubmittedMessage, createdAt: number): number =>
      insertRow("submitted", { ...message, projectSeq, createdAt }),

    remove: (messageSeq: number): void => void remove.run(messageSeq),

    /** Removes messages that had not arrived completely when the process ended. */
    removeIncomplete: (): void => void removeArriving.run(),
  };
}

/** Returns the function that reads a submitted message; its bytes are empty once it was purged. */
export function createSubmittedReader({ sqlite }: Pick<Db, "sqlite">) {
  const find = sqlite.prepare<{ bytes: Uint8Array }, [number]>(
    "SELECT bytes FROM message_pieces WHERE message_seq = +? ORDER BY position",
  );
  return (messageSeq: number): Buffer => {
    const pieces = find.all(messageSeq).map(({ bytes }) => Bun.zstdDecompressSync(bytes));
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined) return only;
    const message = Buffer.concat(pieces);
    for (const piece of pieces) freeMemory(piece);
    return message;
  };
}

/** Returns the function that reads one piece of a message that is still arriving. */
export function createPieceReader({ sqlite }: Pick<Db, "sqlite">) {
  const find = sqlite.prepare<{ bytes: Uint8Array }, [number, number]>(
    "SELECT bytes FROM message_pieces WHERE message_seq = +? AND position = +?",
  );
  return (messageSeq: number, position: number): Buffer => {
    const row = find.get(messageSeq, position);
    if (row === null) throw new Error("a piece of a message is missing");
    return Bun.zstdDecompressSync(row.bytes);
  };
}
