import { expect, test } from "bun:test";
import { createGarbage } from "../../src/lib/garbage.ts";
import { manualClock } from "../support/clock.ts";

test("the collector runs once for 16 MiB of garbage; small amounts are not counted", () => {
  const clock = manualClock();
  let collections = 0;
  const garbage = createGarbage({ clock, collect: () => void collections++ });
  for (let i = 0; i < 10_000; i++) garbage.add(64 * 1024 - 1);
  for (let i = 0; i < 255; i++) garbage.add(64 * 1024);
  clock.advance(1_000);
  expect(collections).toBe(0);
  garbage.add(64 * 1024);
  expect(collections).toBe(0); // Not while the caller still refers to it.
  clock.advance(1_000);
  expect(collections).toBe(1);
  for (let i = 0; i < 3; i++) garbage.add(20 * 1024 * 1024);
  clock.advance(1_000);
  expect(collections).toBe(4);
});
