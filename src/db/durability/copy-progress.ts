/**
 * Follows how far checkpoints have copied the log. It notices signs of other processes: frames that
 * another reader holds back, and a log that another process restarted.
 */

import type { Contention } from "./contention.ts";
import type { LogFile } from "./wal-file.ts";

/** Result of a checkpoint: frames in the log, and how many of them are in the database now. */
export type CheckpointRow = { busy: number; log: number; checkpointed: number };

type CopyProgress = {
  /** Whether at least `pages` frames are left to copy. */
  areLeft(pages: number): boolean;
  /** Whether any frame is left, also if a reader holds it back. */
  isBehind(): boolean;
  /** The last frame in the log. */
  lastFrame(): number;
  /**
   * Records the result of a checkpoint. `last` is the last frame that our own reader sees. Returns
   * true if no frame is left.
   */
  record(row: CheckpointRow | null, last: number): boolean;
  copied(): number;
  /** Another reader uses an older state: frames count as left only `pages` frames later. */
  postpone(pages: number): void;
};

export function createCopyProgress(
  log: LogFile,
  contention: Pick<Contention, "note">,
): CopyProgress {
  let generation = "";
  /** Frames of this generation that are in the database. */
  let copied = 0;
  let retryAfter = 0;
  /** True if the log had frames that were not copied when it was examined last. */
  let wasBehind = false;

  /**
   * SQLite restarts only a log that is copied: one that we have not copied, another process has. A log
   * that became empty was truncated by another process.
   */
  function follow(): void {
    const current = log.generation();
    if (current !== generation) {
      if (wasBehind || current === "") contention.note();
      [generation, copied, retryAfter, wasBehind] = [current, 0, 0, false];
    }
    // A frame that was left stays until it is copied.
    wasBehind ||= log.hasFrame(copied + 1, generation);
  }

  return {
    areLeft(pages) {
      follow();
      return log.hasFrame(Math.max(copied, retryAfter) + pages, generation);
    },
    isBehind() {
      follow();
      return wasBehind;
    },
    lastFrame: () => log.lastFrame(copied),
    record(row, last) {
      const isAll = row !== null && row.checkpointed > 0 && row.checkpointed === row.log;
      if (row !== null && row.checkpointed > 0) copied = row.checkpointed;
      if (copied < last) contention.note();
      wasBehind = !isAll;
      return isAll;
    },
    copied: () => copied,
    postpone(pages) {
      retryAfter = Math.max(copied, retryAfter) + pages;
    },
  };
}
