import { describe, expect, test } from "bun:test";
import { createFairSlots, type FairSlots } from "../../src/lib/fair-slots.ts";

/** Acquires slots until none is available to the owner, and returns their number. */
function takeAll(slots: FairSlots, owner: number): number {
  let taken = 0;
  for (; slots.available(owner) > 0; taken++) slots.acquire(owner);
  return taken;
}

describe("one owner", () => {
  test("gets half of the slots", () => {
    expect(takeAll(createFairSlots({ total: 96, maxPerOwner: 0 }), 1)).toBe(48);
    expect(takeAll(createFairSlots({ total: 1, maxPerOwner: 0 }), 1)).toBe(1);
  });

  test("gets at most the limit of one owner", () => {
    expect(takeAll(createFairSlots({ total: 96, maxPerOwner: 32 }), 1)).toBe(32);
  });

  test("can query how many slots it will get", () => {
    for (let total = 1; total < 40; total++) {
      const slots = createFairSlots({ total, maxPerOwner: 0 });
      takeAll(slots, 1);
      for (const owner of [2, 1, 3]) {
        const available = slots.available(owner);
        expect(takeAll(slots, owner)).toBe(available);
      }
    }
  });
});

test("each further owner gets half of the rest", () => {
  const slots = createFairSlots({ total: 96, maxPerOwner: 0 });
  expect([1, 2, 3, 4, 5, 6].map((owner) => takeAll(slots, owner))).toEqual([48, 24, 12, 6, 3, 2]);
  expect([takeAll(slots, 7), slots.inUse()]).toEqual([1, 96]);
});

test("owners that release and acquire again reach equal shares", () => {
  const slots = createFairSlots({ total: 96, maxPerOwner: 0 });
  const held = [1, 2, 3].map((owner) => takeAll(slots, owner));
  for (let round = 0; round < 100; round++) {
    const owner = (round % 3) + 1;
    slots.release(owner);
    held[owner - 1] = (held[owner - 1] ?? 0) - 1;
    for (const next of [3, 2, 1]) held[next - 1] = (held[next - 1] ?? 0) + takeAll(slots, next);
  }
  for (const own of held) expect(Math.abs(own - 24)).toBeLessThanOrEqual(1);
});

test("a released slot is available to other owners first", () => {
  const slots = createFairSlots({ total: 12, maxPerOwner: 0 });
  expect([takeAll(slots, 1), takeAll(slots, 2)]).toEqual([6, 3]);
  slots.release(1);
  slots.release(1);
  expect([slots.available(1), slots.available(2)]).toEqual([1, 1]);
  expect([takeAll(slots, 2), slots.inUse()]).toEqual([1, 8]);
  expect(() => slots.release(3)).toThrow();
});

test("owners that acquire and release in any order never hold more than all slots", () => {
  const slots = createFairSlots({ total: 20, maxPerOwner: 8 });
  const held = [0, 0, 0, 0];
  let seed = 1;
  for (let round = 0; round < 5_000; round++) {
    seed = (seed * 48_271) % 2_147_483_647;
    const owner = seed % held.length;
    const own = held[owner] ?? 0;
    if (seed % 3 === 0 && own > 0) {
      slots.release(owner);
      held[owner] = own - 1;
    } else if (slots.available(owner) > 0) {
      slots.acquire(owner);
      held[owner] = own + 1;
    }
    const sum = held.reduce((total, each) => total + each, 0);
    expect([slots.inUse(), sum <= 20, Math.max(...held) <= 8]).toEqual([sum, true, true]);
  }
});
