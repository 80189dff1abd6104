/** Lets many callers wait for one promise with a single continuation. */

import { callForEach, type Callbacks } from "./callbacks.ts";

/** Returns a function that calls `answer` when the promise is settled, at once if it is already. */
export function createSharedWait(promise: Promise<void>): (answer: Callbacks<void>) => void {
  let waiting: Callbacks<void>[] = [];
  /** Calls an answer; null while the promise is pending. */
  let settle: ((answer: Callbacks<void>) => void) | null = null;

  function settleAll(settleWith: (answer: Callbacks<void>) => void): void {
    settle = settleWith;
    const answers = waiting;
    waiting = [];
    callForEach(answers, settleWith);
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
