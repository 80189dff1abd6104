import { expect, test } from "bun:test";
import { join } from "node:path";
import { createHeapGrowth, engineHeap } from "../../src/lib/heap-growth.ts";

const MIB = 1024 * 1024;

/** A heap whose size the test sets, and a timer that it fires. */
function heap() {
  let mib: number | null = 0;
  let collections = 0;
  let tick: (() => void) | null = null;
  const growth = createHeapGrowth({
    sizeBytes: () => (mib === null ? null : mib * MIB),
    collect: () => void collections++,
    every: (_, run) => {
      tick = run;
      return () => (tick = null);
    },
  });
  growth.start();
  return {
    growth,
    isTimed: () => tick !== null,
    /** Number of collections that the ticks at these sizes ask for. */
    after(...sizes: (number | null)[]): number {
      const before = collections;
      for (const size of sizes) {
        mib = size;
        tick?.();
      }
      return collections - before;
    },
  };
}

test("a small heap is left to the engine", () => {
  expect(heap().after(10, 20, 30, 31)).toBe(0);
});

test("a heap that has grown by a quarter is collected at each tick until it is smaller", () => {
  const { after } = heap();
  expect(after(40, 45, 49)).toBe(0);
  expect(after(50, 60, 52)).toBe(3);
  expect(after(40, 49)).toBe(0);
});

test("a heap that stays large is in use: it may grow by a quarter from there", () => {
  const { after } = heap();
  after(30);
  expect(after(...Array.from({ length: 80 }, () => 100))).toBe(10);
  expect(after(124)).toBe(0);
  expect(after(125)).toBe(1);
  // It has become small again.
  expect(after(28, 36)).toBe(1);
});

test("it stops with the process", () => {
  const { growth, isTimed, after } = heap();
  growth.start();
  after(30);
  growth.stop();
  growth.stop();
  expect(isTimed()).toBe(false);
  expect(after(100)).toBe(0);
});

test("a size that cannot be read changes nothing", () => {
  const { after } = heap();
  expect(after(40, null, null, 45, null, 60)).toBe(1);
});

test("the engine reports no size while no file descriptor is free, and does not throw", () => {
  const module = JSON.stringify(join(import.meta.dir, "../../src/lib/heap-growth.ts"));
  const script = `
    import { openSync } from "node:fs";
    import { engineHeap } from ${module};
    const { sizeBytes } = engineHeap();
    try {
      for (;;) openSync("/dev/null", "r");
    } catch {
      console.log(sizeBytes());
    }`;
  const command = `ulimit -n 100; exec "$0" -e "$1"`;
  const { stdout } = Bun.spawnSync(["sh", "-c", command, process.execPath, script]);
  expect(stdout.toString().trim()).toBe("null");
});

test("the engine reports a size after a collection, and collects without throwing", () => {
  const { sizeBytes, collect, every } = engineHeap();
  Bun.gc(true);
  expect(sizeBytes() ?? 0).toBeGreaterThan(0);
  expect(collect).not.toThrow();
  every(60_000, () => {})();
});

test("the size of the engine grows with the objects in use", () => {
  const { sizeBytes } = engineHeap();
  Bun.gc(true);
  const before = sizeBytes() ?? 0;
  const kept = Array.from({ length: 200_000 }, (_, id) => ({ id, of: [id] }));
  Bun.gc(true);
  expect((sizeBytes() ?? 0) - before).toBeGreaterThan(8 * MIB);
  expect(kept).toHaveLength(200_000);
});
