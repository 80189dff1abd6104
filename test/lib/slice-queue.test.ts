import { expect, test } from "bun:test";
import { createFairScheduler } from "../../src/lib/slice-queue.ts";

const TURNS = 6;

/** Records its name at each of its slices. */
async function read(scheduler: { nextSlice(): Promise<void> }, name: string, taken: string[]) {
  for (let i = 0; i < TURNS; i++) {
    await scheduler.nextSlice();
    taken.push(name);
  }
}

test("many reads of one owner delay a read of another by one slice each", async () => {
  const scheduler = createFairScheduler();
  const taken: string[] = [];
  const hog = Array.from({ length: 50 }, () => read(scheduler.of(1), "hog", taken));
  const other = read(scheduler.of(2), "other", taken);
  await other;
  expect(taken.filter((name) => name === "other")).toHaveLength(TURNS);
  expect(taken.length).toBeLessThanOrEqual(2 * TURNS + 1);
  await Promise.all(hog);
  expect(taken).toHaveLength(51 * TURNS);
});

test("the reads of one owner get slices in round robin", async () => {
  const scheduler = createFairScheduler();
  const taken: string[] = [];
  await Promise.all(["a", "b", "c"].map((name) => read(scheduler.of(1), name, taken)));
  expect(taken.slice(0, 9).join("")).toBe("abcabcabc");
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
      await scheduler.of(i % 4).nextSlice();
      rounds.push(round);
    }),
  );
  isOver = true;
  expect(new Set(rounds).size).toBe(20);
});
