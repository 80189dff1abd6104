import { expect, test } from "bun:test";
import { createOwnerQueues } from "../../src/lib/owner-queues.ts";
import { nextIteration } from "../../src/lib/yield.ts";

test("runs at most the given number of tasks of one owner, in order, beside those of others", async () => {
  const queues = createOwnerQueues(2);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (owner: number, name: string) =>
    queues.run(owner, () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.push(() => resolve(name)));
    });
  const tasks = [run(1, "a"), run(1, "b"), run(1, "c"), run(2, "d"), run(1, "e")];
  await nextIteration();
  expect(started).toEqual(["a", "b", "d"]);
  while (ends.length > 0) {
    ends.shift()?.();
    await nextIteration();
  }
  expect(started).toEqual(["a", "b", "d", "c", "e"]);
  expect(await Promise.all(tasks)).toEqual(["a", "b", "c", "d", "e"]);
});

test("continues after a task that failed", async () => {
  const queues = createOwnerQueues(1);
  const failed = queues.run(1, () => Promise.reject(new Error("no")));
  const next = queues.run(1, async () => "yes");
  expect(await Promise.allSettled([failed, next])).toMatchObject([
    { status: "rejected" },
    { status: "fulfilled", value: "yes" },
  ]);
});
