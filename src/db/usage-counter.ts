/**
 * Adds to the stored bytes of a project (usage.ts) where no trigger does: with one statement for all
 * rows that a transaction writes.
 */

import type { Db } from "./open.ts";
import type { Writer } from "./writer.ts";

export type UsageCounter = {
  /** Part of a change. */
  add(projectSeq: number, bytes: number): void;
  /** All that was ever added: more than before a change where the change added something. */
  added(): number;
};

export function createUsageCounter({ sqlite }: Db, writer: Pick<Writer, "tally">): UsageCounter {
  const addBytes = sqlite.prepare<unknown, [number, number]>(
    "UPDATE project_usage SET stored_bytes = stored_bytes + ? WHERE project_seq = +?",
  );
  const tally = writer.tally<number>((projectSeq, bytes) => void addBytes.run(bytes, projectSeq));
  let added = 0;
  return {
    add(projectSeq, bytes) {
      tally(projectSeq, bytes);
      added += bytes;
    },
    added: () => added,
  };
}
