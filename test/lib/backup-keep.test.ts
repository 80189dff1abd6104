/**
 * Tests which backups are kept: by calendar, with pauses, several in a day, and clocks that were
 * changed.
 */

import { expect, test } from "bun:test";
import { backupKeepText, keptBackups, parseBackupKeep } from "../../src/lib/backup-keep.ts";

const keep = (text: string) => parseBackupKeep(text) ?? { days: 0, weeks: 0, months: 0 };

/** One at 03:17 UTC of each day, the newest first. */
const daily = (newest: string, count: number): number[] =>
  Array.from({ length: count }, (_, ago) => Date.parse(`${newest}T03:17:00Z`) - ago * 86_400_000);

test.each<[name: string, times: readonly (string | number)[], rule: string, kept: number[]]>([
  ["none", [], "7d", []],
  ["the newest of each day", daily("2027-01-31", 10), "3d", [0, 1, 2]],
  [
    "the newest of several in a day",
    ["2027-01-31T09:00Z", "2027-01-31T03:17Z", "2027-01-30T22:00Z", "2027-01-30T03:17Z"],
    "2d",
    [0, 2],
  ],
  [
    "days with a backup, after a pause of months",
    ["2027-01-31T03:17Z", "2026-06-02T03:17Z", "2026-06-01T03:17Z", "2026-05-31T03:17Z"],
    "3d",
    [0, 1, 2],
  ],
  // 2027-01-31 is a Sunday, so its week began on the 25th.
  ["the newest of each week, which begins on Monday", daily("2027-01-31", 15), "2w", [0, 7]],
  ["weeks across a new year", daily("2027-01-04", 10), "2w", [0, 1]],
  [
    "the newest of each month",
    ["2027-03-01T03:17Z", "2027-02-28T03:17Z", "2027-02-01T03:17Z", "2026-12-31T03:17Z"],
    "3m",
    [0, 1, 3],
  ],
  ["all rules together", daily("2027-01-31", 60), "2d,2w,2m", [0, 1, 7, 31]],
  [
    "the newest, although the clock was set back",
    ["2026-01-01T00:00Z", "2027-01-31T03:17Z"],
    "1d",
    [0],
  ],
  [
    "those after a time when the clock was wrong by years",
    ["2027-01-03T03:17Z", "2027-01-02T03:17Z", "2999-12-31T23:59Z", "2027-01-01T03:17Z"],
    "3d",
    [0, 1, 2],
  ],
])("keeps %s", (_, times, rule, kept) => {
  const list = times.map((time) => (typeof time === "number" ? time : Date.parse(time)));
  expect([...keptBackups(list, keep(rule), "UTC")].toSorted((a, b) => a - b)).toEqual(kept);
});

test.each<[zone: string, times: string[], kept: number[]]>([
  // 00:30 at home on the 30th, 29th and 28th: twice on the 28th in UTC, because summer time begins.
  ["Europe/Berlin", ["2027-03-29T22:30Z", "2027-03-28T22:30Z", "2027-03-27T23:30Z"], [0, 1, 2]],
  ["Europe/Berlin", ["2027-11-01T00:30Z", "2027-10-31T00:30Z", "2027-10-30T23:59Z"], [0, 1]],
  ["Asia/Tokyo", ["2027-01-01T15:17Z", "2027-01-01T14:17Z"], [0, 1]],
  ["UTC", ["2027-01-01T15:17Z", "2027-01-01T14:17Z"], [0]],
])("counts the days of the time zone %s", (zone, times, kept) => {
  const list = times.map((time) => Date.parse(time));
  expect([...keptBackups(list, keep("7d"), zone)]).toEqual(kept);
});

test("a year of daily backups leaves no more than the rule says, and covers half a year", () => {
  let stored: number[] = [];
  for (const time of daily("2027-12-31", 365).toReversed()) {
    stored = [time, ...stored];
    const kept = keptBackups(stored, keep("7d,4w,6m"), "UTC");
    stored = stored.filter((_, place) => kept.has(place));
  }
  const days = stored.map((time) => new Date(time).toISOString().slice(0, 10));
  const lastWeek = ["31", "30", "29", "28", "27", "26", "25"].map((day) => `2027-12-${day}`);
  const weeks = ["2027-12-19", "2027-12-12"];
  const months = ["11-30", "10-31", "09-30", "08-31", "07-31"].map((day) => `2027-${day}`);
  expect(days).toEqual([...lastWeek, ...weeks, ...months]);
});

test("the text of a rule is the one that is parsed", () => {
  for (const text of ["7d,4w,6m", "30d", "2w,1000m"]) {
    expect(backupKeepText(keep(text))).toBe(text);
  }
});
