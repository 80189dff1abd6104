/**
 * Processor time of single threads. Unlike elapsed time it does not grow while other threads or
 * processes have the processors, so it measures work also on a busy machine.
 */

import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { systemClock } from "./clock.ts";

/** Linux counts the time of a thread in these units (USER_HZ is 100 on all its platforms). */
const TICK_MS = 10;
const THREAD_SELF = "/proc/thread-self";

/** The processor time of this thread in milliseconds. Reading it takes 0.3 µs. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** A reading of the processor time is not older than this. */
const READING_MS = 20;
let reading = { cpuMs: 0, atMs: -Infinity };

/**
 * The processor time of this thread in milliseconds, or up to 20 ms more: since its last reading it
 * cannot have grown faster than the clock. For callers that start to measure often: what they measure
 * is never too long.
 */
export function recentThreadCpuMs(): number {
  const nowMs = systemClock.elapsed();
  if (nowMs - reading.atMs > READING_MS) reading = { cpuMs: threadCpuMs(), atMs: nowMs };
  return reading.cpuMs + nowMs - reading.atMs;
}

/** The number of this thread in the kernel; null where the kernel does not show it (not Linux). */
export function threadNumber(): number | null {
  if (!existsSync(THREAD_SELF)) return null;
  const [, number] = /\/task\/(\d+)$/.exec(readlinkSync(THREAD_SELF)) ?? [];
  return number === undefined ? null : Number(number);
}

/**
 * The processor time of another thread of this process, in steps of 10 ms. Null for a thread without
 * number or that has ended.
 */
export function cpuMsOfThread(number: number | null): number | null {
  const file = `/proc/self/task/${number}/stat`;
  if (number === null || !existsSync(file)) return null;
  // The second field is a name in parentheses, which may contain blanks (proc(5)).
  const text = readFileSync(file, "latin1");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [user = "0", system = "0"] = fields.slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** The processor time of all other threads of this process together, in milliseconds. */
export function otherThreadsCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 - threadCpuMs();
}
