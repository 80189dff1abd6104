/** What rendering may cost: when a campaign is stopped for it, and when it goes on. */

import { beforeEach, expect, test } from "bun:test";
import { silentLog } from "../../../src/lib/log.ts";
import { type Cost, createCost } from "../../../src/modules/campaigns/render-cost.ts";

let paused: [campaignSeq: number, reason: string][];
let isSending: boolean;
let cost: Cost;
beforeEach(() => {
  paused = [];
  isSending = true;
  cost = createCost({
    log: silentLog,
    lifecycle: {
      isSending: () => isSending,
      pauseBecause(campaignSeq, reason) {
        paused.push([campaignSeq, reason]);
        isSending = false;
        return `id-${campaignSeq}`;
      },
    },
    writer: { write: async (change) => change() },
  });
});

const render = (ms: number, times: number, campaignSeq = 1) => {
  for (let i = 0; i < times; i++) cost.noteRendering(campaignSeq, ms);
};

test.each([
  ["a usual template, for a million", 0.02, 1_000_000, 0],
  ["one that takes just what is free", 20, 10_000, 0],
  ["a dear one, for a few", 200, 11, 0],
  ["a dear one, for one more", 200, 12, 1],
  ["one that takes its whole second, twice", 1_000, 2, 0],
  ["one that takes its whole second, three times", 1_000, 3, 1],
  ["a machine that stood still for a night, twice", 30_000_000, 2, 0],
])("%s", async (_, ms, times, pauses) => {
  render(ms, times);
  await Bun.sleep(0);
  expect(paused).toHaveLength(pauses);
  expect(cost.isStopped(1)).toBe(pauses === 1);
  for (const [seq, reason] of paused) {
    expect([seq, reason]).toEqual([1, expect.stringContaining(`takes ${ms} ms to render`)]);
  }
});

test("each campaign counts for itself", async () => {
  render(200, 11, 1);
  render(200, 11, 2);
  render(200, 1, 1);
  await Bun.sleep(0);
  expect(paused.map(([seq]) => seq)).toEqual([1]);
  expect([cost.isStopped(1), cost.isStopped(2)]).toEqual([true, false]);
});

test("nothing more is rendered while that is being written; a person lets it go on", async () => {
  render(1_000, 3);
  isSending = true; // As long as nothing is written.
  expect(cost.isStopped(1)).toBe(true);
  isSending = false;
  await Bun.sleep(0);
  expect(cost.isStopped(1)).toBe(true);
  isSending = true;
  expect(cost.isStopped(1)).toBe(false);
  render(1_000, 3);
  await Bun.sleep(0);
  expect(paused).toHaveLength(2);
});
