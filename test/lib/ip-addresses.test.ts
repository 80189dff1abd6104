import { describe, expect, test } from "bun:test";
import { isPublicAddress } from "../../src/lib/ip-addresses.ts";

const PUBLIC = [
  "8.8.8.8",
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2001:4860:4860::8888",
  "2a00:1450:4001:80b::2005",
  "2620:fe::fe",
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "64:ff9b::8.8.8.8",
  "64:ff9b::808:808",
];

const REFUSED: [what: string, addresses: string[]][] = [
  ["unspecified, this network", ["0.0.0.0", "0.1.2.3", "::"]],
  ["loopback", ["127.0.0.1", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1"]],
  ["private (RFC 1918)", ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255"]],
  ["private (RFC 1918), 192.168", ["192.168.0.0", "192.168.255.255"]],
  ["carrier-grade NAT (RFC 6598)", ["100.64.0.0", "100.127.255.255"]],
  ["link-local", ["169.254.0.1", "169.254.169.254", "fe80::1", "febf::1", "fe80::1%eth0"]],
  ["multicast", ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"]],
  ["broadcast", ["255.255.255.255"]],
  ["reserved (RFC 1112 §4)", ["240.0.0.1", "254.1.2.3"]],
  ["protocol assignments (RFC 6890)", ["192.0.0.1", "192.0.0.170", "192.88.99.1"]],
  ["documentation, IPv4 (RFC 5737)", ["192.0.2.1", "198.51.100.1", "203.0.113.255"]],
  ["documentation, IPv6 (RFC 3849, 9637)", ["2001:db8::1", "3fff::1", "3fff:fff:ffff::1"]],
  ["benchmarking", ["198.18.0.1", "198.19.255.255", "2001:2::1"]],
  ["unique local", ["fc00::1", "fd12:3456:789a::1", "fdff:ffff::1"]],
  ["site-local (RFC 3879)", ["fec0::1", "feff::1"]],
  ["discard (RFC 6666)", ["100::1"]],
  ["ORCHID, segment routing", ["2001:10::1", "2001:20::1", "5f00::1"]],
  ["outside of 2000::/3", ["1::1", "4000::1", "8000::1", "e000::1"]],
  ["mapped", ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254"]],
  ["mapped, other ranges", ["::ffff:0.0.0.0", "::ffff:192.0.2.1", "::ffff:100.64.0.1"]],
  ["compatible (RFC 4291 §2.5.5.1)", ["::127.0.0.1", "::10.0.0.1", "::8.8.8.8"]],
  ["translated (RFC 2765)", ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"]],
  ["NAT64 (RFC 6052)", ["64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b::c0a8:101"]],
  ["NAT64, local use (RFC 8215)", ["64:ff9b:1::7f00:1", "64:ff9b:1:a00:1::", "64:ff9b:1::808:808"]],
  ["6to4 (RFC 3056)", ["2002:7f00:1::1", "2002:a00:1::", "2002:c0a8:101::1", "2002:808:808::1"]],
  ["Teredo (RFC 4380)", ["2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"]],
  [
    "text that is not an address",
    ["", "localhost", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433"],
  ],
  [
    "addresses with additional characters",
    ["8.8.8.8:25", "[::1]", "8.8.8", "8.8.8.8.8", "08.8.8.8", " 8.8.8.8"],
  ],
];

describe("a public address", () => {
  test.each(PUBLIC)("%s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe("an address that is not public", () => {
  for (const [what, addresses] of REFUSED) {
    test(what, () => {
      expect(addresses.filter(isPublicAddress)).toEqual([]);
    });
  }
});
