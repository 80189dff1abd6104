/** Threads that projects share: their order, their limits, and what happens to a job that fails. */

import { afterEach, describe, expect, test } from "bun:test";
import { createThreadPool, ThreadPoolError } from "../../src/lib/thread-pool.ts";
import { manualClock } from "../support/clock.ts";
import { waitUntil } from "../support/eventually.ts";
import type { PoolTask } from "../support/pool-thread.ts";

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

const LIMITS = { maxWaiting: 2, waitMs: 1_000, limitMs: 10_000, idleMs: 60_000 };

function open({ maxThreads = 1, maxOfOwner = 1 } = {}) {
  const clock = manualClock();
  const pool = createThreadPool<PoolTask, string>({
    file: new URL("../support/pool-thread.ts", import.meta.url),
    ...LIMITS,
    maxThreads,
    maxOfOwner,
    clock,
  });
  closers.push(pool.close);
  const ended: string[] = [];
  /** The names of the jobs whose data was made, in their order. */
  const begun: string[] = [];

  function run(owner: number, task: PoolTask, { isUrgent = false } = {}): Promise<string> {
    const prepare = () => {
      begun.push(task.name);
      return task;
    };
    const answer = pool.run({ owner, isUrgent, prepare });
    answer.then(
      (name) => ended.push(name),
      () => {},
    );
    return answer;
  }

  /** A job that runs until `end` is called. */
  function hold(owner: number, name: string) {
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const done = run(owner, { name, flag });
    const end = () => {
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
      return done;
    };
    closers.push(() => void end().catch(() => {}));
    return end;
  }

  return { clock, pool, run, hold, begun, ended };
}

const reasonOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => "done",
    (error: unknown) => (error instanceof ThreadPoolError ? error.reason : error),
  );

describe("the order", () => {
  test("projects take turns, and urgent jobs of a project come first", async () => {
    const { run, hold, ended } = open();
    const end = hold(1, "first");
    const others = [
      run(1, { name: "1 view" }),
      run(1, { name: "1 mail" }, { isUrgent: true }),
      run(1, { name: "1 second mail" }, { isUrgent: true }),
      run(2, { name: "2 view" }),
      run(3, { name: "3 view" }),
    ];
    await end();
    await Promise.all(others);
    expect(ended).toEqual(["first", "1 mail", "2 view", "3 view", "1 second mail", "1 view"]);
  });

  test("a project with many jobs leaves a thread to the others", async () => {
    const { run, hold, begun } = open({ maxThreads: 2 });
    const end = hold(1, "first");
    const second = run(1, { name: "second" });
    expect(await run(2, { name: "other" })).toBe("other");
    expect(begun).toEqual(["first", "other"]);
    await end();
    expect(await second).toBe("second");
  });
});

describe("a job is refused", () => {
  test("if too many of its project wait; urgent jobs and other projects have queues of their own", async () => {
    const { run, hold } = open();
    const end = hold(1, "first");
    const waiting = [run(1, { name: "a" }), run(1, { name: "b" })];
    expect(await reasonOf(run(1, { name: "c" }))).toBe("full");
    waiting.push(run(1, { name: "d" }, { isUrgent: true }), run(2, { name: "e" }));
    await end();
    expect(await Promise.all(waiting)).toEqual(["a", "b", "d", "e"]);
  });

  test("if no thread is free in time; its data is not made then", async () => {
    const { clock, run, hold, begun } = open();
    const end = hold(1, "first");
    const late = reasonOf(run(2, { name: "late" }));
    clock.advance(LIMITS.waitMs);
    expect(await late).toBe("full");
    await end();
    expect(begun).toEqual(["first"]);
  });

  test("if it does not end; its thread is ended, and the next job gets another one", async () => {
    const { clock, run } = open();
    const endless = reasonOf(run(1, { name: "endless", isEndless: true }));
    await waitUntil(() => true);
    clock.advance(LIMITS.limitMs);
    expect(await endless).toBe("late");
    expect(await run(1, { name: "next" })).toBe("next");
  });

  test("if its data cannot be made; the thread takes the next job", async () => {
    const { pool, run } = open();
    const fault = new Error("not found");
    const prepare = () => Promise.reject(fault);
    expect(await reasonOf(pool.run({ owner: 1, isUrgent: false, prepare }))).toBe(fault);
    expect(await run(1, { name: "next" })).toBe("next");
  });

  test("if its thread throws; the thread goes on", async () => {
    const { run } = open();
    expect(await reasonOf(run(1, { name: "faulty", isFaulty: true }))).toBe("failed");
    expect(await run(1, { name: "next" })).toBe("next");
  });

  test("if the pool is closed", async () => {
    const { pool, run, hold } = open();
    const running = reasonOf(hold(1, "running")().then(() => "done"));
    pool.close();
    expect(["done", "stopping"]).toContain(String(await running));
    expect(await reasonOf(run(1, { name: "later" }))).toBe("stopping");
  });
});

test("a thread ends after a time without work, and another one starts for the next job", async () => {
  const { clock, run } = open();
  expect(await run(1, { name: "a" })).toBe("a");
  expect(clock.untilNextTimer()).toBe(LIMITS.idleMs);
  clock.advance(LIMITS.idleMs);
  expect(clock.untilNextTimer()).toBe(Number.POSITIVE_INFINITY);
  expect(await run(1, { name: "b" })).toBe("b");
});
