import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { Deadline } from "../../../src/protocols/smtp/deadline.ts";

describe("Deadline", () => {
  let expired: number[] = [];
  let deadline = new Deadline(() => {});

  beforeEach(() => {
    jest.useFakeTimers();
    expired = [];
    deadline = new Deadline((waitedMs) => expired.push(waitedMs));
  });

  afterEach(() => {
    deadline.clear();
    jest.useRealTimers();
  });

  test("expires once, after its step", () => {
    deadline.arm(300);
    jest.advanceTimersByTime(299);
    expect(expired).toEqual([]);
    jest.advanceTimersByTime(1_000);
    expect(expired).toEqual([300]);
  });

  test("does not expire between steps", () => {
    deadline.arm(300);
    deadline.disarm();
    jest.advanceTimersByTime(1_000);
    expect(expired).toEqual([]);
  });

  test("follows its steps in both directions", () => {
    deadline.arm(300);
    jest.advanceTimersByTime(200);
    deadline.arm(600);
    jest.advanceTimersByTime(599);
    expect(expired).toEqual([]);
    deadline.arm(50);
    jest.advanceTimersByTime(50);
    expect(expired).toEqual([50]);
  });

  test("expires early by the watchdog, which reports its own time", () => {
    deadline.watch(500);
    for (let i = 0; i < 4; i++) {
      deadline.arm(300);
      jest.advanceTimersByTime(120);
    }
    expect(expired).toEqual([]);
    jest.advanceTimersByTime(20);
    expect(expired).toEqual([500]);
  });

  test("starts again with the watchdog", () => {
    deadline.watch(500);
    jest.advanceTimersByTime(400);
    deadline.watch(500);
    deadline.arm(300);
    jest.advanceTimersByTime(299);
    expect(expired).toEqual([]);
  });

  test("uses one timer for any number of steps", () => {
    for (let i = 0; i < 1_000; i++) {
      deadline.arm(300_000);
      deadline.disarm();
    }
    expect(jest.getTimerCount()).toBe(1);
    deadline.clear();
    expect(jest.getTimerCount()).toBe(0);
  });
});
