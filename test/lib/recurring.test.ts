import { expect, test } from "bun:test";
import { waitUntil } from "../support/eventually.ts";
import { intervalOf, startTimers } from "../../src/lib/recurring.ts";

test.each([
  ["* * * * * *", 1],
  ["*/5 * * * * *", 5],
  ["*/30 * * * * *", 30],
  ["17 * * * * *", 60],
])("the pattern %s recurs every %d s", async (pattern, seconds) => {
  expect(await intervalOf(pattern)).toBe(seconds);
});

test("works run in their interval until the timers are stopped, and errors are reported", async () => {
  const errors: string[] = [];
  let runs = 0;
  const run = async () => {
    runs++;
    throw new Error("faulty");
  };
  const timers = startTimers([{ name: "work", pattern: "* * * * * *", run }], {
    begin: () => {},
    error: (name) => errors.push(name),
  });
  await waitUntil(() => runs === 2);
  timers.stop();
  expect(errors).toEqual(["work", "work"]);
});

test("timers that are stopped at once never run", async () => {
  let runs = 0;
  const run = async () => void runs++;
  const work = { name: "work", pattern: "* * * * * *", run };
  const on = { begin: () => {}, error: () => {} };
  startTimers([work], on).stop();
  let others = 0;
  const timers = startTimers([{ ...work, run: async () => void others++ }], on);
  await waitUntil(() => others === 1);
  timers.stop();
  expect(runs).toBe(0);
});
