import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import path from "node:path";
import { plannedTime } from "../../src/dashboard/ui/planned-time.ts";

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
