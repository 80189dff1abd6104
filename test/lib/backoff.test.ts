import { describe, expect, test } from "bun:test";
import { nextTryAt, parseRetryAfter } from "../../src/lib/backoff.ts";

const POLICY = { delaysMs: [1000, 5000], jitter: 0.2, requestedJitter: 0.1 };
const DAY_MS = 24 * 60 * 60_000;

describe("the next try", () => {
  const cases: [
    name: string,
    failed: Partial<Parameters<typeof nextTryAt>[1]>,
    at: number | null,
  ][] = [
    ["comes after the delay of the first try", {}, 101_000],
    ["comes after the delay of the second try", { tries: 2 }, 105_000],
    ["does not exist after the last delay", { tries: 3 }, null],
    ["comes up to a fifth earlier", { random: 0 }, 100_800],
    ["comes up to a fifth later", { random: 1 }, 101_200],
    ["comes no earlier than the receiver asked for", { retryAfterMs: 9000, random: 0 }, 109_000],
    ["exceeds the requested delay by up to a tenth", { retryAfterMs: 9000, random: 1 }, 109_900],
    ["ignores a requested delay below its own", { retryAfterMs: 10 }, 101_000],
    ["waits a day at most", { retryAfterMs: 9 * DAY_MS, random: 0 }, 100_000 + DAY_MS],
  ];
  for (const [name, failed, at] of cases) {
    test(name, () => {
      const rest = { tries: 1, now: 100_000, retryAfterMs: null, random: 0.5 };
      expect(nextTryAt(POLICY, { ...rest, ...failed })).toBe(at);
    });
  }
});

describe("Retry-After", () => {
  const NOW = Date.parse("2026-03-02T10:00:00.000Z");
  test.each<[header: string | null, ms: number | null]>([
    [null, null],
    ["", null],
    ["0", 0],
    [" 0 ", 0],
    ["120", 120_000],
    ["-5", null],
    ["soon", null],
    ["99999999999999999999", null],
    ["Mon, 02 Mar 2026 10:01:00 GMT", 60_000],
    ["Mon, 02 Mar 2026 09:00:00 GMT", 0],
    ["Mon, 02 Mar 2026 10:01:00", null],
  ])("%j is %p ms", (header, ms) => {
    expect(parseRetryAfter(header, NOW)).toBe(ms);
  });
});
