import { describe, expect, test } from "bun:test";
import { isoTime, isoTimeOrNull, systemClock } from "../../src/lib/clock.ts";
import { bytesOfId, idOfBytes, newId } from "../../src/lib/id.ts";
import { manualClock, stepSystemClock } from "../support/clock.ts";

const HOUR_MS = 60 * 60_000;

describe("times", () => {
  test("are ISO 8601, UTC, with milliseconds", () => {
    expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
    expect(isoTime(Date.UTC(2026, 1, 3, 4, 5, 6, 7))).toBe("2026-02-03T04:05:06.007Z");
    expect([isoTimeOrNull(null), isoTimeOrNull(0)]).toEqual([null, "1970-01-01T00:00:00.000Z"]);
  });
});

describe("the system clock", () => {
  test("runs a timer after its delay, and not before", async () => {
    const startedAt = performance.now();
    await new Promise<void>((resolve) => systemClock.after(20, resolve));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19);
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
  });

  const steps: [why: string, ms: number][] = [
    ["an hour back", -HOUR_MS],
    ["an hour forward", HOUR_MS],
    ["a day back", -24 * HOUR_MS],
    ["a day forward", 24 * HOUR_MS],
  ];
  test.each(steps)(
    "set %s moves the wall clock and neither elapsed() nor timers",
    async (_, ms) => {
      const before = { wall: systemClock.now(), elapsed: systemClock.elapsed() };
      const ran: string[] = [];
      const cancel = systemClock.after(HOUR_MS / 2, () => ran.push("in half an hour"));
      const timer = new Promise<void>((resolve) => systemClock.after(20, resolve));
      const restore = stepSystemClock(ms);
      await timer;
      const elapsedMs = systemClock.elapsed() - before.elapsed;
      expect(elapsedMs).toBeGreaterThanOrEqual(19);
      expect(elapsedMs).toBeLessThan(10_000);
      expect(Math.abs(systemClock.now() - before.wall - ms)).toBeLessThan(10_000);
      expect(ran).toEqual([]);
      cancel();
      restore();
    },
  );

  test("drops a cancelled timer and supports delays longer than a platform timer", async () => {
    const ran: string[] = [];
    const cancels = [
      systemClock.after(1, () => ran.push("cancelled")),
      // Passed to setTimeout directly, this delay would overflow and run at once.
      systemClock.after(2 ** 31 + 5, () => ran.push("in 24 days")),
    ];
    cancels[0]?.();
    await new Promise<void>((resolve) => systemClock.after(10, resolve));
    expect(ran).toEqual([]);
    cancels[1]?.();
  });
});

describe("the manual clock", () => {
  test("advances both clocks, and each alone, and runs timers by monotonic time", () => {
    const clock = manualClock(1_000_000);
    const ran: number[] = [];
    for (const delayMs of [30, 10, 20]) clock.after(delayMs, () => ran.push(delayMs));
    clock.advance(15);
    expect([clock.now(), clock.elapsed(), ran]).toEqual([1_000_015, 15, [10]]);
    clock.stepWall(-HOUR_MS);
    clock.stepWall(5);
    expect([clock.now(), clock.elapsed(), ran]).toEqual([1_000_020 - HOUR_MS, 15, [10]]);
    clock.advanceElapsed(20);
    expect([clock.now(), clock.elapsed(), ran]).toEqual([1_000_020 - HOUR_MS, 35, [10, 20, 30]]);
  });
});

describe("ids", () => {
  test("are UUIDs of version 7 that contain their time and sort by it", () => {
    const ids = [5_000_000_000, 1_700_000_000_000, 1_700_000_000_001, 4_000_000_000_000].map(newId);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.toSorted()).toEqual(ids);
    expect(parseInt((ids[1] ?? "").replace("-", "").slice(0, 12), 16)).toBe(1_700_000_000_000);
  });

  test("of one millisecond differ", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId(0))).size).toBe(10_000);
  });

  test("convert to 16 bytes and back", () => {
    const id = newId(Date.now());
    expect(bytesOfId(id)).toHaveLength(16);
    expect(idOfBytes(bytesOfId(id))).toBe(id);
  });
});
