import { expect, test } from "bun:test";
import { callForEach } from "../../src/lib/callbacks.ts";

test("an item whose call throws does not keep the others from being called", () => {
  const called: number[] = [];
  const call = (item: number) => {
    called.push(item);
    if (item > 1) throw new Error(`faulty ${item}`);
  };
  expect(() => callForEach([1, 2, 3], call, () => called.push(4))).toThrow("faulty 2");
  expect(called).toEqual([1, 2, 3, 4]);
});

test("undefined that is thrown is an error as well", () => {
  const call = () => {
    throw undefined; // oxlint-disable-line no-throw-literal
  };
  expect(() => callForEach([1], call)).toThrow();
});
