import { describe, expect, test } from "bun:test";
import { isInRanges, parseAddressRange } from "../../src/lib/address-ranges.ts";

const ranges = (...texts: string[]) =>
  texts.map((text) => {
    const range = parseAddressRange(text);
    if (range === null) throw new Error(`${text} is no range`);
    return range;
  });

describe("an address range", () => {
  const inside: [range: string, address: string, isInside: boolean][] = [
    ["10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "10.0.0.2", false],
    ["10.0.0.1/32", "10.0.0.1", true],
    ["10.0.0.0/8", "10.255.255.255", true],
    ["10.0.0.0/8", "11.0.0.0", false],
    ["10.1.2.3/8", "10.9.9.9", true],
    ["0.0.0.0/0", "203.0.113.9", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["::1", "::1", true],
    ["::1", "0:0:0:0:0:0:0:1", true],
    ["::1", "127.0.0.1", false],
    ["2001:db8::/32", "2001:db8:ffff::1", true],
    ["2001:DB8::/32", "2001:db8::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["::ffff:10.0.0.0/104", "10.0.0.1", true],
    ["::ffff:10.0.0.0/104", "11.0.0.1", false],
    ["fe80::/10", "fe80::1%eth0", true],
    ["::/0", "10.0.0.1", false],
  ];
  test.each(inside)("%s contains %s: %p", (range, address, isInside) => {
    expect(isInRanges(address, ranges(range))).toBe(isInside);
  });

  test("is found among several ranges, and not in an empty list", () => {
    const several = ranges("10.0.0.0/8", "2001:db8::/32");
    expect(isInRanges("2001:db8::1", several)).toBe(true);
    expect(isInRanges("10.1.1.1", several)).toBe(true);
    expect(isInRanges("192.0.2.1", several)).toBe(false);
    expect(isInRanges("192.0.2.1", [])).toBe(false);
  });

  const refused = [
    "",
    " ",
    "localhost",
    "proxy.example",
    "10.0.0",
    "10.0.0.0.0",
    "010.0.0.1",
    "0x7f.0.0.1",
    "2130706433",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/08",
    "10.0.0.0/8/8",
    "10.0.0.0/255.0.0.0",
    "2001:db8::/129",
    "2001:db8::/32%eth0",
    "fe80::1%eth0",
    "[::1]",
    "10.0.0.1:80",
    "*",
    "::ffff:10.0.0.0/8",
  ];
  test.each(refused)("%j is refused", (text) => {
    expect(parseAddressRange(text)).toBeNull();
  });

  test("does not contain text that is not an address", () => {
    for (const text of ["", "unknown", "10.0.0", "0x7f.0.0.1"]) {
      expect(isInRanges(text, ranges("0.0.0.0/0", "::/0"))).toBe(false);
    }
  });
});
