import { expect, test } from "bun:test";
import { createRandom } from "../../scripts/seed/random.ts";
import { createLimitedTasks, createTaskLimit } from "../../src/lib/limited-tasks.ts";

/** Runs promises and their continuations. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

test("tasks start at once while fewer than the limit run, and then as others end", async () => {
  const run = createLimitedTasks(2);
  const started: number[] = [];
  const ends = [0, 1, 2, 3].map((number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    void run(() => {
      started.push(number);
      return promise;
    });
    return resolve;
  });
  expect(started).toEqual([0, 1]);
  ends[1]?.();
  await settle();
  expect(started).toEqual([0, 1, 2]);
  ends[0]?.();
  await settle();
  expect(started).toEqual([0, 1, 2, 3]);
});

test("urgent tasks start before the others that wait", async () => {
  const run = createLimitedTasks(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const started: string[] = [];
  void run(() => promise);
  const tasks = ["usual", "urgent", "second usual"].map((name) =>
    run(async () => void started.push(name), name === "urgent" ? 1 : 0),
  );
  resolve();
  await Promise.all(tasks);
  expect(started).toEqual(["urgent", "usual", "second usual"]);
});

test.each([
  ["throws", () => throwFaulty()],
  ["rejects", async () => throwFaulty()],
])("a task that %s frees its place", async (_, faulty) => {
  const run = createLimitedTasks(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  void run(() => promise);
  const results = Promise.allSettled([run(faulty), run(async () => "next")]);
  resolve();
  expect((await results).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(await run(async () => "last")).toBe("last");
});

function throwFaulty(): never {
  throw new Error("faulty");
}

test("never more tasks run than the limit, and all of them run", async () => {
  const random = createRandom(11);
  const run = createLimitedTasks(5);
  let running = 0;
  let most = 0;
  let ended = 0;
  const tasks = Array.from({ length: 500 }, () =>
    run(async () => {
      running++;
      most = Math.max(most, running);
      for (let i = 0; i < random.integer(5); i++) await Promise.resolve();
      running--;
      ended++;
    }, random.integer(3)),
  );
  await Promise.all(tasks);
  expect([most, ended, running]).toEqual([5, 500, 0]);
});

test("a task that ends before it returns frees its place for the next one", () => {
  const run = createTaskLimit(1);
  const started: number[] = [];
  for (let i = 0; i < 3; i++) {
    run((ended) => {
      started.push(i);
      ended();
    });
  }
  expect(started).toEqual([0, 1, 2]);
});

test("a waiting task starts when a task has called its end", () => {
  const run = createTaskLimit(1);
  const started: string[] = [];
  let end = () => {};
  run((ended) => {
    end = ended;
  });
  run(() => started.push("usual"));
  run(() => started.push("urgent"), 1);
  expect(started).toEqual([]);
  end();
  expect(started).toEqual(["urgent"]);
});
