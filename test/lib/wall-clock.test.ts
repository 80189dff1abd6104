import { expect, test } from "bun:test";
import { momentOf, wallTime, zoneName } from "../../src/lib/wall-clock.ts";

const cases: [wall: string, zone: string, moment: string][] = [
  ["2030-03-03T09:00:00Z", "UTC", "2030-03-03T09:00:00Z"],
  ["2030-03-03T09:00:00Z", "Europe/Berlin", "2030-03-03T08:00:00Z"],
  ["2030-07-03T09:00:00Z", "Europe/Berlin", "2030-07-03T07:00:00Z"],
  ["2030-03-03T09:00:00Z", "Pacific/Kiritimati", "2030-03-02T19:00:00Z"],
  ["2030-03-03T09:00:00Z", "Pacific/Niue", "2030-03-03T20:00:00Z"],
  ["2030-03-03T09:00:00Z", "Asia/Kathmandu", "2030-03-03T03:15:00Z"],
  // The clocks are put forward from 2 to 3: half past two does not exist.
  ["2030-03-31T02:30:00Z", "Europe/Berlin", "2030-03-31T01:30:00Z"],
  // They are put back from 3 to 2: the first half past two counts.
  ["2030-10-27T02:30:00Z", "Europe/Berlin", "2030-10-27T00:30:00Z"],
];

test.each(cases)("%s in %s is %s", (wall, zone, moment) => {
  expect(momentOf(Date.parse(wall), zone)).toBe(Date.parse(moment));
});

test("a moment is found again from its wall time", () => {
  for (const zone of ["America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]) {
    for (let day = 0; day < 400; day += 7) {
      const at = Date.UTC(2030, 0, 1, 12, 34, 56, 789) + day * 86_400_000;
      expect(momentOf(wallTime(at, zone) ?? 0, zone)).toBe(at);
    }
  }
});

test("a name that is no zone has neither", () => {
  expect([zoneName("Mars/Olympus"), momentOf(0, "Mars/Olympus"), wallTime(0, "")]).toEqual([
    null,
    null,
    null,
  ]);
  expect(zoneName("europe/berlin")).toBe("Europe/Berlin");
});
