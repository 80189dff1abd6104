/**
 * Keeps a message while a client submits it. Its bytes are gathered in memory; each full
 * piece is compressed and stored at once in a row that no mail refers to, so memory is bounded. The header
 * stays in memory until the end, because it is changed then.
 */

import type { Change, Sync, Writer } from "../../../db/writer.ts";
import { freeMemory } from "../../../lib/free-memory.ts";
import { createPieceBuffer } from "../../../lib/piece-buffer.ts";
import type { SubmittedStore } from "../../../outbox/submitted.ts";
import { createContentCheck } from "../../../protocols/mime/content-check.ts";
import { SubmissionRefusal } from "./refusal.ts";

const MAX_HEADER_BYTES = 128 * 1024;
/** Raw bytes of a stored piece: many messages may arrive at the same time. */
const PIECE_BYTES = 256 * 1024;
const HEADER_END = Buffer.from("\r\n\r\n");

/** A message that arrived completely. */
export type ArrivedMessage = {
  /** Without the empty line; one character for each octet. */
  header: string;
  /** The rest of the body that is not stored; all of it if `stored` is null. */
  body: Buffer;
  /** The row and the number of the stored pieces, whose positions begin with 1. */
  stored: { seq: number; pieces: number } | null;
  /** Whether it has octets or lines that not every server takes. */
  isPlain: boolean;
};

type ArrivalDeps = {
  writer: Writer;
  store: Pick<SubmittedStore, "begin" | "insertPiece" | "remove">;
  /** Runs a part of a change, and throws if it exceeds the quota of the project. */
  withinQuota: <T>(projectSeq: number, change: () => T) => T;
  now: () => number;
  /** Told of each stored piece, because large messages fill the page cache of the database. */
  noteArrival: (bytes: number) => void;
};

/** Returns the function that starts a message of a project. */
export function createArrivingMessages(deps: ArrivalDeps) {
  return function open(projectSeq: number) {
    const rows = createRows(deps, { projectSeq, first: 1 });
    const buffer = createPieceBuffer(PIECE_BYTES);
    const check = createContentCheck();
    let header: string | null = null;

    /** Splits the header from the first bytes. */
    function takeHeader(bytes: Buffer): Buffer {
      const split = splitHeader(bytes);
      header = split.header;
      return split.body;
    }

    async function storeFull(): Promise<void> {
      const bytes = buffer.take();
      await rows.add(header === null ? Buffer.from(takeHeader(viewOf(bytes))) : bytes);
      freeMemory(bytes);
    }

    async function addRest(piece: Uint8Array): Promise<void> {
      for (let at = 0; at < piece.byteLength;) {
        if (buffer.isFull()) await storeFull();
        at += buffer.add(piece.subarray(at));
      }
    }

    return {
      /** Copies the piece. The promise is null if that was done at once. */
      add(piece: Uint8Array): Promise<void> | null {
        check.see(viewOf(piece));
        const added = buffer.add(piece);
        return added === piece.byteLength ? null : addRest(piece.subarray(added));
      },

      /** Called once, after the last piece. */
      end(): ArrivedMessage {
        const bytes = viewOf(buffer.take());
        const body = header === null ? takeHeader(bytes) : bytes;
        return { header: header ?? "", body, stored: rows.stored(), isPlain: check.isPlain() };
      },

      /** Removes what was stored. */
      discard: rows.remove,
    };
  };
}

/** The stored pieces of one message; its row is inserted with the first one, at position `first`. */
export function createRows(
  { writer, store, withinQuota, now, noteArrival }: ArrivalDeps,
  { projectSeq, first }: { projectSeq: number; first: number },
) {
  let seq: number | null = null;
  let pieces = 0;

  return {
    /** Compresses the piece and stores it. Frees its memory. */
    async add(piece: Uint8Array): Promise<void> {
      noteArrival(piece.byteLength);
      const compressed = await Bun.zstdCompress(piece, { level: 1 });
      freeMemory(piece);
      const position = first + pieces;
      const change: Change<Sync<number>> = () =>
        withinQuota(projectSeq, () => {
          const messageSeq = seq ?? store.begin(projectSeq, now());
          store.insertPiece({ projectSeq, messageSeq, position }, compressed);
          return messageSeq;
        });
      seq = await writer.write(change);
      pieces++;
      freeMemory(compressed);
    },

    /** Null if there is no piece. */
    stored: (): ArrivedMessage["stored"] => (seq === null ? null : { seq, pieces }),

    async remove(): Promise<void> {
      const known = seq;
      if (known !== null) await writer.write(() => store.remove(known));
    },
  };
}

/** A message without an empty line has only a header. */
function splitHeader(bytes: Buffer): { header: string; body: Buffer } {
  // A message that begins with an empty line has no header.
  if (bytes[0] === 0x0d) return { header: "", body: bytes.subarray(2) };
  const at = bytes.indexOf(HEADER_END);
  const isWhole = bytes.byteLength < PIECE_BYTES;
  const end = at === -1 && isWhole ? bytes.byteLength : at;
  if (end === -1 || end > MAX_HEADER_BYTES) {
    throw new SubmissionRefusal(552, "5.3.4 The header of the message is too large");
  }
  const header = bytes.toString("latin1", 0, end).replace(/\r\n$/, "");
  return { header, body: bytes.subarray(Math.min(end + 4, bytes.byteLength)) };
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
