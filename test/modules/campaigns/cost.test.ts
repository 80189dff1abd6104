/** Limits of the rendering time: when they stop a campaign, and when it continues. */

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
  ["ignores a usual template with a million recipients", 0.02, 1_000_000, 0],
  ["ignores a template that takes exactly the free time", 20, 10_000, 0],
  ["permits a slow template for 11 recipients", 200, 11, 0],
  ["stops a slow template at the twelfth recipient", 200, 12, 1],
  ["permits a template that takes a whole second twice", 1_000, 2, 0],
  ["stops a template that takes a whole second three times", 1_000, 3, 1],
  ["counts only one second while the machine was suspended", 30_000_000, 2, 0],
])("%s", async (_, ms, times, pauses) => {
  render(ms, times);
  await Bun.sleep(0);
  expect(paused).toHaveLength(pauses);
  expect(cost.isStopped(1)).toBe(pauses === 1);
  for (const [seq, reason] of paused) {
    expect([seq, reason]).toEqual([1, expect.stringContaining(`takes ${ms} ms to render`)]);
  }
});

test("counts the rendering time of each campaign separately", async () => {
  render(200, 11, 1);
  render(200, 11, 2);
  render(200, 1, 1);
  await Bun.sleep(0);
  expect(paused.map(([seq]) => seq)).toEqual([1]);
  expect([cost.isStopped(1), cost.isStopped(2)]).toEqual([true, false]);
});

test("renders nothing while the pause is being written or stored, until a person resumes it", async () => {
  render(1_000, 3);
  isSending = true; // The pause is not stored yet.
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
