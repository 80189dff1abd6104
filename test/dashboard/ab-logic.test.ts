/** The A/B test of a draft in numbers and words. */

import { describe, expect, test } from "bun:test";
import {
  hitsText,
  lengthOf,
  phaseText,
  topOf,
} from "../../src/dashboard/pages/campaigns/ab/ab-figures.ts";
import {
  abState,
  changedVariant,
  audienceGroups,
  newAbTest,
  ruleText,
  withoutHeldOut,
  withoutVariant,
  withShare,
  withVariant,
} from "../../src/dashboard/pages/campaigns/ab/ab-plan.ts";

const plan = changedVariant(newAbTest(), "B", { subject: "Other" });
const ids = (test: ReturnType<typeof newAbTest>) => test.variants.map(({ id }) => id);
const state = (test: typeof plan | null, recipients?: number, isLocalTime = false) =>
  abState(test, { recipients, isLocalTime });

describe("the groups of an A/B test", () => {
  test("share the recipients", () => {
    const groups = audienceGroups({ ...plan, holdOut: 10 }, 1_000);
    expect(groups.map(({ key, count }) => [key, count])).toEqual([
      ["A", 100],
      ["B", 100],
      ["REST", 700],
      ["HOLD_OUT", 100],
    ]);
  });

  test("have no rest if all contacts are in the test, and no numbers while they are counted", () => {
    const groups = audienceGroups({ ...plan, share: 100 }, undefined);
    expect(groups.map(({ key, percent, count }) => [key, percent, count])).toEqual([
      ["A", 50, null],
      ["B", 50, null],
    ]);
  });

  test("get mail without those held out, whose number is not exact", () => {
    const count = {
      matched: 1_200,
      matching: 1_200,
      unsubscribed: 150,
      suppressed: 0,
      excluded: [],
    };
    const exact = { ...count, recipients: 1_050, isExact: true };
    expect(withoutHeldOut(exact, { ...plan, holdOut: 10 })).toEqual({
      ...exact,
      recipients: 945,
      isExact: false,
    });
    expect([withoutHeldOut(exact, plan), withoutHeldOut(exact, null)]).toEqual([exact, exact]);
  });

  test("fit into the audience when the share grows", () => {
    expect(withShare({ ...plan, holdOut: 20 }, 90)).toMatchObject({ share: 90, holdOut: 10 });
  });
});

test("variants keep their letters in order", () => {
  const four = withVariant(withVariant(plan));
  expect(ids(four)).toEqual(["A", "B", "C", "D"]);
  expect(ids(withVariant(four))).toEqual(["A", "B", "C", "D"]);
  expect(withoutVariant(four, "C").variants.map(({ id, subject }) => [id, subject])).toEqual([
    ["A", null],
    ["B", "Other"],
    ["C", null],
  ]);
});

describe("the section", () => {
  test.each([
    [state(null), "DONE", "None"],
    [state(newAbTest(), 1_000), "OPEN", "Write what is different in B"],
    [state(plan, 10_000), "DONE", "2 variants to 20 %"],
    [state(plan), "DONE", "2 variants to 20 %"],
    [state(plan, 100), "WARNING", "2 variants to 20 %, about 10 contacts each"],
    [state(plan, 10_000, true), "OPEN", "Not possible at each contact's own time"],
  ])("%j", (found, status, text) => {
    expect(found).toEqual({ status: found.status, text });
    expect(String(found.status)).toBe(status);
  });
});

test.each([
  [{ by: "CLICKS" as const, eventName: null, afterMinutes: 240 }, "most clicks after 4 hours"],
  [{ by: "OPENS" as const, eventName: null, afterMinutes: 45 }, "most opens after 45 minutes"],
  [{ by: "OPENS" as const, eventName: null, afterMinutes: 180 }, "most opens after 3 hours"],
  [
    { by: "EVENT" as const, eventName: "bought", afterMinutes: 1440 },
    "most contacts with bought after 1 day",
  ],
  [{ by: "MANUAL" as const, eventName: null, afterMinutes: 240 }, "your choice"],
])("the rule %j is %p", (winner, text) => {
  expect(ruleText(winner)).toBe(text);
});

test.each([
  [null, null],
  [{ phase: "TEST" as const, waitsUntil: null }, "A/B test"],
  [
    { phase: "WAITING" as const, waitsUntil: "2036-01-01T00:00:00.000Z" },
    "A/B test: waits for the winner",
  ],
  [{ phase: "WAITING" as const, waitsUntil: null }, "A/B test: waits for your choice"],
  [{ phase: "REST" as const, waitsUntil: null }, null],
])("a campaign in %j is said to be %p", (state, text) => {
  const none = { winnerId: null, chosenBy: null, decidedAt: null };
  expect(phaseText(state === null ? null : { ...none, ...state })).toBe(text);
});

test("the bars have one scale, up to a round number", () => {
  const all = [
    { hits: 5, sent: 100 },
    { hits: 20, sent: 100 },
    { hits: 0, sent: 0 },
  ];
  expect(all.map((each) => lengthOf(each, topOf(all)))).toEqual([25, 100, 0]);
  const tops = [0, 3, 62, 100].map((hits) => topOf([{ hits, sent: 100 }]));
  expect(tops).toEqual([1, 5, 100, 100]);
  expect(lengthOf({ hits: 62, sent: 100 }, 100)).toBe(62);
  expect(hitsText({ by: "OPENS" }, 1_200, 4_000)).toBe("1,200 of 4,000 recipients opened");
});
