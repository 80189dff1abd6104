import { expect, test } from "bun:test";
import { intervalOf, startTimers } from "../../src/lib/recurring.ts";
import { manualClock } from "../support/clock.ts";

test.each([
  ["* * * * * *", 1],
  ["*/5 * * * * *", 5],
  ["*/30 * * * * *", 30],
  ["17 * * * * *", 60],
  ["23 7 * * * *", 3600],
])("the pattern %s recurs every %d s", (pattern, seconds) => {
  expect(intervalOf(pattern)).toBe(seconds);
});

test.each(["", "*/7 * * * * *", "60 * * * * *", "* 5 * * * *", "0 0 1 * * *", "0 0 0 0"])(
  "refuses the pattern %p",
  (pattern) => {
    expect(() => intervalOf(pattern)).toThrow("is not a pattern of recurring work");
  },
);

/** Starts one work at 10:00:00 and returns the times at which it ran, as seconds and minutes. */
function startWork(pattern: string, work: () => Promise<void> = async () => {}) {
  const clock = manualClock(Date.parse("2026-03-02T10:00:00.000Z"));
  const ranAt: string[] = [];
  const errors: unknown[] = [];
  const run = () => {
    ranAt.push(new Date(clock.now()).toISOString().slice(11, 19));
    return work();
  };
  const on = { begin() {}, error: (_: string, error: unknown) => void errors.push(error) };
  const timers = startTimers([{ name: "work", pattern, run }], on, clock);
  /** Advances second by second, so that a run can end before the next one. */
  const advance = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1000);
      await Bun.sleep(0);
    }
  };
  return { clock, ranAt, errors, timers, advance };
}

test.each([
  ["*/30 * * * * *", 90, ["10:00:30", "10:01:00", "10:01:30"]],
  ["17 * * * * *", 120, ["10:00:17", "10:01:17"]],
  ["23 7 * * * *", 500, ["10:07:23"]],
])("the pattern %s runs at its seconds", async (pattern, seconds, times) => {
  const { ranAt, advance } = startWork(pattern);
  await advance(seconds);
  expect(ranAt).toEqual(times);
});

test("leaves out a run that is due while the previous one lasts", async () => {
  const first = Promise.withResolvers<void>();
  const { ranAt, advance } = startWork("* * * * * *", () => first.promise);
  await advance(3);
  expect(ranAt).toHaveLength(1);
  first.resolve();
  await Bun.sleep(0);
  await advance(1);
  expect(ranAt).toEqual(["10:00:01", "10:00:04"]);
});

test("reports an error and runs again", async () => {
  const { ranAt, errors, advance } = startWork("* * * * * *", async () => {
    throw new Error("refused");
  });
  await advance(2);
  expect(ranAt).toHaveLength(2);
  expect(errors).toEqual([new Error("refused"), new Error("refused")]);
});

test("runs once after the clock was set ahead, and goes on after it was set back", async () => {
  const { clock, ranAt, advance } = startWork("*/10 * * * * *");
  clock.stepWall(3_600_000);
  await advance(1);
  expect(ranAt).toEqual(["11:00:01"]);
  clock.stepWall(-3_600_000);
  await advance(10);
  expect(ranAt).toEqual(["11:00:01", "10:00:10"]);
});

test("runs nothing after the stop", async () => {
  const { ranAt, timers, advance } = startWork("* * * * * *");
  await advance(1);
  timers.stop();
  await advance(2);
  expect(ranAt).toHaveLength(1);
});
