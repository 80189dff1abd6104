import { describe, expect, test } from "bun:test";
import { parseUrl } from "../../src/lib/url.ts";
import { threadCpuMs } from "../../src/lib/thread-cpu.ts";

const BASE = "https://base.test/a/b";

describe("URLs", () => {
  test.each<[text: string, base: string | undefined, href: string | null]>([
    ["https://a.test/b", undefined, "https://a.test/b"],
    [" \nhttps://a.test/b\t", undefined, "https://a.test/b"],
    ["/c", BASE, "https://base.test/c"],
    ["c", BASE, "https://base.test/a/c"],
    ["//c.test", BASE, "https://c.test/"],
    ["/c", undefined, null],
    ["nonsense", undefined, null],
    [`https://a.test/${"p".repeat(8_177)}`, undefined, `https://a.test/${"p".repeat(8_177)}`],
    [`https://a.test/${"p".repeat(8_178)}`, undefined, null],
    [`/${"p".repeat(2_000)}`, BASE, `https://base.test/${"p".repeat(2_000)}`],
    ["p".repeat(2_000), BASE, `https://base.test/a/${"p".repeat(2_000)}`],
    [`https://a.test?${"p".repeat(2_000)}`, undefined, `https://a.test/?${"p".repeat(2_000)}`],
    [`https://${"u".repeat(993)}@a.test`, undefined, `https://${"u".repeat(993)}@a.test/`],
    [`https://${"u".repeat(994)}@a.test`, undefined, null],
  ])("%p from %p", (text, base, href) => {
    expect(parseUrl(text, base)?.href ?? null).toBe(href);
  });

  // In each of them the parser would normalize the run of marks.
  test.each([
    ["https://", "/"],
    ["https:", "/"],
    ["https:/", ""],
    ["https:\\\\", "\\"],
    ["https:////", "?"],
    ["//", ""],
    ["\\\\", ""],
    ["\u0001 ht\ntps:\t//", "/"],
    ["https://a.test:1@", "#"],
  ])("the host after %j has a limited length", (start, end) => {
    const marks = (count: number) => "\u0315\u0300".repeat(count);
    const before = threadCpuMs();
    expect(parseUrl(`${start}a${marks(500)}${end}`, BASE)).toBeNull();
    expect(parseUrl(`${start}a${marks(4_000)}${end}`, BASE)).toBeNull();
    expect(threadCpuMs() - before).toBeLessThan(15);
  });
});
