/** The parts of memory and time that the messages of one sender or one project can take. */

import { expect, test } from "bun:test";
import { createReceivingLimits } from "../../../src/modules/inbound-routes/receiving-limits.ts";
import { ReceiveRefusal } from "../../../src/modules/inbound-routes/refusal.ts";
import { nextIteration } from "../../../src/lib/yield.ts";
import { manualClock } from "../../support/clock.ts";

const MIB = 1024 * 1024;

function start() {
  const limits = createReceivingLimits({ clock: manualClock() });
  const ends: (() => void)[] = [];
  /** Resolves to true if the message is held until `endAll`, to false if it is refused. */
  async function isHeld(bytes: number, way: { peer: string; projectSeq: number }) {
    const begun = Promise.withResolvers<boolean>();
    limits
      .whileHolding(bytes, way, () => {
        begun.resolve(true);
        return new Promise<void>((resolve) => ends.push(resolve));
      })
      .catch((error: unknown) => {
        if (error instanceof ReceiveRefusal && error.code === 451) begun.resolve(false);
        else begun.reject(error);
      });
    return begun.promise;
  }
  /** The number of messages that are held until one is refused. */
  async function countHeld(bytes: number, way: (i: number) => Parameters<typeof isHeld>[1]) {
    let count = 0;
    while (await isHeld(bytes, way(count))) count++;
    return count;
  }
  async function endAll() {
    for (const end of ends.splice(0)) end();
    await nextIteration();
  }
  return { limits, countHeld, isHeld, endAll };
}

test("one sender holds 16 MiB or 128 messages, and the memory is free again at their end", async () => {
  const { countHeld, isHeld, endAll } = start();
  const way = { peer: "8.8.8.8", projectSeq: 1 };
  expect(await countHeld(MIB, () => way)).toBe(16);
  expect(await isHeld(MIB, { peer: "9.9.9.9", projectSeq: 1 })).toBe(true);
  await endAll();
  expect(await countHeld(10, () => way)).toBe(128);
});

test("all addresses of an IPv6 network are one sender", async () => {
  const { countHeld, isHeld } = start();
  const address = (network: number, i: number) => `2600:1:2:${network}::${i}`;
  expect(await countHeld(MIB, (i) => ({ peer: address(1, i), projectSeq: 1 }))).toBe(16);
  expect(await isHeld(MIB, { peer: address(2, 1), projectSeq: 1 })).toBe(true);
});

test("one project holds three quarters, whoever sends to it", async () => {
  const { countHeld, isHeld } = start();
  expect(await countHeld(MIB, (i) => ({ peer: `8.8.8.${i}`, projectSeq: 1 }))).toBe(96);
  expect(await isHeld(MIB, { peer: "9.9.9.9", projectSeq: 2 })).toBe(true);
});

test("large messages run one at a time, in turn by sender and by project", async () => {
  const { limits } = start();
  const order: string[] = [];
  let running = 0;
  const run = (peer: string, projectSeq: number) =>
    limits.runLarge({ peer, projectSeq }, async () => {
      expect(++running).toBe(1);
      await nextIteration();
      order.push(`${peer} ${projectSeq}`);
      running--;
    });
  const [many, few] = ["8.8.8.8", "9.9.9.9"];
  await Promise.all([
    ...Array.from({ length: 5 }, () => run(many, 1)),
    run(few, 1),
    run("7.7.7.7", 2),
  ]);
  expect(order.slice(0, 3).toSorted()).toEqual(["7.7.7.7 2", `${many} 1`, `${few} 1`]);
  expect(order).toHaveLength(7);
});
