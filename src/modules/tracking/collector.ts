/**
 * Hits are answered at once and counted in batches: they stay in memory for a second or until there
 * are 500 of them. The hits of a batch share savepoints, and one that throws is lost alone. A crash
 * loses only the hits in memory.
 */

import { isStorageRefusal } from "../../db/refusal.ts";
import { createSharedChanges } from "../../db/shared-changes.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";

/** One open or click as the tracking server received it. */
export type Hit = {
  kind: "open" | "click";
  emailId: string;
  /** Target of the link; null for an open. */
  url: string | null;
  at: number;
  /** The request itself shows that no person made it. */
  isMachine: boolean;
};

type Collector = {
  /** Queues a hit to be counted; never waits and never fails. */
  add(hit: Hit): void;
  /** Counts all queued hits; resolves when they are written. */
  flush(): Promise<void>;
};

const FLUSH_AFTER_MS = 1_000;
const FLUSH_AT = 500;
/** Hits counted in one transaction: few, so that other changes do not wait long. */
const CHUNK = 25;
/** With this many queued hits, transactions are larger, so that the disk can keep up. */
const BACKLOG = { from: 2_000, chunk: 400 } as const;
/** Hits kept in memory while the storage refuses writes; further hits are dropped. */
const MAX_QUEUED = 20_000;

export function createCollector(deps: {
  /** Counts one hit; runs inside a change. */
  count: (hit: Hit) => void;
  writer: Pick<Writer, "write" | "hasten">;
  clock: Clock;
  log: Log;
}): Collector {
  const { count, clock, log } = deps;
  const { write } = createSharedChanges(deps.writer);
  let queue: Hit[] = [];
  let lost = 0;
  /** The storage refused the last write: only the timer starts the next try. */
  let isRefused = false;
  let currentFlush: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;

  function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    currentFlush ??= flushAll().finally(() => {
      currentFlush = null;
      if (queue.length > 0) flushLater();
    });
    return currentFlush;
  }

  function flushLater(): void {
    cancelTimer ??= clock.after(FLUSH_AFTER_MS, () => void flush());
  }

  async function flushAll(): Promise<void> {
    if (lost > 0) log.warn("opens and clicks were dropped: the queue was full", { lost });
    lost = 0;
    isRefused = false;
    while (queue.length > 0) {
      const chunk = queue.splice(0, queue.length < BACKLOG.from ? CHUNK : BACKLOG.chunk);
      const refused = await countAll(chunk);
      if (refused.length === 0) continue;
      isRefused = true;
      queue = [...refused, ...queue];
      return;
    }
  }

  /** Returns the hits that the storage refused, in their order; they can be counted later. */
  async function countAll(hits: readonly Hit[]): Promise<Hit[]> {
    const refused = new Set<Hit>();
    const errors: unknown[] = [];
    const countOne = (hit: Hit) =>
      write(() => count(hit)).catch((error: unknown) => {
        if (isStorageRefusal(error)) refused.add(hit);
        else errors.push(error);
      });
    await Promise.all(hits.map(countOne));
    // Any other error is a bug and would occur again, so these hits are not retried.
    if (errors.length > 0) {
      const error = describeError(errors[0]);
      log.error("opens and clicks could not be counted", { lost: errors.length, error });
    }
    return hits.filter((hit) => refused.has(hit));
  }

  return {
    add(hit) {
      if (queue.length >= MAX_QUEUED) {
        lost++;
        return;
      }
      queue.push(hit);
      if (queue.length >= FLUSH_AT && !isRefused) void flush();
      else flushLater();
    },
    flush,
  };
}
