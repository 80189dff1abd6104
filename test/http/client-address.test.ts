/** The client address by which a request is rate-limited, with and without trusted proxies. */

import { describe, expect, test } from "bun:test";
import { clientAddressReader } from "../../src/http/client-address.ts";
import { parseAddressRange } from "../../src/lib/address-ranges.ts";
import { silentLog } from "../../src/lib/log.ts";
import { threadCpuMs } from "../../src/lib/thread-cpu.ts";

const trusted = ["10.0.0.0/8", "2001:db8:f::/48", "::1"].flatMap(
  (text) => parseAddressRange(text) ?? [],
);
const read = clientAddressReader({ trusted, log: silentLog });
const PROXY = "10.0.0.1";
const CLIENT = "203.0.113.7";

describe("without a proxy", () => {
  const peers: [peer: string | null, counted: string][] = [
    [CLIENT, CLIENT],
    ["::ffff:203.0.113.7", CLIENT],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
    ["::2", "::/64"],
    ["fe80::1%eth0", "fe80::/64"],
    ["64:ff9b::203.0.113.7", CLIENT],
    [null, "unknown"],
    ["", "unknown"],
  ];
  test.each(peers)("the client is the peer of the socket: %j is %s", (peer, counted) => {
    expect(read({ peer, forwardedFor: null })).toBe(counted);
  });
});

describe("X-Forwarded-For", () => {
  test("is ignored from a peer that is not trusted", () => {
    for (const peer of [CLIENT, "127.0.0.1", "2001:db8:1::1", null]) {
      const alone = read({ peer, forwardedFor: null });
      for (const forwardedFor of ["198.51.100.1", "10.0.0.2", "x", ""]) {
        expect(read({ peer, forwardedFor })).toBe(alone);
      }
    }
  });

  test("is ignored from every peer if no proxy is trusted", () => {
    const readNone = clientAddressReader({ trusted: [], log: silentLog });
    expect(readNone({ peer: PROXY, forwardedFor: CLIENT })).toBe(PROXY);
  });

  const lists: [forwardedFor: string | null, counted: string][] = [
    [CLIENT, CLIENT],
    ["198.51.100.1, 203.0.113.7", CLIENT],
    ["198.51.100.1,203.0.113.7", CLIENT],
    ["198.51.100.1 ,\t203.0.113.7 ", CLIENT],
    // In a chain of proxies the right-most address that is not trusted is the client.
    ["198.51.100.1, 203.0.113.7, 10.0.0.2", CLIENT],
    ["198.51.100.1, 203.0.113.7, 2001:db8:f::1, 10.0.0.2", CLIENT],
    ["203.0.113.7, ::ffff:10.0.0.2", CLIENT],
    // If all addresses are trusted, the first address of the list is the client.
    ["10.0.0.3, 10.0.0.2", "10.0.0.3"],
    // Some proxies add a port.
    ["203.0.113.7:51234", CLIENT],
    ["[2001:db8:1:2::3]:51234", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::3]", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::3", "2001:db8:1:2::/64"],
    ["::ffff:203.0.113.7", CLIENT],
    // If the entry of a trusted proxy is not an address, the proxy itself is the client.
    [null, PROXY],
    ["", PROXY],
    ["unknown", PROXY],
    ["203.0.113.7, ", PROXY],
    ["203.0.113.7, unknown", PROXY],
    ["203.0.113.7, _hidden, 10.0.0.2", "10.0.0.2"],
    ["203.0.113.7, 10.0.0", PROXY],
    ["203.0.113.7, 0xcb007107", PROXY],
    ["203.0.113.7:", PROXY],
    ["[2001:db8::1", PROXY],
    ['"203.0.113.7"', PROXY],
    // Entries that a client wrote itself are further left and are never read.
    ["x".repeat(100_000) + ", 203.0.113.7", CLIENT],
    [",".repeat(100_000) + "203.0.113.7", CLIENT],
  ];
  test.each(lists)("from a trusted proxy names the client: %j is %s", (forwardedFor, counted) => {
    expect(read({ peer: PROXY, forwardedFor })).toBe(counted);
  });

  test("is read up to 32 entries, in bounded time of the processor", () => {
    const deep = Array.from({ length: 100_000 }, () => "10.0.0.2").join(", ");
    const startedAt = threadCpuMs();
    expect(read({ peer: PROXY, forwardedFor: `203.0.113.7, ${deep}` })).toBe("10.0.0.2");
    expect(read({ peer: PROXY, forwardedFor: `${" ".repeat(1_000_000)}x` })).toBe(PROXY);
    expect(threadCpuMs() - startedAt).toBeLessThan(500);
  });
});
