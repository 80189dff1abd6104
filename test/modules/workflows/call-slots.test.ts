/** The concurrency limits of webhook calls, for a workflow, a project and the server. */

import { expect, test } from "bun:test";
import { createCallSlots } from "../../../src/modules/workflows/steps/call-slots.ts";

const workflow = { workflowSeq: 1, projectSeq: 1 };
const other = { workflowSeq: 2, projectSeq: 1 };
const foreign = { workflowSeq: 3, projectSeq: 2 };

/** Takes slots for a workflow while some are available; returns how many it got. */
function fill(slots: ReturnType<typeof createCallSlots>, caller: typeof workflow): number {
  let acquired = 0;
  for (; slots.available(caller) > 0; acquired++) slots.acquire(caller);
  return acquired;
}

test("a workflow gets at most 16 slots, and its project the configured number", () => {
  const slots = createCallSlots(24);
  expect([fill(slots, workflow), fill(slots, other)]).toEqual([16, 8]);
  expect(fill(slots, foreign)).toBe(16);
});

test("released slots are available again, to the workflow and its project", () => {
  const slots = createCallSlots(24);
  fill(slots, workflow);
  fill(slots, other);
  slots.release(workflow);
  expect([slots.available(workflow), slots.available(other)]).toEqual([1, 1]);
  for (let i = 1; i < 16; i++) slots.release(workflow);
  expect([slots.available(workflow), slots.available(other)]).toEqual([16, 8]);
});

test("a slot that is taken in a copy stays available in the original", () => {
  const slots = createCallSlots(24);
  const copy = slots.copy();
  fill(copy, workflow);
  expect([copy.available(workflow), slots.available(workflow)]).toEqual([0, 16]);
});

test("the slots are full when 64 calls are under way", () => {
  const slots = createCallSlots(0);
  for (let seq = 1; seq <= 63; seq++) slots.acquire({ workflowSeq: seq, projectSeq: seq });
  expect(slots.isFull()).toBe(false);
  slots.acquire({ workflowSeq: 64, projectSeq: 64 });
  expect(slots.isFull()).toBe(true);
  expect(slots.available(workflow)).toBe(0);
});
