/**
 * Hits are answered at once and counted in batches: they stay in memory for a second or until there
 * are 500 of them. A crash loses only the hits in memory.
 */

import { isStorageRefusal } from "../../db/refusal.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { CountHit, Hit } from "./service.ts";

export type Collector = {
  /** Queues a hit to be counted; never waits and never fails. */
  add(hit: Hit): void;
  /** Counts all queued hits; resolves when they are written. */
  flush(): Promise<void>;
};

const FLUSH_AFTER_MS = 1_000;
const FLUSH_AT = 500;
/** Hits counted in one change: few, so that other changes do not wait long. */
const CHUNK = 25;
/** With this many queued hits, changes are larger, so that the disk can keep up. */
const BACKLOG = { from: 2_000, chunk: 400 } as const;
/** Hits kept in memory while the storage refuses writes; further hits are dropped. */
const MAX_QUEUED = 20_000;

export function createCollector(deps: {
  count: CountHit;
  writer: Writer;
  clock: Clock;
  log: Log;
}): Collector {
  const { count, writer, clock, log } = deps;
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
      try {
        await writer.write(() => chunk.forEach(count));
      } catch (error) {
        if (isStorageRefusal(error)) {
          isRefused = true;
          queue = [...chunk, ...queue];
          return;
        }
        // Any other error is a bug and would fail again, so these hits are not retried.
        log.error("opens and clicks could not be counted", { error: describeError(error) });
      }
    }
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
