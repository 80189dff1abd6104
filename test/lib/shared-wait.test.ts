import { expect, test } from "bun:test";
import { createSharedWait } from "../../src/lib/shared-wait.ts";

function recorder() {
  const calls: string[] = [];
  const callbacks = (name: string) => ({
    resolve: () => void calls.push(`${name} resolved`),
    reject: (error: unknown) => void calls.push(`${name}: ${String(error)}`),
  });
  return { calls, callbacks };
}

test("all that wait are called in their order, and later ones at once", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wait = createSharedWait(promise);
  const { calls, callbacks } = recorder();
  wait(callbacks("a"));
  wait(callbacks("b"));
  await Promise.resolve();
  expect(calls).toEqual([]);
  resolve();
  await promise;
  await Promise.resolve();
  expect(calls).toEqual(["a resolved", "b resolved"]);
  wait(callbacks("c"));
  expect(calls).toEqual(["a resolved", "b resolved", "c resolved"]);
});

test("all get the error of a promise that rejects", async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const wait = createSharedWait(promise);
  const { calls, callbacks } = recorder();
  wait(callbacks("a"));
  reject(new Error("no disk"));
  await promise.catch(() => {});
  await Promise.resolve();
  wait(callbacks("b"));
  expect(calls).toEqual(["a: Error: no disk", "b: Error: no disk"]);
});
