/**
 * Counts what the code adds to `project_usage` itself (usage.ts). The bytes and mails that all changes
 * of a transaction add are written with one statement per project at its end.
 */

import type { Db } from "./open.ts";
import type { Writer } from "./writer.ts";

export type UsageCounter = {
  /** Part of a change: rows were inserted. */
  addBytes(projectSeq: number, bytes: number): void;
  /** Part of a change: rows of `emails` were inserted. */
  addEmails(projectSeq: number, count: number): void;
  /**
   * Part of a change: mails joined the queue (positive) or left it. Joining is written at once, so
   * that the next change of the same transaction sees it when it checks the quota.
   */
  addQueued(projectSeq: number, count: number): void;
  /** All bytes that were ever added: more than before a change if the change added some. */
  addedBytes(): number;
};

export function createUsageCounter({ sqlite }: Db, writer: Pick<Writer, "tally">): UsageCounter {
  const prepareSum = (column: string) => {
    const add = sqlite.prepare<unknown, [number, number]>(
      `UPDATE project_usage SET ${column} = ${column} + ? WHERE project_seq = +?`,
    );
    return (projectSeq: number, sum: number) => void add.run(sum, projectSeq);
  };
  const addQueuedNow = prepareSum("queued_mails");
  const addBytesLater = writer.tally<number>(prepareSum("stored_bytes"));
  const addEmailsLater = writer.tally<number>(prepareSum("emails"));
  const addQueuedLater = writer.tally<number>(addQueuedNow);
  let addedBytes = 0;
  return {
    addBytes(projectSeq, bytes) {
      addBytesLater(projectSeq, bytes);
      addedBytes += bytes;
    },
    addEmails: addEmailsLater,
    addQueued(projectSeq, count) {
      if (count > 0) addQueuedNow(projectSeq, count);
      else if (count < 0) addQueuedLater(projectSeq, count);
    },
    addedBytes: () => addedBytes,
  };
}
