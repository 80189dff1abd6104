import { describe, expect, test } from "bun:test";
import { ExpiringMap } from "../../src/lib/expiring-map.ts";
import { manualClock } from "../support/clock.ts";

const DAY_MS = 24 * 60 * 60_000;

describe("an expiring map", () => {
  test("stores an entry for its lifetime, and none with a lifetime of zero", () => {
    const clock = manualClock();
    const map = new ExpiringMap<string>({ maxEntries: 10, clock });
    map.set("a", "kept", 100);
    map.set("b", "not kept", 0);
    clock.advance(99);
    expect([map.get("a"), map.get("b"), map.size]).toEqual(["kept", undefined, 1]);
    clock.advance(1);
    expect([map.get("a"), map.size]).toEqual([undefined, 0]);
  });

  test("removes the least recently used entry", () => {
    const map = new ExpiringMap<number>({ maxEntries: 2, clock: manualClock() });
    map.set("a", 1, 100);
    map.set("b", 2, 100);
    map.get("a");
    map.set("c", 3, 100);
    expect(["a", "b", "c"].map((key) => map.get(key))).toEqual([1, undefined, 3]);
  });

  test.each([
    ["back", -DAY_MS],
    ["forward", DAY_MS],
  ])("measures lifetimes by monotonic time: the clock is set %s by a day", (_, stepMs) => {
    const clock = manualClock();
    const map = new ExpiringMap<string>({ maxEntries: 10, clock });
    map.set("a", "kept", 100);
    clock.stepWall(stepMs);
    clock.advance(99);
    expect(map.get("a")).toBe("kept");
    clock.advance(1);
    expect(map.get("a")).toBeUndefined();
  });
});
