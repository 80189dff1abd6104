import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { intervalOf, startTimers } from "../../src/lib/recurring.ts";

test.each([
  ["* * * * * *", 1],
  ["*/5 * * * * *", 5],
  ["*/30 * * * * *", 30],
  ["17 * * * * *", 60],
])("the pattern %s recurs every %d s", async (pattern, seconds) => {
  expect(await intervalOf(pattern)).toBe(seconds);
});

/** Replaces the timers of the platform during a test; `pass` lets seconds pass. */
describe("timers", () => {
  beforeEach(() => {
    jest.useFakeTimers();
    jest.setSystemTime(new Date("2026-03-02T10:00:02Z"));
  });
  afterEach(() => {
    jest.setSystemTime();
    jest.useRealTimers();
  });

  async function advance(seconds: number): Promise<void> {
    for (let i = 0; i < 2 * seconds; i++) {
      jest.advanceTimersByTime(500);
      await intervalOf("* * * * * *"); // Croner is loaded, and work that has begun has ended.
    }
  }

  test("run works in their interval until they are stopped, and errors are reported", async () => {
    const errors: string[] = [];
    let runs = 0;
    const run = async () => {
      runs++;
      throw new Error("faulty");
    };
    const timers = startTimers([{ name: "work", pattern: "*/5 * * * * *", run }], {
      begin: () => {},
      error: (name) => errors.push(name),
    });
    await advance(16);
    expect([runs, errors]).toEqual([3, ["work", "work", "work"]]);
    timers.stop();
    await advance(16);
    expect(runs).toBe(3);
  });

  test("that are stopped at once never run", async () => {
    let runs = 0;
    const run = async () => void runs++;
    const work = { name: "work", pattern: "* * * * * *", run };
    const on = { begin: () => {}, error: () => {} };
    startTimers([work], on).stop();
    let others = 0;
    const timers = startTimers([{ ...work, run: async () => void others++ }], on);
    await advance(3);
    timers.stop();
    expect([runs, others > 0]).toEqual([0, true]);
  });
});
