import { beforeEach, describe, expect, test } from "bun:test";
import { Deadline } from "../../../src/protocols/smtp/deadline.ts";
import { manualClock } from "../../support/clock.ts";

describe("Deadline", () => {
  let clock = manualClock();
  let expired: number[] = [];
  let deadline = new Deadline(clock, () => {});

  beforeEach(() => {
    clock = manualClock();
    expired = [];
    deadline = new Deadline(clock, (waitedMs) => expired.push(waitedMs));
  });

  test("expires once, after its step", () => {
    deadline.arm(300);
    clock.advance(299);
    expect(expired).toEqual([]);
    clock.advance(1_000);
    expect(expired).toEqual([300]);
  });

  test("does not expire between steps", () => {
    deadline.arm(300);
    deadline.disarm();
    clock.advance(1_000);
    expect(expired).toEqual([]);
  });

  test("follows its steps in both directions", () => {
    deadline.arm(300);
    clock.advance(200);
    deadline.arm(600);
    clock.advance(599);
    expect(expired).toEqual([]);
    deadline.arm(50);
    clock.advance(50);
    expect(expired).toEqual([50]);
  });

  test("expires early by the watchdog, which reports its own time", () => {
    deadline.watch(500);
    for (let i = 0; i < 4; i++) {
      deadline.arm(300);
      clock.advance(120);
    }
    expect(expired).toEqual([]);
    clock.advance(20);
    expect(expired).toEqual([500]);
  });

  test("starts again with the watchdog", () => {
    deadline.watch(500);
    clock.advance(400);
    deadline.watch(500);
    deadline.arm(300);
    clock.advance(299);
    expect(expired).toEqual([]);
  });

  test("does not expire by a step of the wall clock", () => {
    deadline.arm(300);
    clock.stepWall(86_400_000);
    clock.advance(299);
    clock.stepWall(-2 * 86_400_000);
    expect(expired).toEqual([]);
    clock.advance(1);
    expect(expired).toEqual([300]);
  });

  test("uses one timer for any number of steps", () => {
    let timers = 0;
    const counting: typeof clock = {
      ...clock,
      after(delayMs, run) {
        timers++;
        const cancel = clock.after(delayMs, run);
        return () => {
          timers--;
          cancel();
        };
      },
    };
    const busy = new Deadline(counting, () => {});
    for (let i = 0; i < 1_000; i++) {
      busy.arm(300_000);
      busy.disarm();
    }
    expect(timers).toBe(1);
    busy.clear();
    expect(timers).toBe(0);
  });
});
