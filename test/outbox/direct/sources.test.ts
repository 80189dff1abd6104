import { expect, test } from "bun:test";
import { createSources } from "../../../src/outbox/direct/route.ts";

test("without source addresses the system chooses one for both families", () => {
  const sources = createSources([]);
  expect([...sources.families]).toEqual([4, 6]);
  expect(sources.next("192.0.2.1")).toBeUndefined();
});

test("source addresses are used in round robin by family", () => {
  const sources = createSources(["192.0.2.1", "2001:db8::1", "192.0.2.2"]);
  const targets = ["198.51.100.1", "2001:db8::9", "198.51.100.1", "2001:db8::9", "198.51.100.1"];
  expect(targets.map((target) => sources.next(target))).toEqual([
    "192.0.2.1",
    "2001:db8::1",
    "192.0.2.2",
    "2001:db8::1",
    "192.0.2.1",
  ]);
});

test("a family without a source address is not used", () => {
  expect([...createSources(["192.0.2.1"]).families]).toEqual([4]);
  expect([...createSources(["2001:db8::1"]).families]).toEqual([6]);
});
