import { expect, test } from "bun:test";
import { createContention } from "../../../src/db/durability/contention.ts";

const LIMITS = { noticeAfterMs: 3_000, minSigns: 3, overAfterMs: 10_000 };

/** Notes a sign at each time, in milliseconds, and returns the hold at `at`. */
function heldAt(at: number, signs: readonly number[]): number | null {
  let now = 0;
  const contention = createContention(() => now, LIMITS);
  for (const sign of signs) {
    now = sign;
    contention.note();
  }
  now = at;
  return contention.heldMs();
}

const cases: [what: string, signs: number[], at: number, heldMs: number | null][] = [
  ["no sign", [], 5_000, null],
  ["one sign", [1_000], 5_000, null],
  ["many signs within a short time", [0, 100, 200, 300, 2_999], 3_000, null],
  ["two signs that are far apart", [0, 5_000], 5_000, null],
  ["signs for three seconds", [0, 1_000, 3_000], 3_000, 3_000],
  ["signs until a moment ago", [1_000, 2_000, 4_000], 14_000, 13_000],
  ["signs until long ago", [1_000, 2_000, 4_000], 14_001, null],
  ["a single sign after a hold that was over", [0, 2_000, 4_000, 15_000], 15_000, null],
  ["a second hold", [0, 2_000, 4_000, 15_000, 16_000, 18_000], 18_000, 3_000],
];

test.each(cases)("%s", (_, signs, at, heldMs) => {
  expect(heldAt(at, signs)).toBe(heldMs);
});
