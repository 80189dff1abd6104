import { describe, expect, test } from "bun:test";
import {
  afterCheck,
  LOSS_GRACE_MS,
  type CheckResult,
  type DomainState,
} from "../../../src/modules/domains/schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = 1_000 * DAY;

const PENDING: DomainState = {
  status: "PENDING",
  isDeclaredVerified: false,
  verifiedAt: null,
  failingSince: null,
  misses: 0,
};
const VERIFIED: DomainState = { ...PENDING, status: "VERIFIED", verifiedAt: 5 };
const FOUND: CheckResult = { key: "found", isComplete: true };
const GONE: CheckResult = { key: "gone", isComplete: false };
const UNKNOWN: CheckResult = { key: "unknown", isComplete: false };

describe("after a check", () => {
  const failing = { ...VERIFIED, failingSince: NOW - HOUR };
  const lost = { ...VERIFIED, failingSince: NOW - LOSS_GRACE_MS };
  const failed: DomainState = { ...lost, status: "FAILED" };
  const byWord = { ...VERIFIED, isDeclaredVerified: true };
  const cases: [
    why: string,
    before: DomainState,
    result: CheckResult,
    after: Partial<DomainState>,
  ][] = [
    [
      "a new domain with its key is verified",
      PENDING,
      FOUND,
      { status: "VERIFIED", verifiedAt: NOW },
    ],
    ["a new domain without its key stays pending", PENDING, GONE, { status: "PENDING" }],
    [
      "a new domain stays pending if the look-up failed",
      PENDING,
      UNKNOWN,
      { status: "PENDING", failingSince: null },
    ],
    [
      "a verified domain keeps the time of its verification",
      VERIFIED,
      FOUND,
      { status: "VERIFIED", verifiedAt: 5 },
    ],
    [
      "a verified domain without its key is failing",
      VERIFIED,
      GONE,
      { status: "VERIFIED", failingSince: NOW },
    ],
    [
      "a verified domain does not start failing if the look-up failed",
      VERIFIED,
      UNKNOWN,
      { status: "VERIFIED", failingSince: null },
    ],
    [
      "a failing domain recovers with its key",
      failing,
      FOUND,
      { status: "VERIFIED", failingSince: null },
    ],
    ["a failing domain keeps the start of its loss", failing, GONE, { failingSince: NOW - HOUR }],
    ["a domain that was failing too long is FAILED", lost, GONE, { status: "FAILED" }],
    [
      "a domain that was failing too long is not FAILED if the look-up failed",
      lost,
      UNKNOWN,
      { status: "VERIFIED" },
    ],
    [
      "a FAILED domain with its key is verified again",
      failed,
      FOUND,
      { status: "VERIFIED", verifiedAt: NOW },
    ],
    ["a FAILED domain without its key stays FAILED", failed, GONE, { status: "FAILED" }],
    [
      "a domain declared verified by the operator stays verified",
      byWord,
      GONE,
      { status: "VERIFIED", failingSince: null },
    ],
  ];
  test.each(cases)("%s", (_, before, result, after) => {
    expect(afterCheck(before, result, NOW)).toMatchObject(after);
  });

  test("a domain fails only after 72 hours", () => {
    const almost = { ...VERIFIED, failingSince: NOW - LOSS_GRACE_MS + 1 };
    expect(LOSS_GRACE_MS).toBe(72 * HOUR);
    expect(afterCheck(almost, GONE, NOW).status).toBe("VERIFIED");
  });
});

describe("the next check", () => {
  test("is due after a day if all records are found", () => {
    expect(afterCheck({ ...VERIFIED, misses: 9 }, FOUND, NOW)).toMatchObject({
      misses: 0,
      nextCheckAt: NOW + DAY,
    });
  });

  test("is due after growing delays while a record is missing", () => {
    const delays: number[] = [];
    let misses = 0;
    for (let i = 0; i < 60; i++) {
      const after = afterCheck({ ...PENDING, misses }, GONE, NOW);
      delays.push((after.nextCheckAt - NOW) / MINUTE);
      ({ misses } = after);
    }
    expect(delays.slice(0, 7)).toEqual([1, 2, 5, 15, 30, 60, 60]);
    expect(delays.slice(5, 48).every((delay) => delay === 60)).toBe(true);
    expect(delays.slice(48).every((delay) => delay === 24 * 60)).toBe(true);
  });

  test("is due soon if only optional records are missing", () => {
    const result: CheckResult = { key: "found", isComplete: false };
    expect(afterCheck(PENDING, result, NOW).nextCheckAt).toBe(NOW + MINUTE);
  });
});
