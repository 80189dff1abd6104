/** Waits for conditions by yielding to the event loop instead of sleeping. */

import { expect } from "bun:test";

const LIMIT_MS = 15_000;
const QUIET_YIELDS = 40;

/** Resolves once `isTrue` returns true, which is checked at every iteration of the event loop. */
export async function waitUntil(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!isTrue()) {
    if (performance.now() > deadline)
      throw new Error(`still false after ${LIMIT_MS} ms: ${String(isTrue)}`);
    await yieldToLoop();
  }
}

/** As `waitUntil`, for a state of a page or of a server, which takes time to read. */
export async function waitUntilRead(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline)
      throw new Error(`still false after ${LIMIT_MS} ms: ${String(isTrue)}`);
  }
}

/**
 * Checks that `read` returns `expected`, now or within 15 s. A page shows its parts when their data
 * arrive, so a part that is visible does not mean that its neighbours are complete.
 */
export async function expectSoon<T>(read: () => T | Promise<T>, expected: T): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  let found: unknown = await read();
  while (!Bun.deepEquals(found, expected) && performance.now() < deadline) {
    await yieldToLoop();
    found = await read();
  }
  expect(found).toEqual(expected);
}

/** Lets all pending work of the event loop run that needs no time to pass. */
export async function settleEventLoop(): Promise<void> {
  for (let i = 0; i < QUIET_YIELDS; i++) await yieldToLoop();
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
