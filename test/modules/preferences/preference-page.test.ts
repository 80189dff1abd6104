import { describe, expect, test } from "bun:test";
import { monthsLater, pauseEndOn } from "../../../src/modules/preferences/preference-page.ts";

const NOW = Date.parse("2026-01-31T15:00:00Z");
const dayOf = (at: number | null) => (at === null ? null : new Date(at).toISOString());

describe("a pause until a day", () => {
  const days: [text: string, until: string | null][] = [
    ["2026-02-01", "2026-02-01T00:00:00.000Z"],
    ["2027-01-31", "2027-01-31T00:00:00.000Z"],
    ["2027-02-01", null],
    ["2026-01-31", null],
    ["2026-01-30", null],
    ["2026-02-29", null],
    ["2026-02-31", null],
    ["2026-13-01", null],
    ["9999-12-31", null],
    ["1.2.2026", null],
    ["2026-02-01T00:00", null],
    ["2026-02-01\n", null],
    ["", null],
    ["-".repeat(10_000), null],
  ];
  test.each(days)("%p", (text, until) => {
    expect(dayOf(pauseEndOn(text, NOW))).toBe(until);
  });
});

test("a pause of months ends on the same day, or on the last one of a shorter month", () => {
  const ends = [1, 3].map((months) => dayOf(monthsLater(NOW, months)));
  expect(ends).toEqual(["2026-02-28T00:00:00.000Z", "2026-04-30T00:00:00.000Z"]);
  expect(dayOf(monthsLater(Date.parse("2026-11-30T23:59:59Z"), 3))).toBe(
    "2027-02-28T00:00:00.000Z",
  );
});
