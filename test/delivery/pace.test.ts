import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createPace, type Pace } from "../../src/delivery/pace.ts";

const START = Date.parse("2026-03-02T10:00:00Z");
const SECOND_MS = 1000;

/** Lets promises and what they lead to run; no time passes. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

async function pass(ms: number): Promise<void> {
  for (let i = 0; i < ms; i++) {
    jest.advanceTimersByTime(1);
    await settle();
  }
}

/** Asks for `count` permits; the moments at which they are used, in ms from now. */
function startsOf(pace: Pace, count: number, task = () => Promise.resolve()): number[] {
  const starts: number[] = [];
  for (let i = 0; i < count; i++) {
    void pace.run(() => {
      starts.push(Date.now() - START);
      return task();
    });
  }
  return starts;
}

function mostInAnySecond(starts: readonly number[]): number {
  const inSecondFrom = (from: number) =>
    starts.filter((at) => at >= from && at < from + SECOND_MS).length;
  return Math.max(0, ...starts.map(inSecondFrom));
}

describe("the rate", () => {
  beforeEach(() => void jest.useFakeTimers({ now: START }));
  afterEach(() => void jest.useRealTimers());

  test.each([
    [14, 14, 70],
    [1, 1, 5],
    [14.5, 14, 70],
    [100, 100, 500],
  ])("%d per second: never more than %d in any second", async (ratePerSecond, most, total) => {
    const pace = createPace({ ratePerSecond, concurrency: 20 });
    const starts = startsOf(pace, total);
    await pass(5 * SECOND_MS + 500);
    expect(starts).toHaveLength(total);
    expect(mostInAnySecond(starts)).toBe(most);
  });

  test("is spread, so that a burst takes half of its second", async () => {
    const pace = createPace({ ratePerSecond: 10, concurrency: 20 });
    const starts = startsOf(pace, 20);
    await pass(2 * SECOND_MS);
    const first = Array.from({ length: 10 }, (_, i) => i * 50);
    expect(starts).toEqual([...first, ...first.map((at) => 1_010 + at)]);
  });

  test("below one is a mail every so many seconds", async () => {
    const pace = createPace({ ratePerSecond: 0.5, concurrency: 20 });
    const starts = startsOf(pace, 3);
    await pass(4_100);
    expect(starts).toEqual([0, 2_020, 4_040]);
  });

  test("holds after a pause and for permits that come at any time", async () => {
    const pace = createPace({ ratePerSecond: 14, concurrency: 20 });
    const groups: number[][] = [];
    for (const waitMs of [900, 50, 50, 300, 5_000, 700, 100, 250, 1]) {
      groups.push(startsOf(pace, 9));
      await pass(waitMs);
    }
    await pass(4 * SECOND_MS);
    expect(groups.flat()).toHaveLength(81);
    expect(mostInAnySecond(groups.flat())).toBe(14);
  });

  test("is not the rate of ends: slow tasks do not gather a burst", async () => {
    const pace = createPace({ ratePerSecond: 10, concurrency: 5 });
    const starts = startsOf(pace, 40, () => new Promise((resolve) => setTimeout(resolve, 400)));
    await pass(6 * SECOND_MS);
    expect(starts).toHaveLength(40);
    expect(mostInAnySecond(starts)).toBeLessThanOrEqual(10);
  });

  test("of zero is no limit", async () => {
    const pace = createPace({ ratePerSecond: 0, concurrency: 20 });
    const starts = startsOf(pace, 1000);
    for (let i = 0; i < 200; i++) await settle();
    expect(starts).toHaveLength(1000);
    expect(Date.now()).toBe(START);
  });
});

describe("the valve", () => {
  test("lets at most `concurrency` be under way at once", async () => {
    const pace = createPace({ ratePerSecond: 0, concurrency: 3 });
    const ends: (() => void)[] = [];
    const starts = startsOf(pace, 5, () => new Promise<void>((resolve) => ends.push(resolve)));
    expect(starts).toHaveLength(3);
    ends[0]?.();
    await settle();
    expect(starts).toHaveLength(4);
  });

  test("hands on what a task ends in", async () => {
    const pace = createPace({ ratePerSecond: 14, concurrency: 3 });
    expect(await pace.run(() => Promise.resolve("sent"))).toBe("sent");
    expect(pace.run(() => Promise.reject(new Error("not sent")))).rejects.toThrow("not sent");
  });

  test.each([
    [0, 20, 10],
    [0, 1, 1],
    [14, 20, 5],
    [1, 20, 1],
    [0.1, 20, 1],
    [1000, 20, 10],
    [14, 2, 1],
  ])("at rate %d and %d at once wants %d ready", (ratePerSecond, concurrency, ahead) => {
    expect(createPace({ ratePerSecond, concurrency }).aheadFor(0)).toBe(ahead);
  });

  test("wants as many more ready as leave during the way to their turn", () => {
    const pace = createPace({ ratePerSecond: 14, concurrency: 50 });
    expect([0, 500, 1_000].map(pace.aheadFor)).toEqual([5, 12, 19]);
  });

  test("wants all ready where each has a place of its own", () => {
    const pace = createPace({ ratePerSecond: 0, concurrency: 50, mostAhead: 50 });
    expect(pace.aheadFor(0)).toBe(50);
  });
});
