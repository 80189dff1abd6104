/** The counts of sessions by network before one more is counted; client-sockets.test.ts counts first. */

import { expect, test } from "bun:test";
import { createNetworkCounts } from "../../src/smtp/network-counts.ts";

test.each([
  ["below both limits", ["192.0.2.1"], "192.0.2.1", true],
  ["at the limit of its network", ["192.0.2.1", "192.0.2.1"], "192.0.2.1", false],
  ["of another network", ["192.0.2.1", "192.0.2.1"], "192.0.2.2", true],
  ["at the limit of its /64", ["2001:db8::1", "2001:db8::2"], "2001:db8::3", false],
  ["of this machine", ["127.0.0.1", "127.0.0.1"], "127.0.0.1", true],
  ["at the limit of all", ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"], "127.0.0.1", false],
])("a client %s", (_, holders, peer, mayAdd) => {
  const counts = createNetworkCounts({ total: 4, each: 2 });
  for (const holder of holders) counts.add(holder);
  expect(counts.mayAdd(peer)).toBe(mayAdd);
});

test("what a client holds no longer leaves room for another", () => {
  const counts = createNetworkCounts({ total: 2, each: 1 });
  const remove = counts.add("192.0.2.1");
  expect(counts.mayAdd("192.0.2.1")).toBe(false);
  remove();
  expect(counts.mayAdd("192.0.2.1")).toBe(true);
});
