/**
 * Counts the bytes and mails that the code itself adds to `project_usage` (usage.ts). The sum of all
 * changes of a transaction is written with one statement per project and column at its end.
 */

import type { Db } from "./open.ts";
import type { Writer } from "./writer.ts";

export type UsageCounter = {
  /** Part of a change: rows were inserted. `isReceived`: mail to an inbound route made them. */
  addBytes(projectSeq: number, bytes: number, isReceived?: boolean): void;
  /** Part of a change: rows of `emails` were inserted. */
  addEmails(projectSeq: number, count: number): void;
  /** Part of a change: mails joined the queue (positive) or left it (negative). */
  addQueued(projectSeq: number, count: number): void;
  /** Bytes that this transaction added and that are not in `project_usage` yet. */
  pendingBytes(projectSeq: number): number;
  /** The part of them that mail to inbound routes made. */
  pendingReceivedBytes(projectSeq: number): number;
  /** The same for queued mails. */
  pendingQueued(projectSeq: number): number;
};

export function createUsageCounter({ sqlite }: Db, writer: Pick<Writer, "tally">): UsageCounter {
  const tallyOf = (column: string) => {
    const add = sqlite.prepare<unknown, [number, number]>(
      `UPDATE project_usage SET ${column} = ${column} + ? WHERE project_seq = +?`,
    );
    return writer.tally<number>((projectSeq, sum) => void add.run(sum, projectSeq));
  };
  const bytes = tallyOf("stored_bytes");
  const received = tallyOf("received_bytes");
  const emails = tallyOf("emails");
  const queued = tallyOf("queued_mails");
  return {
    addBytes(projectSeq, added, isReceived = false) {
      bytes.add(projectSeq, added);
      if (isReceived) received.add(projectSeq, added);
    },
    addEmails: emails.add,
    addQueued: queued.add,
    pendingBytes: bytes.pending,
    pendingReceivedBytes: received.pending,
    pendingQueued: queued.pending,
  };
}
