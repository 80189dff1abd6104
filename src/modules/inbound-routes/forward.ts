/**
 * Forwards received messages through the outbox, with the same queue, attempts and events as other
 * mail. The message stays as it is, below new trace fields; the sender of its envelope is rewritten
 * (protocols/srs), so that SPF passes and bounces come back here.
 */

import type { App } from "../../core/app.ts";
import type { Writer } from "../../db/writer.ts";
import { newId } from "../../lib/id.ts";
import { PIECE_BYTES } from "../../lib/piece-buffer.ts";
import { type EmailStore, wakeSending } from "../../outbox/enqueue.ts";
import type { SubmittedMessage, SubmittedStore } from "../../outbox/submitted.ts";
import { ensureQueue, ensureStorage, runWithinStorage } from "../quotas.ts";
import type { ArrivedMail } from "./arrival.ts";
import type { ReceivedRows } from "./rows.ts";

type Forward = {
  projectSeq: number;
  /** The addresses to which the message is forwarded. */
  to: readonly string[];
  subject: string;
  /** Header fields that are put in front of the message. */
  trace: Uint8Array;
  arrived: ArrivedMail;
};

/** Pieces of a large message that were copied before the change that forwards it. */
type CopiedPieces = { messageSeq: number } | null;

export function createForwarding(deps: {
  rows: Pick<ReceivedRows, "piece">;
  store: Pick<EmailStore, "insertEmail">;
  submitted: SubmittedStore;
  writer: Pick<Writer, "write">;
  app: App;
}) {
  const { app, rows, store, submitted, writer } = deps;

  return {
    /**
     * Copies the stored pieces of a large message, each in a change of its own, and then runs
     * `store`. If that or a copy fails, the copies are removed.
     */
    async withCopies(
      forward: Forward,
      now: number,
      store: (copied: CopiedPieces) => Promise<void>,
    ): Promise<void> {
      const { projectSeq, to, arrived } = forward;
      if (to.length === 0 || arrived.stored === null) return store(null);
      const messageSeq = await writer.write(() => submitted.begin(projectSeq, now));
      try {
        await copyPieces({ projectSeq, messageSeq }, arrived.stored);
        await store({ messageSeq });
      } catch (error) {
        await writer.write(() => submitted.remove(messageSeq));
        throw error;
      }
    },

    /** Part of a change: writes the mails, and returns their ids. */
    send(
      forward: Forward & { message: SubmittedMessage },
      copied: CopiedPieces,
      now: number,
    ): string[] {
      const { projectSeq, to, message, trace, arrived } = forward;
      if (to.length === 0) return [];
      // A stranger sends them, so they leave a part of both quotas to the project.
      ensureQueue(app, projectSeq, to.length, true);
      ensureStorage(app, projectSeq, true);
      const messageSeq = copied?.messageSeq ?? submitted.insert(projectSeq, message, now);
      if (copied !== null) submitted.finish(messageSeq, message, now);
      const insert = (position: number, bytes: Uint8Array) =>
        submitted.insertPiece(
          { projectSeq, messageSeq, position },
          Bun.zstdCompressSync(bytes, { level: 1 }),
        );
      insert(0, trace);
      const { rest } = arrived;
      for (let at = 0, n = (arrived.stored?.pieces ?? 0) + 1; at < rest.byteLength; n++) {
        insert(n, rest.subarray(at, at + PIECE_BYTES));
        at += PIECE_BYTES;
      }
      const mails = to.map((address) => insertMail(forward, { address, messageSeq, now }));
      wakeSending(app);
      return mails;
    },
  };

  async function copyPieces(
    message: { projectSeq: number; messageSeq: number },
    { seq, pieces }: { seq: number; pieces: number },
  ): Promise<void> {
    for (let position = 0; position < pieces; position++) {
      await writer.write(() =>
        runWithinStorage(
          app,
          message.projectSeq,
          () =>
            submitted.insertPiece(
              { ...message, position: position + 1 },
              rows.piece(seq, position),
            ),
          true,
        ),
      );
    }
  }

  function insertMail(
    { projectSeq, subject }: Forward,
    { address, messageSeq, now }: { address: string; messageSeq: number; now: number },
  ): string {
    const id = newId(now);
    store.insertEmail({
      id,
      projectSeq,
      contactSeq: null,
      messageSeq,
      source: "TRANSACTIONAL",
      templateId: null,
      to: address,
      toName: null,
      subject,
      variables: "{}",
      status: "QUEUED",
      priority: 0,
      createdAt: now,
    });
    return id;
  }
}
