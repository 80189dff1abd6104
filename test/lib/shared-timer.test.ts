import { expect, test } from "bun:test";
import { createRandom } from "../../scripts/seed/random.ts";
import { createSharedTimer } from "../../src/lib/shared-timer.ts";
import { manualClock } from "../support/clock.ts";

test("each timeout runs at its time, and one that was cancelled does not", () => {
  const clock = manualClock();
  const timer = createSharedTimer(clock);
  const ran: string[] = [];
  timer.after(300, () => ran.push("third"));
  timer.after(100, () => ran.push("first"));
  const cancel = timer.after(150, () => ran.push("cancelled"));
  timer.after(200, () => ran.push("second"));
  clock.advance(99);
  expect(ran).toEqual([]);
  clock.advance(1);
  expect(ran).toEqual(["first"]);
  cancel();
  clock.advance(100);
  expect(ran).toEqual(["first", "second"]);
  clock.advance(1_000);
  expect(ran).toEqual(["first", "second", "third"]);
});

test("a timeout may start another one and cancel one that is due", () => {
  const clock = manualClock();
  const timer = createSharedTimer(clock);
  const ran: string[] = [];
  let cancel = () => {};
  timer.after(100, () => {
    ran.push("first");
    cancel();
    timer.after(50, () => ran.push("next"));
  });
  cancel = timer.after(100, () => ran.push("cancelled"));
  clock.advance(100);
  clock.advance(50);
  expect(ran).toEqual(["first", "next"]);
});

test("random timeouts run when timers of their own would", () => {
  const random = createRandom(5);
  const clock = manualClock();
  const timer = createSharedTimer(clock);
  const own: number[] = [];
  const shared: number[] = [];
  for (let i = 0; i < 2_000; i++) {
    const ms = 1 + random.integer(200);
    const cancelOwn = clock.after(ms, () => own.push(i));
    const cancelShared = timer.after(ms, () => shared.push(i));
    if (random.integer(3) === 0) {
      cancelOwn();
      cancelShared();
    }
    clock.advance(random.integer(4));
    expect(shared.toSorted((a, b) => a - b)).toEqual(own.toSorted((a, b) => a - b));
  }
});
