/** Many callers wait for one promise, which costs one continuation instead of one for each. */

import type { Callbacks } from "./callbacks.ts";

/** Returns a function that calls `answer` when the promise is settled, at once if it is already. */
export function createSharedWait(promise: Promise<void>): (answer: Callbacks<void>) => void {
  let waiting: Callbacks<void>[] = [];
  /** Calls an answer; null while the promise is pending. */
  let settle: ((answer: Callbacks<void>) => void) | null = null;

  function settleAll(how: (answer: Callbacks<void>) => void): void {
    settle = how;
    const answers = waiting;
    waiting = [];
    for (const answer of answers) how(answer);
  }

  promise.then(
    () => settleAll(({ resolve }) => resolve()),
    (error: unknown) => settleAll(({ reject }) => reject(error)),
  );
  return (answer) => {
    if (settle === null) waiting.push(answer);
    else settle(answer);
  };
}
