import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import path from "node:path";
import { plannedTime, shortPlannedTime } from "../../src/dashboard/ui/planned-time.ts";

test("schedule-without-time: a planned time has its day, its hour and its zone", () => {
  const folder = path.join(import.meta.dir, "../cases/schedule-without-time");
  const [, at = ""] = readFileSync(path.join(folder, "campaign.txt"), "utf8").trim().split(" ");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const time = new Date(at);
  const shown = plannedTime(time);
  expect(shown).toContain(String(time.getFullYear()));
  expect(shown).toContain(String(time.getMinutes()));
  expect(shown).toEndWith(`(${zone})`);
});

test("the short text has the day and the hour, without year and zone", () => {
  const time = new Date(2027, 2, 28, 14, 5);
  const shown = shortPlannedTime(time);
  expect(shown).toMatch(/28/);
  expect(shown).toContain("05");
  expect(shown).not.toContain("2027");
  expect(shown).not.toContain("(");
});
