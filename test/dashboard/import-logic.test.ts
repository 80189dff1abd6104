/** Targets of the columns of an import, and its results in words. */

import { describe, expect, test } from "bun:test";
import {
  readTarget,
  targetOf,
  writeTarget,
} from "../../src/dashboard/pages/contacts/import/column-targets.ts";
import { resultLines } from "../../src/dashboard/pages/contacts/import/counts.ts";

describe("the target of a column", () => {
  test.each([
    "email",
    "status",
    "data",
    null,
    "data.plan",
    "number:price",
    "date:born",
    "json:a",
    "text:zip",
    "data.a\\.b",
    "data.a\\\\b",
  ])("%j is read and written", (target) => {
    expect(writeTarget(readTarget(target))).toBe(target);
  });

  const column = { name: "Plan", field: "data.Plan", type: "text", guess: null } as const;
  test.each([
    [column, {}, { kind: "key", key: "Plan", type: "AUTO" }],
    [column, { Plan: "number:plan" }, { kind: "key", key: "plan", type: "number" }],
    [column, { Plan: null }, { kind: "ignored" }],
    [{ ...column, field: null }, {}, { kind: "ignored" }],
    [{ ...column, field: "bounced" }, {}, { kind: "bounced" }],
    [
      { ...column, field: "json:Plan", type: "json" as const },
      {},
      { kind: "key", key: "Plan", type: "json" },
    ],
  ] as const)("of %j with the mapping %j", (given, mapping, target) => {
    expect(targetOf(given, mapping)).toEqual(target);
  });
});

test("the results are sentences, and zero is told of new contacts only", () => {
  const none = { created: 0, updated: 0, unchanged: 0, failed: 0, suppressed: 0 };
  const rest = { keptUnsubscribed: 0, resubscribed: 0 };
  const texts = (counts: object, dryRun: boolean) =>
    resultLines({ ...none, ...rest, ...counts, dryRun }).map(({ text }) => text);
  expect(texts({}, true)).toEqual(["0 new contacts will be added"]);
  expect(texts({ created: 1, updated: 3, unchanged: 1, failed: 1200 }, false)).toEqual([
    "1 new contact was added",
    "2 contacts were changed",
    "1 contact has these values already",
    "1,200 rows cannot be imported",
  ]);
});
