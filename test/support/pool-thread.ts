/** A thread of a pool whose tasks a test holds: it works on one until the test sets its flag. */

import { answerTasks } from "../../src/lib/answer-tasks.ts";

export type PoolTask = { name: string; flag?: Int32Array; isEndless?: boolean; isFaulty?: boolean };

answerTasks(({ name, flag, isEndless, isFaulty }: PoolTask): string => {
  if (isEndless === true) for (;;);
  if (isFaulty) throw new Error("no");
  if (flag !== undefined) Atomics.wait(flag, 0, 0);
  return name;
});
