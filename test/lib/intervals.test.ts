import { expect, test } from "bun:test";
import { createEvery } from "../../src/lib/intervals.ts";

/** Intervals whose timers the test fires. */
function intervals() {
  const timers = new Map<number, () => void>();
  const every = createEvery((ms, run) => {
    if (timers.has(ms)) throw new Error(`a second timer of ${ms} ms was started`);
    timers.set(ms, run);
    return () => void timers.delete(ms);
  });
  const calls: string[] = [];
  return {
    calls,
    every,
    start: (name: string, ms: number) => every(ms, () => void calls.push(name)),
    fire: (ms: number) => timers.get(ms)?.(),
    timers: () => [...timers.keys()],
  };
}

test("intervals that are multiples of 100 ms share one timer", () => {
  const { calls, fire, start, timers } = intervals();
  start("short", 100);
  start("long", 300);
  expect(timers()).toEqual([100]);
  for (let i = 0; i < 6; i++) fire(100);
  expect(calls.join(" ")).toBe("short short short long short short short long");
});

test("another interval has a timer of its own", () => {
  const { calls, fire, start, timers } = intervals();
  start("shared", 100);
  const stop = start("own", 20);
  expect(timers()).toEqual([100, 20]);
  fire(20);
  expect(calls).toEqual(["own"]);
  stop();
  expect(timers()).toEqual([100]);
});

test("the shared timer ends with the last interval, and begins again with the next", () => {
  const { calls, fire, start, timers } = intervals();
  const [first, second] = [start("first", 100), start("second", 200)];
  first();
  first();
  expect(timers()).toEqual([100]);
  for (let i = 0; i < 2; i++) fire(100);
  expect(calls).toEqual(["second"]);
  second();
  expect(timers()).toEqual([]);
  start("third", 100);
  expect(timers()).toEqual([100]);
  fire(100);
  expect(calls).toEqual(["second", "third"]);
});

test("an interval may end while another one runs", () => {
  const { calls, every, fire, start } = intervals();
  every(100, () => stop());
  const stop = start("ended", 100);
  fire(100);
  expect(calls).toEqual([]);
});
