/** When time windows open, and to which branch a split leads. */

import { describe, expect, test } from "bun:test";
import { cronProblem, nextTimes } from "../../../src/modules/workflows/cron.ts";
import type { Weekday } from "../../../src/modules/workflows/graph/graph.ts";
import { splitBranch } from "../../../src/modules/workflows/steps/split.ts";
import { windowOpensAt, zoneOfWindow } from "../../../src/modules/workflows/steps/time-window.ts";

const WORKDAYS: Weekday[] = ["MON", "TUE", "WED", "THU", "FRI"];
const ALL: Weekday[] = [...WORKDAYS, "SAT", "SUN"];
const BERLIN = "Europe/Berlin";

/** 2026-11-27 is a Friday. The clocks change on 2026-03-29 and on 2026-10-25. */
const CASES: readonly [
  name: string,
  window: [days: Weekday[], from: string, to: string],
  zone: string,
  now: string,
  opens: string,
][] = [
  ["is open inside", [WORKDAYS, "09:00", "17:00"], "UTC", "2026-11-27T09:00Z", "2026-11-27T09:00Z"],
  [
    "is shut at its end",
    [WORKDAYS, "09:00", "17:00"],
    "UTC",
    "2026-11-27T17:00Z",
    "2026-11-30T09:00Z",
  ],
  [
    "opens on the same day",
    [WORKDAYS, "09:00", "17:00"],
    "UTC",
    "2026-11-27T03:00Z",
    "2026-11-27T09:00Z",
  ],
  [
    "skips the weekend",
    [WORKDAYS, "09:00", "17:00"],
    BERLIN,
    "2026-11-28T12:00Z",
    "2026-11-30T08:00Z",
  ],
  [
    "counts days in its zone",
    [["SAT"], "00:00", "24:00"],
    "Pacific/Auckland",
    "2026-11-27T11:30Z",
    "2026-11-27T11:30Z",
  ],
  [
    "opens a week later",
    [["FRI"], "09:00", "10:00"],
    "UTC",
    "2026-11-27T10:00Z",
    "2026-12-04T09:00Z",
  ],
  [
    "lasts over midnight",
    [["FRI"], "22:00", "06:00"],
    "UTC",
    "2026-11-28T05:59Z",
    "2026-11-28T05:59Z",
  ],
  [
    "ends after midnight",
    [["FRI"], "22:00", "06:00"],
    "UTC",
    "2026-11-28T06:00Z",
    "2026-12-04T22:00Z",
  ],
  [
    "began on the day before only",
    [["FRI"], "22:00", "06:00"],
    "UTC",
    "2026-11-27T05:00Z",
    "2026-11-27T22:00Z",
  ],
  [
    "opens when skipped hours end",
    [ALL, "02:30", "09:00"],
    BERLIN,
    "2026-03-29T00:00Z",
    "2026-03-29T01:00Z",
  ],
  [
    "does not open in skipped hours",
    [ALL, "02:00", "03:00"],
    BERLIN,
    "2026-03-29T00:30Z",
    "2026-03-30T00:00Z",
  ],
  [
    "is open in the first of two hours",
    [ALL, "02:00", "03:00"],
    BERLIN,
    "2026-10-25T00:10Z",
    "2026-10-25T00:10Z",
  ],
  [
    "is open in the second as well",
    [ALL, "02:00", "03:00"],
    BERLIN,
    "2026-10-25T01:10Z",
    "2026-10-25T01:10Z",
  ],
  [
    "skips a week without its hours",
    [["SUN"], "02:00", "03:00"],
    BERLIN,
    "2026-03-28T12:00Z",
    "2026-04-05T00:00Z",
  ],
];

describe("a time window", () => {
  for (const [name, [days, from, to], zone, now, opens] of CASES) {
    test(name, () => {
      const at = windowOpensAt({ days, from, to }, zone, Date.parse(now));
      expect(new Date(at).toISOString()).toBe(new Date(opens).toISOString());
    });
  }

  test.each([
    [{ timezone: "europe/berlin" }, "Europe/Berlin"],
    [{ timeZone: "Asia/Tokyo" }, "Asia/Tokyo"],
    [{ timezone: null, time_zone: "Asia/Tokyo" }, "Asia/Tokyo"],
    [{ timezone: "Nowhere/City", timeZone: "Asia/Tokyo" }, "America/New_York"],
    [{ timezone: 3 }, "America/New_York"],
    [{}, "America/New_York"],
  ])("of the contact with %j has the zone %s", (data, zone) => {
    const window = { timeZone: "CONTACT", fallbackTimeZone: "America/New_York" };
    expect(zoneOfWindow(window, data)).toBe(zone);
  });
});

describe("a split", () => {
  const branches = [
    { id: "a", weight: 1 },
    { id: "b", weight: 3 },
    { id: "c", weight: 96 },
  ];
  const branchOf = (contactId: string, stepId = "s") =>
    splitBranch(branches, { contactId, workflowId: "w", stepId });

  test("leads a contact to the same branch each time, and depends on the step", () => {
    const of = (stepId: string) => Array.from({ length: 500 }, (_, i) => branchOf(`c${i}`, stepId));
    expect(of("s")).toEqual(of("s"));
    expect(of("s")).not.toEqual(of("other"));
  });

  test("follows the weights", () => {
    const taken = Array.from({ length: 20_000 }, (_, i) => branchOf(`c${i}`));
    const count = (id: string) => taken.filter((branch) => branch === id).length;
    // The ids are fixed, so these numbers do not change from run to run.
    expect(Math.abs(count("a") - 200)).toBeLessThan(50);
    expect(Math.abs(count("b") - 600)).toBeLessThan(80);
  });
});

/** The clocks of Berlin skip 02:00 to 03:00 on 2026-03-29, and show it twice on 2026-10-25. */
const SCHEDULES: readonly [name: string, cron: string, after: string, times: string[]][] = [
  [
    "a skipped time comes when the clocks were put forward",
    "30 2 * * *",
    "2026-03-28T12:00Z",
    ["2026-03-29T01:00Z", "2026-03-30T00:30Z"],
  ],
  [
    "a time that is shown twice comes once",
    "30 2 * * *",
    "2026-10-24T12:00Z",
    ["2026-10-25T00:30Z", "2026-10-26T01:30Z"],
  ],
  [
    "it does not come a second time after the first",
    "30 2 * * *",
    "2026-10-25T00:30Z",
    ["2026-10-26T01:30Z"],
  ],
  ["each hour comes", "0 * * * *", "2026-10-24T23:30Z", ["2026-10-25T00:00Z", "2026-10-25T01:00Z"]],
  ["workdays skip the weekend", "0 9 * * MON-FRI", "2026-11-27T08:00Z", ["2026-11-30T08:00Z"]],
  ["leap days come every four years", "0 0 29 2 *", "2026-01-01T00:00Z", ["2028-02-28T23:00Z"]],
];

test.each(SCHEDULES)("of a schedule, %s", (_, cron, after, times) => {
  const found = nextTimes({ cron, timeZone: BERLIN }, Date.parse(after), times.length);
  expect(found.map((at) => new Date(at).toISOString())).toEqual(
    times.map((time) => new Date(time).toISOString()),
  );
});

test.each(["0 9 * *", "0 9 * * * *", "@daily", "60 9 * * *", "0 9 30 2 *", "0 9 * * 8", "x"])(
  "%s is no schedule",
  (cron) => {
    expect(cronProblem(cron, BERLIN)).not.toBeNull();
  },
);
