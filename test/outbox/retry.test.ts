import { describe, expect, test } from "bun:test";
import { type Deferral, nextAttemptAt } from "../../src/outbox/retry.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ACCEPTED = Date.parse("2026-03-02T10:00:00Z");

/** `random` is 0.5, which means no jitter. */
function deferral(part: Partial<Deferral>): Deferral {
  return {
    attempts: 1,
    since: ACCEPTED,
    now: ACCEPTED,
    priority: 0,
    retryAfterMs: undefined,
    random: 0.5,
    ...part,
  };
}

/** Minutes until the next attempt; null if there is none. */
function delayMinutes(part: Partial<Deferral>): number | null {
  const given = deferral(part);
  const next = nextAttemptAt(given);
  return next === null ? null : (next - given.now) / MINUTE;
}

describe("the time of the next attempt", () => {
  test.each([
    [1, 5],
    [2, 15],
    [3, 30],
    [4, 60],
    [5, 120],
    [6, 240],
    [7, 480],
    [8, 720],
    [9, 720],
    [100, 720],
  ])("after attempt %d is %d minutes away", (attempts, minutes) => {
    expect(delayMinutes({ attempts })).toBe(minutes);
  });

  test.each([
    [0, 4],
    [0.25, 4.5],
    [0.75, 5.5],
    [1 - Number.EPSILON, 6],
  ])("varies by a fifth: random %d gives %d minutes instead of 5", (random, minutes) => {
    expect(delayMinutes({ random })).toBeCloseTo(minutes, 4);
  });

  test.each([
    [0, 10],
    [0.5, 11],
    [1 - Number.EPSILON, 12],
  ])("is never earlier than the time in a reply (random %d)", (random, minutes) => {
    expect(delayMinutes({ retryAfterMs: 10 * MINUTE, random })).toBeCloseTo(minutes, 4);
  });

  test("follows the time of the reply also if it is earlier than the schedule", () => {
    expect(delayMinutes({ attempts: 8, retryAfterMs: MINUTE, random: 0 })).toBe(1);
  });

  test("is a whole number of milliseconds", () => {
    expect(nextAttemptAt(deferral({ random: 0.123_456_789 }))).toSatisfy(Number.isInteger);
  });
});

describe("the lifetime of a mail", () => {
  test.each([
    ["transactional", 0, 4 * DAY],
    ["campaign", 1, DAY],
    ["any other", 7, DAY],
  ])("of %s mail ends with a last attempt at exactly its end", (_, priority, lifeMs) => {
    const end = ACCEPTED + lifeMs;
    expect(nextAttemptAt(deferral({ priority, attempts: 20, now: end - HOUR }))).toBe(end);
    expect(nextAttemptAt(deferral({ priority, attempts: 20, now: end - 1 }))).toBe(end);
    expect(nextAttemptAt(deferral({ priority, attempts: 20, now: end }))).toBeNull();
    expect(nextAttemptAt(deferral({ priority, attempts: 20, now: end + DAY }))).toBeNull();
  });

  test("is not prolonged by the time of a reply", () => {
    const now = ACCEPTED + 4 * DAY - HOUR;
    expect(nextAttemptAt(deferral({ now, retryAfterMs: DAY }))).toBe(ACCEPTED + 4 * DAY);
    expect(nextAttemptAt(deferral({ now: ACCEPTED + 4 * DAY, retryAfterMs: MINUTE }))).toBeNull();
  });

  test("has 8 to 20 attempts and ends with any jitter", () => {
    for (const random of [0, 0.5, 1 - Number.EPSILON]) {
      let attempts = 0;
      let now: number | null = ACCEPTED;
      while (now !== null && attempts < 100) {
        attempts++;
        now = nextAttemptAt(deferral({ attempts, now, random }));
      }
      expect(attempts).toBeWithin(8, 21);
    }
  });
});
