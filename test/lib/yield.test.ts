import { expect, test } from "bun:test";
import { systemClock } from "../../src/lib/clock.ts";
import { createSlicedRun, createYield } from "../../src/lib/yield.ts";

/** Holds the event loop. */
function work(ms: number): void {
  const endsAt = systemClock.elapsed() + ms;
  while (systemClock.elapsed() < endsAt);
}

/** Counts the iterations of the event loop until `stop`. */
function countIterations() {
  let count = 0;
  let isCounting = true;
  (function next() {
    setImmediate(() => {
      count++;
      if (isCounting) next();
    });
  })();
  return { current: () => count, stop: () => void (isCounting = false) };
}

/** Runs pieces that ask at the same time; returns the iteration in which each of them ran. */
async function runPieces(pieces: number, ms: number, sliceMs: number): Promise<number[]> {
  const yieldIfBusy = createYield(sliceMs);
  const iterations = countIterations();
  const order: number[] = [];
  const ran: number[] = [];
  async function piece(number: number): Promise<void> {
    await yieldIfBusy();
    order.push(number);
    ran.push(iterations.current());
    work(ms);
  }
  const numbers = Array.from({ length: pieces }, (_, i) => i);
  await Promise.all(numbers.map(piece));
  iterations.stop();
  expect(order).toEqual(numbers);
  return ran;
}

test("pieces that ask at the same time share an iteration up to the length of a slice", async () => {
  const ran = await runPieces(12, 2, 5);
  const perIteration = [...Map.groupBy(ran, (iteration) => iteration).values()];
  expect(perIteration.length).toBeGreaterThanOrEqual(4);
  for (const pieces of perIteration) expect(pieces.length).toBeLessThanOrEqual(3);
});

test("short pieces share an iteration", async () => {
  expect(new Set(await runPieces(20, 0, 1_000)).size).toBe(1);
});

test("a piece that asks after a slice has ended runs in a later iteration", async () => {
  const yieldIfBusy = createYield(1);
  const iterations = countIterations();
  await yieldIfBusy();
  const first = iterations.current();
  work(2);
  await yieldIfBusy();
  expect(iterations.current()).toBeGreaterThan(first);
  iterations.stop();
});

test("pieces of a sliced run begin at once and in order, up to the length of a slice", async () => {
  const run = createSlicedRun(5);
  const iterations = countIterations();
  const first = iterations.current();
  const ran: number[] = [];
  const { promise: allRan, resolve } = Promise.withResolvers<void>();
  for (let i = 0; i < 12; i++) {
    run(() => {
      ran.push(iterations.current());
      work(2);
      if (i === 11) resolve();
    });
  }
  expect(ran.length).toBeGreaterThanOrEqual(1);
  expect(new Set(ran)).toEqual(new Set([first]));
  await allRan;
  iterations.stop();
  expect(ran).toEqual(ran.toSorted((a, b) => a - b));
  const perIteration = [...Map.groupBy(ran, (iteration) => iteration).values()];
  expect(perIteration.length).toBeGreaterThanOrEqual(4);
  for (const pieces of perIteration) expect(pieces.length).toBeLessThanOrEqual(3);
});

test("a piece that a piece of a sliced run adds comes after those that wait", () => {
  const run = createSlicedRun(60_000);
  const order: string[] = [];
  run(() => {
    run(() => order.push("second"));
    run(() => {
      run(() => order.push("fourth"));
      order.push("third");
    });
    order.push("first");
  });
  run(() => order.push("fifth"));
  expect(order).toEqual(["first", "second", "third", "fourth", "fifth"]);
});

test("a piece that throws does not keep the next ones from running", async () => {
  const run = createSlicedRun(60_000);
  const ran: string[] = [];
  expect(() =>
    run(() => {
      run(() => ran.push("waiting"));
      throw new Error("faulty");
    }),
  ).toThrow("faulty");
  run(() => ran.push("next"));
  expect(ran).toEqual(["waiting", "next"]);
});
