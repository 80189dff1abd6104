/** The limit of sockets of a client: each IPv4 address, and each /64 of IPv6, is one client. */

import { expect, test } from "bun:test";
import { Socket } from "node:net";
import { createClientSockets } from "../../src/smtp/network-counts.ts";

function socketFrom(address: string): Socket {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: address });
  return socket;
}

function withSockets(addresses: readonly string[], maxClients = 500) {
  const sockets = createClientSockets({ maxClients, maxPerAddress: 2 });
  const opened = addresses.map(socketFrom);
  for (const socket of opened) sockets.add(socket);
  return { ...sockets, opened };
}

test.each([
  ["two of one address", ["192.0.2.1", "192.0.2.1"], "192.0.2.1", false],
  ["three of one address", ["192.0.2.1", "192.0.2.1", "192.0.2.1"], "192.0.2.1", true],
  ["another address", ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"], "192.0.2.2", false],
  ["one /64", ["2001:db8::1", "2001:db8::2", "2001:db8::3"], "2001:db8::4", true],
  ["two /64", ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::3"], "2001:db8:0:1::3", false],
  ["an IPv4 address as IPv6", ["::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"], "192.0.2.1", true],
  ["this machine", ["127.0.0.1", "127.0.0.1", "127.0.0.1"], "127.0.0.1", false],
])("%s", (_, addresses, peer, isBeyond) => {
  expect(withSockets(addresses).isBeyond(peer)).toBe(isBeyond);
});

test("all clients together have a limit, which holds for this machine too", () => {
  const { isBeyond } = withSockets(["192.0.2.1", "192.0.2.2", "127.0.0.1"], 2);
  expect([isBeyond("192.0.2.9"), isBeyond("127.0.0.1")]).toEqual([true, true]);
});

test("a closed socket does not count any more", () => {
  const { isBeyond, opened } = withSockets(["192.0.2.1", "192.0.2.1", "192.0.2.1"]);
  opened[1]?.emit("close");
  expect(isBeyond("192.0.2.1")).toBe(false);
});
