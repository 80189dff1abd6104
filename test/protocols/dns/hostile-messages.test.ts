/** Messages that a hostile server could construct. test/proofs/ measures the time that they take. */

import { describe, expect, test } from "bun:test";
import { messageCollector } from "../../../src/protocols/dns/exchange.ts";
import { hasPointerChain } from "../../../src/protocols/dns/query.ts";
import { chained, pointerTo, QUESTION } from "../../proofs/linear-time/dns.ts";

describe("compression pointers", () => {
  const message = (count: number) => Buffer.concat([Buffer.alloc(100), ...chained(count, 100)]);

  test.each([
    ["one that leads to a name", Buffer.concat([Buffer.alloc(12), pointerTo(QUESTION)]), false],
    ["eight in a chain", message(1), false],
    ["fifteen in a chain", message(2), false],
    ["twenty-two in a chain", message(3), true],
    ["a thousand in a chain", message(143), true],
    ["one that leads to itself", pointerTo(0), false],
    ["one that leads to a later offset", Buffer.concat([pointerTo(2), pointerTo(0)]), false],
    ["one that is cut off", Buffer.from([0xc0]), false],
    ["octets that look like pointers", Buffer.alloc(65_535, 0xff), false],
  ])("%s", (_, octets, isChain) => {
    expect(hasPointerChain(octets)).toBe(isChain);
  });
});

test("a message is complete with its last octet", () => {
  const collect = messageCollector();
  const octets = Buffer.from([0, 3, 1, 2, 3, 4]);
  const results = [...octets].map((octet) => collect(Buffer.from([octet])));
  expect(results.slice(0, 5)).toEqual([null, null, null, null, Buffer.from([1, 2, 3])]);
  expect(messageCollector()(octets)).toEqual(Buffer.from([1, 2, 3]));
});
