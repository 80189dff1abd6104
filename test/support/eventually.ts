/**
 * Waits for conditions by yielding to the event loop. A longer wait checks only once a millisecond,
 * because a server in another process or thread needs the processor. A page is asked less often: each
 * check costs it and the browser several milliseconds.
 */

import { expect } from "bun:test";
import { threadCpuMs } from "../../src/lib/thread-cpu.ts";

const LIMIT_MS = 15_000;
const QUIET_YIELDS = 40;
/** A condition that needs no time to pass is true after fewer looks than these. */
const QUICK_LOOKS = 500;
const PAUSE_MS = 1;
/** The state of a page or of a server is read so often without a pause, and then with one. */
const QUICK_READS = 3;
const READ_PAUSE_MS = 10;

/** Resolves once `isTrue` returns true. */
export async function waitUntil(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  for (let looks = 0; !isTrue(); looks++) {
    if (performance.now() > deadline)
      throw new Error(`still false after ${LIMIT_MS} ms: ${String(isTrue)}`);
    await pauseAfter(looks);
  }
}

/** As `waitUntil`, for a state of a page or of a server, which takes time to read. */
export async function waitUntilRead(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  for (let reads = 0; !(await isTrue()); reads++) {
    if (performance.now() > deadline)
      throw new Error(`still false after ${LIMIT_MS} ms: ${String(isTrue)}`);
    await pauseAfterRead(reads);
  }
}

/**
 * Checks that `read` returns `expected`, now or within 15 s. A page shows its parts when their data
 * arrive, so a part that is visible does not mean that its neighbours are complete.
 */
export async function expectSoon<T>(read: () => T | Promise<T>, expected: T): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  const first = read();
  const pause = first instanceof Promise ? pauseAfterRead : pauseAfter;
  let found: unknown = await first;
  for (let looks = 0; !isEqual(found, expected); looks++) {
    if (performance.now() > deadline) break;
    await pause(looks);
    found = await read();
  }
  expect(found).toEqual(expected);
}

/** Compares as `toEqual` does; `expected` may contain matchers, such as `expect.any(String)`. */
function isEqual(found: unknown, expected: unknown): boolean {
  try {
    expect(found).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}

/** Lets all pending work of the event loop run that needs no time to pass. */
export async function settleEventLoop(): Promise<void> {
  for (let i = 0; i < QUIET_YIELDS; i++) await yieldToLoop();
}

function pauseAfter(looks: number): Promise<void> {
  return looks < QUICK_LOOKS ? yieldToLoop() : Bun.sleep(PAUSE_MS);
}

function pauseAfterRead(reads: number): Promise<void> {
  return reads < QUICK_READS ? yieldToLoop() : Bun.sleep(READ_PAUSE_MS);
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * The part, from 0 to 1, of the processor time of this process during `work` that the longest hold of
 * the event loop took: close to 1 if all work is done at once on this thread. Other processes do not
 * change it.
 */
export async function longestHoldDuring(work: Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  let longest = 0;
  let last = threadCpuMs();
  const measureHold = () => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(measureHold, PAUSE_MS);
  await work.finally(() => clearInterval(timer));
  measureHold();
  const { user, system } = process.cpuUsage(before);
  return (longest * 1_000) / (user + system);
}
