import { expect, test } from "bun:test";
import { createSignal } from "../../src/lib/signal.ts";

test("a signal calls all handlers that were registered before, in their order", () => {
  const signal = createSignal();
  const calls: string[] = [];
  signal.raise();
  signal.onRaised(() => calls.push("first"));
  signal.onRaised(() => calls.push("second"));
  signal.raise();
  expect(calls).toEqual(["first", "second"]);
});
