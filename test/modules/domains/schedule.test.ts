import { describe, expect, test } from "bun:test";
import {
  afterLook,
  LOSS_GRACE_MS,
  type Seen,
  type Standing,
} from "../../../src/modules/domains/schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = 1_000 * DAY;

const PENDING: Standing = {
  status: "PENDING",
  isByWord: false,
  verifiedAt: null,
  failingSince: null,
  misses: 0,
};
const VERIFIED: Standing = { ...PENDING, status: "VERIFIED", verifiedAt: 5 };
const FOUND: Seen = { key: "found", isComplete: true };
const GONE: Seen = { key: "gone", isComplete: false };
const UNKNOWN: Seen = { key: "unknown", isComplete: false };

describe("a look makes", () => {
  const failing = { ...VERIFIED, failingSince: NOW - HOUR };
  const lost = { ...VERIFIED, failingSince: NOW - LOSS_GRACE_MS };
  const failed: Standing = { ...lost, status: "FAILED" };
  const byWord = { ...VERIFIED, isByWord: true };
  const cases: [why: string, before: Standing, seen: Seen, after: Partial<Standing>][] = [
    ["a new domain verified", PENDING, FOUND, { status: "VERIFIED", verifiedAt: NOW }],
    ["nothing of a new domain without its key", PENDING, GONE, { status: "PENDING" }],
    ["nothing while nobody answers", PENDING, UNKNOWN, { status: "PENDING", failingSince: null }],
    ["nothing new of a verified one", VERIFIED, FOUND, { status: "VERIFIED", verifiedAt: 5 }],
    ["a lost key remembered", VERIFIED, GONE, { status: "VERIFIED", failingSince: NOW }],
    ["no loss of silence", VERIFIED, UNKNOWN, { status: "VERIFIED", failingSince: null }],
    ["a key that came back forgiven", failing, FOUND, { status: "VERIFIED", failingSince: null }],
    ["no new beginning of a loss", failing, GONE, { failingSince: NOW - HOUR }],
    ["a long loss a failure", lost, GONE, { status: "FAILED" }],
    ["no failure of silence", lost, UNKNOWN, { status: "VERIFIED" }],
    ["a failed one verified again", failed, FOUND, { status: "VERIFIED", verifiedAt: NOW }],
    ["nothing of a failed one", failed, GONE, { status: "FAILED" }],
    ["no doubt of the operator's word", byWord, GONE, { status: "VERIFIED", failingSince: null }],
  ];
  test.each(cases)("%s", (_, before, seen, after) => {
    expect(afterLook(before, seen, NOW)).toMatchObject(after);
  });

  test("a failure only after 72 hours", () => {
    const almost = { ...VERIFIED, failingSince: NOW - LOSS_GRACE_MS + 1 };
    expect(LOSS_GRACE_MS).toBe(72 * HOUR);
    expect(afterLook(almost, GONE, NOW).status).toBe("VERIFIED");
  });
});

describe("the next look", () => {
  test("comes after a day where all is well", () => {
    expect(afterLook({ ...VERIFIED, misses: 9 }, FOUND, NOW)).toMatchObject({
      misses: 0,
      nextCheckAt: NOW + DAY,
    });
  });

  test("comes soon, then later and later, while something is missing", () => {
    const delays: number[] = [];
    let misses = 0;
    for (let i = 0; i < 60; i++) {
      const after = afterLook({ ...PENDING, misses }, GONE, NOW);
      delays.push((after.nextCheckAt - NOW) / MINUTE);
      ({ misses } = after);
    }
    expect(delays.slice(0, 7)).toEqual([1, 2, 5, 15, 30, 60, 60]);
    expect(delays.slice(5, 48).every((delay) => delay === 60)).toBe(true);
    expect(delays.slice(48).every((delay) => delay === 24 * 60)).toBe(true);
  });

  test("comes soon as well where only advised records are missing", () => {
    const seen: Seen = { key: "found", isComplete: false };
    expect(afterLook(PENDING, seen, NOW).nextCheckAt).toBe(NOW + MINUTE);
  });
});
