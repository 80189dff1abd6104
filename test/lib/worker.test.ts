import { describe, expect, test } from "bun:test";
import { createWorker, endsWithin } from "../../src/lib/worker.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop } from "../support/eventually.ts";

type Next = "more" | number | null;

/** Creates a worker whose steps take the given results, and then return null. */
function setUp(results: (Next | Promise<Next> | Error)[] = []) {
  const clock = manualClock();
  const steps: boolean[] = [];
  const errors: unknown[] = [];
  const worker = createWorker({
    clock,
    step(isFirst) {
      steps.push(isFirst);
      const result = results.shift() ?? null;
      if (result instanceof Error) throw result;
      return result;
    },
    onError: (error) => errors.push(error),
    pauseMs: 1000,
  });
  return { clock, worker, steps, errors };
}

describe("a worker", () => {
  test("begins with a step, and takes no other until it is woken", async () => {
    const { clock, worker, steps } = setUp();
    worker.wake();
    await settleEventLoop();
    expect([steps.length, worker.isRunning()]).toEqual([0, false]);
    worker.start();
    await settleEventLoop();
    clock.advance(1_000_000);
    await settleEventLoop();
    expect([steps.length, worker.isRunning(), worker.isBusy()]).toEqual([1, true, false]);
    worker.wake();
    await settleEventLoop();
    expect(steps.length).toBe(2);
  });

  test("takes one step for several calls of wake in one iteration of the event loop", async () => {
    const { worker, steps } = setUp();
    worker.start();
    await settleEventLoop();
    for (let i = 0; i < 10; i++) worker.wake();
    await settleEventLoop();
    expect(steps.length).toBe(2);
  });

  test("goes on at once while there is more work, and marks the first step", async () => {
    const { worker, steps } = setUp(["more", "more", null]);
    worker.start();
    await settleEventLoop();
    worker.wake();
    await settleEventLoop();
    expect(steps).toEqual([true, false, false, true]);
  });

  test("takes another step if it was woken during a step", async () => {
    const { promise, resolve } = Promise.withResolvers<Next>();
    const { worker, steps } = setUp([promise]);
    worker.start();
    await settleEventLoop();
    worker.wake();
    await settleEventLoop();
    expect([steps.length, worker.isBusy()]).toEqual([1, true]);
    resolve(null);
    await worker.idle();
    expect([steps, worker.isBusy()]).toEqual([[true, false], false]);
  });

  test("sleeps until the next work is due, or until it is woken before", async () => {
    const { clock, worker, steps } = setUp([500, 500]);
    worker.start();
    await settleEventLoop();
    clock.advance(499);
    await settleEventLoop();
    expect(steps.length).toBe(1);
    clock.advance(1);
    await settleEventLoop();
    expect(steps.length).toBe(2);
    worker.wake();
    await settleEventLoop();
    clock.advance(500);
    await settleEventLoop();
    expect(steps.length).toBe(3);
  });

  test("pauses after an error, also if it is woken", async () => {
    const error = new Error("full");
    const { clock, worker, steps, errors } = setUp([error]);
    worker.start();
    await settleEventLoop();
    worker.wake();
    clock.advance(999);
    await settleEventLoop();
    expect([steps.length, errors]).toEqual([1, [error]]);
    clock.advance(1);
    await settleEventLoop();
    expect(steps.length).toBe(2);
  });

  test("pauses when it is told to, and goes on after a new start", async () => {
    const { worker, steps } = setUp();
    worker.start();
    await settleEventLoop();
    worker.pause();
    worker.wake();
    await settleEventLoop();
    expect(steps.length).toBe(1);
    worker.start();
    await settleEventLoop();
    expect(steps.length).toBe(2);
  });

  test("pauses after the step under way, and not longer than it should", async () => {
    const { promise, resolve } = Promise.withResolvers<Next>();
    const { clock, worker, steps } = setUp([promise]);
    worker.start();
    await settleEventLoop();
    worker.pause();
    worker.wake();
    resolve(60_000);
    await settleEventLoop();
    expect(steps.length).toBe(1);
    clock.advance(1000);
    await settleEventLoop();
    expect(steps.length).toBe(2);
  });

  test("stops after the step under way, and begins no other", async () => {
    const { promise, resolve } = Promise.withResolvers<Next>();
    const { clock, worker, steps } = setUp([promise]);
    worker.start();
    await settleEventLoop();
    const ends: string[] = [];
    const stopped = worker.stop().then(() => ends.push("stop"));
    await settleEventLoop();
    ends.push("step");
    resolve(10);
    await stopped;
    expect(ends).toEqual(["step", "stop"]);
    worker.wake();
    clock.advance(1_000_000);
    await settleEventLoop();
    expect(steps.length).toBe(1);
  });
});

describe("the end of work", () => {
  test("is awaited for the grace period", async () => {
    const clock = manualClock();
    const ended = endsWithin(clock, 1000, new Promise(() => {}));
    clock.advance(1000);
    expect(await ended).toBe(false);
  });

  test("is reported as soon as the work ends", async () => {
    expect(await endsWithin(manualClock(), 1000, Promise.resolve("done"))).toBe(true);
  });
});
