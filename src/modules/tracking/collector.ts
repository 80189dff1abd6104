/**
 * Visits are answered at once and counted together: collected in memory for a second or until there
 * are 500 of them. A crash loses what was collected since, and nothing else.
 */

import { isStorageRefusal } from "../../db/refusal.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { Count, Visit } from "./count.ts";

export type Collector = {
  /** Takes a visit to be counted; never waits, never fails. */
  add(visit: Visit): void;
  /** Counts what was taken; resolves when it is written. */
  flush(): Promise<void>;
};

const FLUSH_AFTER_MS = 1_000;
const FLUSH_AT = 500;
/** Counted in one go: few, so that nobody who comes in between waits long. */
const CHUNK = 25;
/** More where so many wait that the disk cannot keep up with small ones. */
const BEHIND = { from: 2_000, chunk: 400 } as const;
/** While the storage refuses; more are not taken. */
const MOST_WAITING = 20_000;

export function createCollector(deps: {
  count: Count;
  writer: Writer;
  clock: Clock;
  log: Log;
}): Collector {
  const { count, writer, clock, log } = deps;
  let waiting: Visit[] = [];
  let lost = 0;
  /** The storage refused: the next try is the timer's. */
  let isRefused = false;
  let underway: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;

  function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    underway ??= flushAll().finally(() => {
      underway = null;
      if (waiting.length > 0) flushLater();
    });
    return underway;
  }

  function flushLater(): void {
    cancelTimer ??= clock.after(FLUSH_AFTER_MS, () => void flush());
  }

  async function flushAll(): Promise<void> {
    if (lost > 0) log.warn("opens and clicks were not counted: too many waited", { lost });
    lost = 0;
    isRefused = false;
    while (waiting.length > 0) {
      const chunk = waiting.splice(0, waiting.length < BEHIND.from ? CHUNK : BEHIND.chunk);
      try {
        await writer.write(() => chunk.forEach(count));
      } catch (error) {
        if (isStorageRefusal(error)) {
          isRefused = true;
          waiting = [...chunk, ...waiting];
          return;
        }
        // A fault of ours would only repeat itself.
        log.error("opens and clicks could not be counted", { error: describeError(error) });
      }
    }
  }

  return {
    add(visit) {
      if (waiting.length >= MOST_WAITING) {
        lost++;
        return;
      }
      waiting.push(visit);
      if (waiting.length >= FLUSH_AT && !isRefused) void flush();
      else flushLater();
    },
    flush,
  };
}
