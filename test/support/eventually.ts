/** Waiting without sleeping: turns of the event loop instead of time. */

const LIMIT_MS = 15_000;
const QUIET_TURNS = 40;

/** Resolves once `isTrue` says so; looks again at every turn of the event loop. */
export async function eventually(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!isTrue()) {
    if (performance.now() > deadline)
      throw new Error(`not so within ${LIMIT_MS} ms: ${String(isTrue)}`);
    await turn();
  }
}

/** Lets everything happen that needs no time to pass. */
export async function quiet(): Promise<void> {
  for (let i = 0; i < QUIET_TURNS; i++) await turn();
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
