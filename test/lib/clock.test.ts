import { describe, expect, test } from "bun:test";
import { isoTime, isoTimeOrNull, systemClock } from "../../src/lib/clock.ts";
import { bytesOfId, idOfBytes, newId } from "../../src/lib/id.ts";

describe("times", () => {
  test("are ISO 8601, UTC, with milliseconds", () => {
    expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
    expect(isoTime(Date.UTC(2026, 1, 3, 4, 5, 6, 7))).toBe("2026-02-03T04:05:06.007Z");
    expect([isoTimeOrNull(null), isoTimeOrNull(0)]).toEqual([null, "1970-01-01T00:00:00.000Z"]);
  });
});

describe("the clock of the system", () => {
  test("runs what is due, once, and not before", async () => {
    const startedAt = performance.now();
    await new Promise<void>((resolve) => systemClock.after(20, resolve));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19);
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
  });

  test("forgets what was cancelled, and waits longer than a timer of the platform can", async () => {
    const ran: string[] = [];
    const cancels = [
      systemClock.after(1, () => ran.push("cancelled")),
      // Taken at face value, this would overflow and run at once.
      systemClock.after(2 ** 31 + 5, () => ran.push("in 24 days")),
    ];
    cancels[0]?.();
    await new Promise<void>((resolve) => systemClock.after(10, resolve));
    expect(ran).toEqual([]);
    cancels[1]?.();
  });
});

describe("ids", () => {
  test("are UUIDs of version 7 that carry their moment and sort by it", () => {
    const ids = [5_000_000_000, 1_700_000_000_000, 1_700_000_000_001, 4_000_000_000_000].map(newId);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.toSorted()).toEqual(ids);
    expect(parseInt((ids[1] ?? "").replace("-", "").slice(0, 12), 16)).toBe(1_700_000_000_000);
  });

  test("of one millisecond differ", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId(0))).size).toBe(10_000);
  });

  test("are sixteen bytes and back", () => {
    const id = newId(Date.now());
    expect(bytesOfId(id)).toHaveLength(16);
    expect(idOfBytes(bytesOfId(id))).toBe(id);
  });
});
