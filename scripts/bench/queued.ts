/** What other processes take from this thread. */

import { existsSync, openSync, readSync } from "node:fs";

const SCHEDULER = "/proc/thread-self/schedstat";
const scheduler = existsSync(SCHEDULER) ? openSync(SCHEDULER, "r") : null;
const text = Buffer.alloc(128);

/** So long this thread was ready to run and had no processor; 0 where the system does not tell. */
export function queuedMs(): number {
  if (scheduler === null) return 0;
  const size = readSync(scheduler, text, 0, text.byteLength, 0);
  return Number(text.toString("latin1", 0, size).split(" ")[1]) / 1e6;
}
