import { expect, test } from "bun:test";
import { createFairScheduler } from "../../src/lib/slice-queue.ts";

const SLICES = 6;

/** Records its name at each of its slices. */
async function read(scheduler: { nextSlice(): Promise<void> }, name: string, slices: string[]) {
  for (let i = 0; i < SLICES; i++) {
    await scheduler.nextSlice();
    slices.push(name);
  }
}

test("many reads of one owner delay a read of another by one slice each", async () => {
  const scheduler = createFairScheduler();
  const slices: string[] = [];
  const hog = Array.from({ length: 50 }, () => read(scheduler.queueOf(1), "hog", slices));
  const other = read(scheduler.queueOf(2), "other", slices);
  await other;
  expect(slices.filter((name) => name === "other")).toHaveLength(SLICES);
  expect(slices.length).toBeLessThanOrEqual(2 * SLICES + 1);
  await Promise.all(hog);
  expect(slices).toHaveLength(51 * SLICES);
});

test("the reads of one owner get slices in round robin", async () => {
  const scheduler = createFairScheduler();
  const slices: string[] = [];
  await Promise.all(["a", "b", "c"].map((name) => read(scheduler.queueOf(1), name, slices)));
  expect(slices.slice(0, 9).join("")).toBe("abcabcabc");
});

test("each iteration of the event loop runs one slice, for any number of owners", async () => {
  const scheduler = createFairScheduler();
  let round = 0;
  let isOver = false;
  const beat = () => {
    round++;
    if (!isOver) setImmediate(beat);
  };
  setImmediate(beat);
  const rounds: number[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      await scheduler.queueOf(i % 4).nextSlice();
      rounds.push(round);
    }),
  );
  isOver = true;
  expect(new Set(rounds).size).toBe(20);
});
