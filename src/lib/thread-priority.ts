/** The priority of threads beside the event loop. */

import { getPriority, setPriority } from "node:os";

/** A thread with this much more niceness gets about a quarter of a processor that both want. */
const NICER = 5;
const NICEST = 19;

/**
 * Lowers the priority of the calling thread, so that the event loop and other processes go first when
 * all processors are busy. Only Linux has a priority for each thread; elsewhere this would be that of
 * the process, so it stays (setpriority(2), "C library/kernel differences").
 */
export function lowerThreadPriority(): void {
  if (process.platform === "linux") setPriority(Math.min(getPriority() + NICER, NICEST));
}
