import { describe, expect, test } from "bun:test";
import { createFairPool, PoolExhaustedError, type Share } from "../../src/lib/fair-pool.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop } from "../support/eventually.ts";

const WAIT_MS = 1_000;
const NEVER = new AbortController().signal;

/**
 * A pool of 12, at most 8 for one holder. A waiter costs 1; the limits are 6, and 4 for one holder.
 */
function setUp() {
  const clock = manualClock();
  const pool = createFairPool({
    clock,
    capacity: 12,
    waitingCost: () => 1,
    maxWaitingCost: 6,
    waitMs: WAIT_MS,
    maxShareOfOne: 2 / 3,
  });
  const order: string[] = [];
  /** Takes a share and records the result in `order`. */
  const ask = (name: string, amount: number, holder = 1, signal = NEVER): Promise<Share | null> => {
    const asked = pool.take({ amount, holder, signal: () => signal });
    if (!(asked instanceof Promise)) order.push(name);
    return Promise.resolve(asked).then(
      (share) => {
        if (asked instanceof Promise) order.push(name);
        return share;
      },
      (error: unknown) => {
        order.push(`${name}: ${error instanceof PoolExhaustedError ? "exhausted" : String(error)}`);
        return null;
      },
    );
  };
  return { clock, pool, order, ask };
}

describe("a fair pool", () => {
  test("gives shares at once while there is capacity, and accepts each release once", async () => {
    const { pool, order, ask } = setUp();
    const [a, b] = await Promise.all([ask("a", 6, 1), ask("b", 6, 2)]);
    expect(order).toEqual(["a", "b"]);
    expect(pool.taken()).toBe(12);
    a?.release();
    a?.release();
    expect(pool.taken()).toBe(6);
    b?.shrinkTo(2);
    b?.shrinkTo(5);
    expect(pool.taken()).toBe(2);
  });

  test("lets requests beyond the capacity wait in order", async () => {
    const { order, ask } = setUp();
    const first = await ask("first", 6, 1);
    await ask("second", 6, 2);
    void ask("large", 6, 3);
    void ask("small", 1, 4);
    await settleEventLoop();
    expect(order).toEqual(["first", "second"]);
    first?.shrinkTo(5);
    await settleEventLoop();
    expect(order).toEqual(["first", "second"]); // The small one does not overtake the large one.
    first?.release();
    await settleEventLoop();
    expect(order).toEqual(["first", "second", "large"]);
  });

  test("gives one holder at most its part, and other holders the rest", async () => {
    const { order, ask } = setUp();
    const share = await ask("a1", 8, 1);
    void ask("a2", 1, 1);
    void ask("b1", 3, 2);
    await settleEventLoop();
    expect(order).toEqual(["a1", "b1"]);
    share?.release();
    await settleEventLoop();
    expect(order).toEqual(["a1", "b1", "a2"]);
  });

  test("reduces a request for more than a part to the part", async () => {
    const { pool, ask } = setUp();
    await ask("a", 100, 1);
    expect(pool.taken()).toBe(8);
  });

  test("limits the cost of waiters, in total and for one holder", async () => {
    const { pool, order, ask } = setUp();
    await ask("full 1", 6, 8);
    await ask("full 2", 6, 9);
    for (let i = 0; i < 5; i++) void ask(`a${i}`, 1, 1);
    for (let i = 0; i < 3; i++) void ask(`b${i}`, 1, 2);
    await settleEventLoop();
    expect(order.slice(2)).toEqual(["a4: exhausted", "b2: exhausted"]);
    expect(pool.waiting()).toBe(6);
  });

  test("limits the waiting time", async () => {
    const { clock, pool, order, ask } = setUp();
    const share = await ask("full", 8, 1);
    void ask("late", 8, 1);
    clock.advance(WAIT_MS - 1);
    await settleEventLoop();
    expect(order).toEqual(["full"]);
    clock.advance(1);
    await settleEventLoop();
    expect(order).toEqual(["full", "late: exhausted"]);
    share?.release();
    expect(pool.taken()).toBe(0);
  });

  test("removes an aborted waiter, so that later waiters get shares", async () => {
    const { pool, order, ask } = setUp();
    await ask("full", 8, 1);
    const aborted = new AbortController();
    void ask("aborted", 12, 2, aborted.signal);
    void ask("next", 4, 3);
    await settleEventLoop();
    expect(order).toEqual(["full"]);
    aborted.abort("aborted");
    await settleEventLoop();
    expect(order).toEqual(["full", "aborted: aborted", "next"]);
    expect(pool.taken()).toBe(12);
    expect(pool.waiting()).toBe(0);
    await ask("aborted before", 1, 4, aborted.signal);
    expect(order.at(-1)).toBe("aborted before: aborted");
  });
});
