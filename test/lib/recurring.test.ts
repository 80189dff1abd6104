import { describe, expect, test } from "bun:test";
import { intervalOf, startTimers } from "../../src/lib/recurring.ts";
import { manualClock } from "../support/clock.ts";

test.each([
  ["* * * * * *", 1],
  ["*/5 * * * * *", 5],
  ["*/30 * * * * *", 30],
  ["17 * * * * *", 60],
])("the pattern %s recurs every %d s", (pattern, seconds) => {
  expect(intervalOf(pattern)).toBe(seconds);
});

test.each(["", "* * * * *", "*/7 * * * * *", "*/0 * * * * *", "60 * * * * *", "0 0 * * * *", "x"])(
  "the pattern %p is refused",
  (pattern) => {
    expect(() => intervalOf(pattern)).toThrow("is not a pattern of recurring work");
  },
);

/** Starts one timer at 10:00:00.250, and collects the seconds at which its work ran. */
function timer(pattern: string, run: () => Promise<unknown> = async () => {}) {
  const clock = manualClock(Date.parse("2026-03-02T10:00:00.250Z"));
  const ran: string[] = [];
  const errors: unknown[] = [];
  const [started] = startTimers(
    [{ name: "work", pattern, run }],
    {
      begin: () => ran.push(new Date(clock.now()).toISOString().slice(14, 23)),
      error: (_, error) => errors.push(error),
    },
    clock,
  );
  return { clock, ran, errors, stop: () => started?.stop() };
}

describe("recurring work runs", () => {
  test("at each second", async () => {
    const { clock, ran } = timer("* * * * * *");
    for (let i = 0; i < 3; i++) {
      clock.advance(1000);
      await Bun.sleep(0);
    }
    expect(ran).toEqual(["00:01.000", "00:02.000", "00:03.000"]);
  });

  test("at the multiples of its step", async () => {
    const { clock, ran } = timer("*/30 * * * * *");
    for (let i = 0; i < 3; i++) {
      clock.advance(30_000);
      await Bun.sleep(0);
    }
    expect(ran).toEqual(["00:30.000", "01:00.000", "01:30.000"]);
  });

  test("at its second of each minute", async () => {
    const { clock, ran } = timer("17 * * * * *");
    for (let i = 0; i < 2; i++) {
      clock.advance(60_000);
      await Bun.sleep(0);
    }
    expect(ran).toEqual(["00:17.000", "01:17.000"]);
  });

  test("not while the previous run lasts", async () => {
    const first = Promise.withResolvers<void>();
    const { clock, ran } = timer("* * * * * *", () => first.promise);
    clock.advance(3_000);
    expect(ran).toEqual(["00:01.000"]);
    first.resolve();
    await Bun.sleep(0);
    clock.advance(1_000);
    expect(ran).toEqual(["00:01.000", "00:04.000"]);
  });

  test("again after an error, which is reported", async () => {
    const { clock, ran, errors } = timer("* * * * * *", () => Promise.reject(new Error("no")));
    clock.advance(1_000);
    await Bun.sleep(0);
    clock.advance(1_000);
    await Bun.sleep(0);
    expect(ran).toHaveLength(2);
    expect(errors).toEqual([new Error("no"), new Error("no")]);
  });

  test("at the next due time after the wall clock was set back or forward", async () => {
    const { clock, ran } = timer("*/5 * * * * *");
    clock.stepWall(-3_600_000);
    clock.advance(4_750);
    await Bun.sleep(0);
    clock.stepWall(7_200_000);
    clock.advance(5_000);
    expect(ran).toEqual(["00:05.000", "00:10.000"]);
  });

  test("not after it was stopped", () => {
    const { clock, ran, stop } = timer("* * * * * *");
    clock.advance(1_000);
    stop();
    clock.advance(10_000);
    expect(ran).toEqual(["00:01.000"]);
  });
});
