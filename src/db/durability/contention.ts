/**
 * Notices that another process uses the write-ahead log in a way that disturbs the checkpoints of
 * this one: it reads in long transactions, makes checkpoints, or has the write lock for long. Backup
 * and replication tools do this. Short uses, such as those of `mailstead key create`, do not count.
 *
 * The signs come from three places: a round of checkpoints that another reader limits, a log that
 * another process restarted (both in `checkpoint.ts`), and a transaction that cannot begin.
 */

/** The log as another process holds it. */
export type LogHold = { heldMs: number; logBytes: number };

export type Contention = {
  /** Records a sign that another process uses the log now. */
  note(): void;
  /** True if the last sign is recent. The log is shared then: no read transaction stays open. */
  isRecent(): boolean;
  /** For how long signs have followed each other; null if they are too few or the last is old. */
  heldMs(): number | null;
};

type Limits = {
  /** Signs that follow each other for this long mean that another process holds the log. */
  noticeAfterMs: number;
  minSigns: number;
  /** Without a sign for this long, no other process holds the log. */
  overAfterMs: number;
};

const LIMITS: Limits = { noticeAfterMs: 3_000, minSigns: 3, overAfterMs: 10_000 };

/** `elapsed`: monotonic milliseconds. */
export function createContention(elapsed: () => number, limits: Limits = LIMITS): Contention {
  let firstAt = 0;
  let lastAt = -Infinity;
  let signs = 0;

  const isRecent = () => elapsed() - lastAt <= limits.overAfterMs;

  return {
    note() {
      if (!isRecent()) {
        firstAt = elapsed();
        signs = 0;
      }
      lastAt = elapsed();
      signs++;
    },
    isRecent,
    heldMs() {
      const isHeld = signs >= limits.minSigns && lastAt - firstAt >= limits.noticeAfterMs;
      return isHeld && isRecent() ? elapsed() - firstAt : null;
    },
  };
}
