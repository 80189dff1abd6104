import { expect, test } from "bun:test";
import { shrinkWhenIdle } from "../../src/lib/idle-shrink.ts";
import { manualClock } from "../support/clock.ts";

test("memory is given back once, after the first moment without a write", () => {
  const clock = manualClock();
  let [writes, shrunk] = [3, 0];
  shrinkWhenIdle({ clock, writes: () => writes, shrink: () => void shrunk++ });
  writes++;
  clock.advance(200);
  writes++;
  clock.advance(200);
  expect(shrunk).toBe(0);
  clock.advance(200);
  expect(shrunk).toBe(1);
  clock.advance(5_000);
  expect(shrunk).toBe(1);
});
