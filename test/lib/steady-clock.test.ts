import { describe, expect, test } from "bun:test";
import { createSteadyClock } from "../../src/lib/steady-clock.ts";
import { manualClock } from "../support/clock.ts";

const HOUR_MS = 60 * 60_000;

describe("a steady clock", () => {
  test("follows the system clock and its small corrections", () => {
    const system = manualClock();
    const clock = createSteadyClock(system);
    for (const correctionMs of [0, 300, -999, 999, -1, -998]) {
      system.advance(10_000);
      system.stepWall(correctionMs);
      expect([clock.now() - system.now(), clock.stepMs()]).toEqual([0, 0]);
    }
  });

  test("follows a clock that is slewed for hours", () => {
    const system = manualClock();
    const clock = createSteadyClock(system);
    // 500 ppm is the fastest that a kernel slews a clock.
    for (let second = 0; second < 4 * 3600; second++) {
      system.advance(1_000);
      system.stepWall(-0.5);
      expect(clock.stepMs()).toBe(0);
    }
    expect(clock.now()).toBe(system.now());
  });

  const steps: [why: string, ms: number][] = [
    ["an hour back", -HOUR_MS],
    ["an hour forward", HOUR_MS],
    ["a day back", -24 * HOUR_MS],
    ["a day forward", 24 * HOUR_MS],
    ["hardly more than a second back", -1_001],
    ["back before 1970", -100 * 365 * 24 * HOUR_MS],
  ];
  test.each(steps)(
    "continues as before when the system clock is set %s, until the time is adopted",
    (_, stepMs) => {
      const system = manualClock();
      const clock = createSteadyClock(system);
      const startMs = clock.now();
      system.advance(5_000);
      system.stepWall(stepMs);
      expect([clock.now() - startMs, clock.stepMs()]).toEqual([5_000, stepMs]);
      system.advance(700.25);
      expect([clock.now() - startMs, Number.isInteger(clock.now())]).toEqual([5_700, true]);
      clock.adopt();
      expect([clock.now(), clock.stepMs()]).toEqual([system.now(), 0]);
      system.advance(1_000);
      expect(clock.now()).toBe(system.now());
    },
  );

  test("adds consecutive steps; steps that cancel each other have no effect", () => {
    const system = manualClock();
    const clock = createSteadyClock(system);
    system.stepWall(-HOUR_MS);
    system.stepWall(-HOUR_MS);
    expect(clock.stepMs()).toBe(-2 * HOUR_MS);
    system.stepWall(2 * HOUR_MS);
    expect([clock.stepMs(), clock.now()]).toEqual([0, system.now()]);
  });

  test("returns to the earlier time when an adoption is undone", () => {
    const system = manualClock();
    const clock = createSteadyClock(system);
    const startMs = clock.now();
    system.stepWall(-HOUR_MS);
    const undo = clock.adopt();
    system.advance(20);
    undo();
    expect([clock.now() - startMs, clock.stepMs()]).toEqual([20, -HOUR_MS]);
  });

  test("uses monotonic time and timers of the system clock", () => {
    const system = manualClock();
    const clock = createSteadyClock(system);
    const ran: string[] = [];
    clock.after(50, () => ran.push("timer"));
    system.stepWall(HOUR_MS);
    system.advance(50);
    expect([ran, clock.elapsed()]).toEqual([["timer"], system.elapsed()]);
  });
});
