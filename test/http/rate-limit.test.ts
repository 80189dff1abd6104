import { describe, expect, test } from "bun:test";
import { slidingWindow } from "../../src/http/rate-limit.ts";
import { manualClock } from "../support/clock.ts";

const WINDOW_MS = 1000;

/** A simple implementation that computes the limit from all accepted requests. */
function naiveWindow(limit: number, now: () => number) {
  const accepted: number[] = [];
  return {
    accepted,
    take() {
      const inWindow = accepted.filter((at) => at > now() - WINDOW_MS);
      const isAllowed = inWindow.length < limit;
      if (isAllowed) accepted.push(now());
      const oldest = isAllowed ? (inWindow[0] ?? now()) : (inWindow[0] ?? 0);
      return {
        isAllowed,
        remaining: isAllowed ? limit - inWindow.length - 1 : 0,
        resetSeconds: Math.max(1, Math.ceil((oldest + WINDOW_MS - now()) / 1000)),
      };
    },
  };
}

describe("a sliding window", () => {
  for (const limit of [1, 2, 3, 15, 16, 17, 40, 100]) {
    test(`of ${limit} decides like the simple one, and never exceeds its limit`, () => {
      const clock = manualClock();
      const ours = slidingWindow({ limit, windowMs: WINDOW_MS, now: clock.elapsed, maxKeys: 10 });
      const naive = naiveWindow(limit, clock.elapsed);
      for (let i = 0; i < 3000; i++) {
        const calm = Math.random() < 0.05 ? WINDOW_MS : WINDOW_MS / limit;
        clock.advance(Math.random() < 0.4 ? 0 : Math.floor(Math.random() * calm));
        const refusal = ours.refusal("key");
        const decision = ours.take("key");
        expect(refusal).toEqual(decision.isAllowed ? null : decision);
        expect(decision).toEqual(naive.take());
      }
      const { accepted } = naive;
      for (let i = 0; i + limit < accepted.length; i++) {
        expect((accepted[i + limit] ?? 0) - (accepted[i] ?? 0)).toBeGreaterThanOrEqual(WINDOW_MS);
      }
      expect(accepted.length).toBeGreaterThan(limit);
    });
  }

  test("counts each key separately", () => {
    const clock = manualClock();
    const window = slidingWindow({
      limit: 1,
      windowMs: WINDOW_MS,
      now: clock.elapsed,
      maxKeys: 10,
    });
    expect([window.take(1), window.take("1"), window.take(1)].map((d) => d.isAllowed)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("drops the least recently used keys", () => {
    const clock = manualClock();
    const window = slidingWindow({ limit: 1, windowMs: WINDOW_MS, now: clock.elapsed, maxKeys: 3 });
    window.take("busy");
    for (let i = 0; i < 100; i++) {
      window.take(`other ${i}`);
      expect(window.take("busy").isAllowed).toBe(false);
      expect(window.size()).toBeLessThanOrEqual(3);
    }
  });

  for (const limit of [1, 3, 17]) {
    test(`of ${limit} counts a request no longer that was given back`, () => {
      const { elapsed, advance } = manualClock();
      const window = slidingWindow({ limit, windowMs: WINDOW_MS, now: elapsed, maxKeys: 10 });
      window.giveBack("key");
      for (let n = 0; n < 100; n++) {
        expect(window.take("key")).toMatchObject({ isAllowed: true, remaining: limit - 1 });
        window.giveBack("key");
        advance(7);
      }
      for (let n = 0; n < limit; n++) window.take("key");
      expect(window.take("key").isAllowed).toBe(false);
      window.giveBack("key");
      expect(window.take("key").isAllowed).toBe(true);
      expect(window.take("key").isAllowed).toBe(false);
      advance(WINDOW_MS);
      expect(window.take("key")).toMatchObject({ isAllowed: true, remaining: limit - 1 });
    });
  }

  test("stores no key for `refusal`", () => {
    const clock = manualClock();
    const window = slidingWindow({
      limit: 1,
      windowMs: WINDOW_MS,
      now: clock.elapsed,
      maxKeys: 10,
    });
    expect([window.refusal("key"), window.size()]).toEqual([null, 0]);
  });

  test("takes memory for accepted requests, not for its limit", () => {
    const clock = manualClock();
    const limit = 1_000_000_000;
    const window = slidingWindow({ limit, windowMs: WINDOW_MS, now: clock.elapsed, maxKeys: 10 });
    expect(window.take("key").remaining).toBe(limit - 1);
  });
});
