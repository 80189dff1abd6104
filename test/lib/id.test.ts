import { expect, test } from "bun:test";
import { newShortId } from "../../src/lib/id.ts";

test("short ids have 22 characters of base 62, are different, and sort by time", () => {
  const times = [0, 61, 62, 1_000, Date.UTC(2026, 0), Date.UTC(2026, 0) + 1, Date.UTC(2100, 0)];
  const ids = times.map((time) => newShortId(time));
  for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{22}$/);
  expect(ids.toSorted()).toEqual(ids);
  const many = Array.from({ length: 1_000 }, () => newShortId(1_000));
  expect(new Set(many).size).toBe(1_000);
  expect(new Set(many.map((id) => id.slice(0, 8))).size).toBe(1);
});
