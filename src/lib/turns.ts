/**
 * Long reads in short turns: however many of them are under way, each round of the event loop gives
 * one of them one turn, so requests never wait for more than a single turn.
 */

export type Turns = {
  /** Resolves when it is this caller's turn; it may then work for a few milliseconds. */
  next(): Promise<void>;
};

/** `beginWork` is told whenever a turn begins, so that a hold of the event loop is explained. */
export function createTurns(beginWork: () => void = () => {}): Turns {
  const waiting: (() => void)[] = [];

  function giveOne(): void {
    beginWork();
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(giveOne);
  }

  return {
    next() {
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) setImmediate(giveOne);
      });
    },
  };
}
