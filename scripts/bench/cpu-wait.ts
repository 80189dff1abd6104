/** Measures how long this thread waits for a processor because other processes use it. */

import { existsSync, openSync, readSync } from "node:fs";

const SCHEDULER = "/proc/thread-self/schedstat";
const scheduler = existsSync(SCHEDULER) ? openSync(SCHEDULER, "r") : null;
const buffer = Buffer.alloc(128);

/**
 * Returns the total time in milliseconds for which this thread was ready to run without a processor;
 * 0 on systems without /proc.
 */
export function cpuWaitMs(): number {
  if (scheduler === null) return 0;
  const size = readSync(scheduler, buffer, 0, buffer.byteLength, 0);
  return Number(buffer.toString("latin1", 0, size).split(" ")[1]) / 1e6;
}
