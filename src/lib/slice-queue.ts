/**
 * Long reads in short turns: however many of them are under way, each round of the event loop gives
 * one of them one turn, so requests never wait for more than a single turn. Owners (projects) take
 * turns first, then the reads of an owner: many reads of one owner delay those of another by no more
 * than one read would.
 */

/** The turns of one owner. */
export type SliceQueue = {
  /** Resolves when it is this caller's turn; it may then work for a few milliseconds. */
  nextSlice(): Promise<void>;
};

export type FairScheduler = {
  /** `owner`: `seq` of a project; `NO_OWNER` for work of the service itself. */
  of(owner: number): SliceQueue;
};

export const NO_OWNER = 0;

/** `beginWork` is told whenever a turn begins, so that a hold of the event loop is explained. */
export function createFairScheduler(beginWork: () => void = () => {}): FairScheduler {
  /** In the order in which the owners are served. */
  const waiting = new Map<number, (() => void)[]>();

  function giveOne(): void {
    beginWork();
    for (const [owner, callers] of waiting) {
      waiting.delete(owner);
      const resolve = callers.shift();
      if (callers.length > 0) waiting.set(owner, callers);
      resolve?.();
      break;
    }
    if (waiting.size > 0) setImmediate(giveOne);
  }

  function enqueue(owner: number, resolve: () => void): void {
    const callers = waiting.get(owner);
    if (callers !== undefined) return void callers.push(resolve);
    waiting.set(owner, [resolve]);
    if (waiting.size === 1) setImmediate(giveOne);
  }

  return {
    of: (owner) => ({
      nextSlice: () => new Promise((resolve) => enqueue(owner, resolve)),
    }),
  };
}
