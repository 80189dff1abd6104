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

const NO_TOPICS = { topicsJoined: 0, topicsLeft: 0, keptOutOfTopics: 0 };

test("the results are sentences, and zero is told of new contacts only", () => {
  const none = { created: 0, updated: 0, unchanged: 0, failed: 0, suppressed: 0 };
  const rest = { keptUnsubscribed: 0, resubscribed: 0, unsubscribed: 0, createdSubscribed: null };
  const texts = (counts: object, dryRun: boolean) =>
    resultLines({ ...none, ...rest, ...NO_TOPICS, ...counts, dryRun }).map(({ text }) => text);
  expect(texts({}, true)).toEqual(["0 new contacts will be added"]);
  expect(texts({ created: 1, updated: 3, unchanged: 1, failed: 1200 }, false)).toEqual([
    "1 new contact was added",
    "2 contacts were changed",
    "1 contact has these values already",
    "1,200 rows cannot be imported",
  ]);
  expect(texts({ topicsJoined: 1, keptOutOfTopics: 1200 }, false)).toEqual([
    "0 new contacts were added",
    "1 topic subscription was added",
    "1,200 topic subscriptions were not added, because the contact has left the topic or is not subscribed",
  ]);
  expect(texts({ updated: 2, unsubscribed: 2 }, true)).toContain(
    "2 subscribed contacts will be unsubscribed, because the file says so",
  );
  expect(texts({ updated: 1, unsubscribed: 1 }, false)).toContain(
    "1 subscribed contact was unsubscribed, because the file says so",
  );
});

test.each([
  [3, 3, "3 new contacts will be added, all of them subscribed"],
  [3, 0, "3 new contacts will be added, none of them subscribed"],
  [1200, 1100, "1,200 new contacts will be added: 1,100 subscribed, 100 not subscribed"],
  [1, 1, "1 new contact will be added, subscribed"],
  [1, 0, "1 new contact will be added, not subscribed"],
  [3, null, "3 new contacts will be added"],
])("of %d new contacts %p are subscribed", (created, createdSubscribed, text) => {
  const none = { updated: 0, unchanged: 0, failed: 0, suppressed: 0, keptUnsubscribed: 0 };
  const rest = { resubscribed: 0, unsubscribed: 0, dryRun: true };
  const [line] = resultLines({ ...none, ...rest, ...NO_TOPICS, created, createdSubscribed });
  expect(line?.text).toBe(text);
});
