/** Campaigns whose mails exceed the time limit of rendering: when they stop, and when they continue. */

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

const fail = (times: number, campaignSeq = 1) => {
  for (let i = 0; i < times; i++) cost.noteTooSlow(campaignSeq);
};

test.each([
  ["permits nine mails that take too long", 9, 0],
  ["stops a campaign at the tenth mail that takes too long", 10, 1],
  ["stops it once, if mails that are already under way take too long as well", 30, 1],
])("%s", async (_, times, pauses) => {
  fail(times);
  await Bun.sleep(0);
  expect(paused).toHaveLength(pauses);
  expect(cost.isStopped(1)).toBe(pauses === 1);
  for (const [seq, reason] of paused) {
    expect([seq, reason]).toEqual([1, expect.stringContaining("too long to render for 10")]);
  }
});

test("counts the mails of each campaign separately", async () => {
  fail(9, 1);
  fail(9, 2);
  fail(1, 1);
  await Bun.sleep(0);
  expect(paused.map(([seq]) => seq)).toEqual([1]);
  expect([cost.isStopped(1), cost.isStopped(2)]).toEqual([true, false]);
});

test("renders nothing while the pause is being written or stored, until a person resumes it", async () => {
  fail(10);
  isSending = true; // The pause is not stored yet.
  expect(cost.isStopped(1)).toBe(true);
  isSending = false;
  await Bun.sleep(0);
  expect(cost.isStopped(1)).toBe(true);
  isSending = true;
  expect(cost.isStopped(1)).toBe(false);
  fail(10);
  await Bun.sleep(0);
  expect(paused).toHaveLength(2);
});
