/** The texts of the page of the installation. */

import { expect, test } from "bun:test";
import {
  agoText,
  type Finding,
  findingsText,
  sentenceOf,
  sortedFindings,
} from "../../src/dashboard/pages/system/findings.ts";

const finding = (level: Finding["level"], what = "a"): Finding => ({
  level,
  what,
  finding: "b",
  fix: null,
  page: null,
});

test("failures are first, and the order within a level stays", () => {
  const given = [
    finding("ok", "1"),
    finding("warn", "2"),
    finding("fail", "3"),
    finding("ok", "4"),
  ];
  expect(sortedFindings(given).map(({ what }) => what)).toEqual(["3", "2", "1", "4"]);
});

test.each<[Finding["level"][], string]>([
  [[], "Everything that delivery depends on is in order."],
  [["ok"], "Everything that delivery depends on is in order."],
  [["fail"], "1 problem in 1 check."],
  [["fail", "fail", "warn", "ok"], "2 problems and 1 warning in 4 checks."],
  [["warn", "warn"], "2 warnings in 2 checks."],
])("the summary of %j", (levels, expected) => {
  expect(findingsText(levels.map((level) => finding(level)))).toBe(expected);
});

test.each([
  ["is correct", "Is correct."],
  ["Open it.", "Open it."],
  ["", "."],
])("the sentence of %j", (text, expected) => {
  expect(sentenceOf(text)).toBe(expected);
});

test.each([
  [30_000, "less than a minute"],
  [60_000, "1 minute"],
  [3_599_000, "59 minutes"],
  [7_200_000, "2 hours"],
  [172_800_000, "2 days"],
])("%i ms", (ms, expected) => {
  expect(agoText(ms)).toBe(expected);
});
