/**
 * Encodes a submitted message that has 8-bit text, so that every server takes it. A large message is
 * read from its stored pieces and written into new ones. Few of them are encoded at the same time, one
 * of each project, so memory is bounded and no project waits for all messages of another one. Each
 * message is read in small parts, between which other work of the event loop runs.
 */

import type { Writer } from "../../../db/writer.ts";
import { createLimitedTasks } from "../../../lib/limited-tasks.ts";
import { createOwnerQueues } from "../../../lib/owner-queues.ts";
import { PIECE_BYTES } from "../../../lib/piece-buffer.ts";
import { createYield } from "../../../lib/yield.ts";
import type { SubmittedStore } from "../../../outbox/submitted.ts";
import { PartsFault } from "../../../protocols/mime/part-reader.ts";
import {
  createPartEncoder,
  createPartSurvey,
  type Treatments,
} from "../../../protocols/mime/seven-bit.ts";
import { type ArrivedMessage, createRows } from "./arrival.ts";
import { SubmissionRefusal } from "./refusal.ts";

/** Large messages that are encoded at the same time; each has about 1 MiB in memory. */
const MAX_ENCODED_TOGETHER = 8;
/** Bytes that are read between two yields; they take a few milliseconds. */
const SLICE_BYTES = 64 * 1024;

/** A message whose header is complete: `body` is preceded by the stored pieces from `first` on. */
type CompleteMessage = {
  header: Buffer;
  body: Buffer;
  stored: ArrivedMessage["stored"];
};

/** An encoded message: all of it in `body`, or in stored pieces of a new row and `body`. */
type Encoded = { body: Buffer; stored: ArrivedMessage["stored"] };

export function createEncoding(deps: {
  writer: Writer;
  store: Pick<SubmittedStore, "begin" | "insertPiece" | "remove">;
  readPiece: (messageSeq: number, position: number) => Buffer;
  withinQuota: <T>(projectSeq: number, change: () => T) => T;
  now: () => number;
  noteArrival: (bytes: number) => void;
}) {
  const { readPiece } = deps;
  const queues = createOwnerQueues(1);
  const limited = createLimitedTasks(MAX_ENCODED_TOGETHER);
  const yieldIfBusy = createYield();

  function* piecesOf({ header, body, stored }: CompleteMessage): Generator<Buffer> {
    yield header;
    for (let n = 1; n <= (stored?.pieces ?? 0); n++) yield readPiece(stored?.seq ?? 0, n);
    yield body;
  }

  async function* slicesOf(message: CompleteMessage): AsyncGenerator<Buffer> {
    for (const piece of piecesOf(message)) {
      for (let at = 0; at < piece.byteLength; at += SLICE_BYTES) {
        await yieldIfBusy();
        yield piece.subarray(at, at + SLICE_BYTES);
      }
    }
  }

  async function survey(message: CompleteMessage): Promise<Treatments> {
    const reader = createPartSurvey();
    for await (const slice of slicesOf(message)) reader.add(slice);
    return reader.end();
  }

  /** Writes the encoded message; full pieces go to rows as soon as there are some. */
  async function rewrite(
    projectSeq: number,
    message: CompleteMessage,
    treatments: Treatments,
  ): Promise<Encoded> {
    const target = createTarget(projectSeq);
    try {
      const encoder = createPartEncoder(treatments, target.write);
      for await (const slice of slicesOf(message)) {
        encoder.add(slice);
        await target.storeFull();
      }
      encoder.end();
      await target.storeFull();
      return target.result();
    } catch (error) {
      await target.discard();
      throw error;
    }
  }

  function createTarget(projectSeq: number) {
    const rows = createRows(deps, { projectSeq, first: 0 });
    let waiting: Buffer[] = [];
    let bytes = 0;

    return {
      /** Copies the bytes, because the reader uses their memory again. */
      write(part: Buffer): void {
        waiting.push(Buffer.from(part));
        bytes += part.byteLength;
      },
      async storeFull(): Promise<void> {
        if (bytes < 2 * PIECE_BYTES) return;
        let all = Buffer.concat(waiting);
        for (; all.byteLength > PIECE_BYTES; all = all.subarray(PIECE_BYTES)) {
          await rows.add(Buffer.from(all.subarray(0, PIECE_BYTES)));
        }
        waiting = [all];
        bytes = all.byteLength;
      },
      result: (): Encoded => ({ body: Buffer.concat(waiting), stored: rows.stored() }),
      discard: rows.remove,
    };
  }

  async function encode(projectSeq: number, message: CompleteMessage): Promise<Encoded | null> {
    try {
      const treatments = await survey(message);
      if (treatments.every((treatment) => treatment === "none")) return null;
      return await rewrite(projectSeq, message, treatments);
    } catch (error) {
      if (!(error instanceof PartsFault)) throw error;
      throw new SubmissionRefusal(550, `5.6.3 The message cannot be sent: ${error.message}`);
    }
  }

  /** Resolves to null if nothing has to be encoded. Throws a SubmissionRefusal if that is impossible. */
  return (projectSeq: number, message: CompleteMessage): Promise<Encoded | null> =>
    message.stored === null
      ? encode(projectSeq, message)
      : queues.run(projectSeq, () => limited(() => encode(projectSeq, message)));
}
