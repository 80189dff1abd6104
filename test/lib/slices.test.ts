import { expect, test } from "bun:test";
import { startSlices } from "../../src/lib/slices.ts";
import { createFairScheduler, type SliceQueue } from "../../src/lib/slice-queue.ts";

const JOBS = 5;
const SLICES = 3;

/** Records the iteration of the event loop of each of its slices. */
async function work(queue: SliceQueue, rounds: number[], round: () => number): Promise<void> {
  const slices = await startSlices(queue);
  for (let i = 0; i < SLICES; i++) {
    rounds.push(round());
    while (!slices.isOver());
    await slices.next();
  }
}

test("each iteration of the event loop runs one slice, for any number of reads", async () => {
  const queue = createFairScheduler().queueOf(1);
  const rounds: number[] = [];
  let round = 0;
  let isOver = false;
  const beat = () => {
    round++;
    if (!isOver) setImmediate(beat);
  };
  setImmediate(beat);
  await Promise.all(Array.from({ length: JOBS }, () => work(queue, rounds, () => round)));
  isOver = true;
  expect(rounds).toHaveLength(JOBS * SLICES);
  expect(new Set(rounds).size).toBe(JOBS * SLICES);
});
