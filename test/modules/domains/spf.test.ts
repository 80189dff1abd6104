import { describe, expect, test } from "bun:test";
import { allows, isSpfRecord, mergeSpf, needsTooMuch } from "../../../src/modules/domains/spf.ts";

describe("recognises an SPF record", () => {
  const cases: [record: string, isSpf: boolean][] = [
    ["v=spf1 -all", true],
    ["V=SPF1 mx", true],
    ["v=spf1", true],
    ["v=spf10 -all", false],
    ["v=spf2.0/pra", false],
    ["spf1", false],
    ["v=DMARC1; p=none", false],
  ];
  test.each(cases)("%s: %p", (record, isSpf) => expect(isSpfRecord(record)).toBe(isSpf));
});

describe("an SPF record needs too many look-ups", () => {
  const nine = Array.from({ length: 9 }, (_, i) => `include:i${i}.test`).join(" ");
  const cases: [rest: string, isTooMuch: boolean][] = [
    ["mx", false],
    ["mx redirect=x.test", true],
    ["+A ~MX/24", true],
    ["a//64 ptr", true],
    ["-exists:%{i}.x.test ?ptr:x.test", true],
    ["mx ip4:8.8.8.8 ip6:2001:db8::1 exp=x.test all", false],
    ["mx -all", false],
  ];
  test.each(cases)("nine includes and %s: %p", (rest, isTooMuch) => {
    expect(needsTooMuch(`v=spf1 ${nine} ${rest}`)).toBe(isTooMuch);
  });
});

describe("an SPF record allows", () => {
  const cases: [record: string, mechanism: string, isAllowed: boolean][] = [
    ["v=spf1 a:mail.example.com -all", "a:mail.example.com", true],
    ["v=spf1 +A:Mail.Example.COM -all", "a:mail.example.com", true],
    ["v=spf1 a:mail.example.com.au -all", "a:mail.example.com", false],
    ["v=spf1 -a:mail.example.com ~all", "a:mail.example.com", false],
    ["v=spf1 include:amazonses.com ~all", "include:amazonses.com", true],
    ["v=spf1 ip4:8.8.8.8 -all", "ip4:8.8.8.8", true],
    ["v=spf1 ip4:8.8.8.0/24 -all", "ip4:8.8.8.8", true],
    ["v=spf1 ip4:8.8.4.0/24 -all", "ip4:8.8.8.8", false],
    ["v=spf1 ip4:8.8.8.0/99 -all", "ip4:8.8.8.8", false],
    ["v=spf1 ip6:2001:db8::/32 -all", "ip6:2001:db8::1", true],
    ["v=spf1 ip6:2001:db8::/32 -all", "ip4:8.8.8.8", false],
    ["v=spf1 -all", "ip4:8.8.8.8", false],
    ["v=spf1 ip4:2001:db8::/32 -all", "ip4:8.8.8.8", false],
    ["v=spf1 ip6:8.8.8.0/24 -all", "ip6:2001:db8::1", false],
  ];
  test.each(cases)("%s, %s: %p", (record, mechanism, isAllowed) => {
    expect(allows(record, mechanism)).toBe(isAllowed);
  });
});

describe("merges the record to publish", () => {
  const cases: [why: string, records: string[], mechanisms: string[], merged: string][] = [
    ["without any record", [], ["a:m.test"], "v=spf1 a:m.test ~all"],
    [
      "keeping existing terms",
      ["v=spf1 include:x.test mx -all"],
      ["a:m.test"],
      "v=spf1 a:m.test include:x.test mx -all",
    ],
    ["with nothing to add", ["v=spf1 a:m.test ?all"], ["a:m.test"], "v=spf1 a:m.test ?all"],
    ["without a final term", ["v=spf1 mx"], ["a:m.test"], "v=spf1 a:m.test mx ~all"],
    [
      "with a redirect",
      ["v=spf1 redirect=x.test"],
      ["a:m.test"],
      "v=spf1 a:m.test redirect=x.test",
    ],
    [
      "from two records",
      ["v=spf1 mx -all", "v=spf1 mx include:x.test ~all"],
      ["a:m.test"],
      "v=spf1 a:m.test mx include:x.test -all",
    ],
    [
      "with several addresses",
      ["v=spf1 ip4:8.8.8.0/24 -all"],
      ["ip4:8.8.8.8", "ip6:2001:db8::1"],
      "v=spf1 ip6:2001:db8::1 ip4:8.8.8.0/24 -all",
    ],
  ];
  test.each(cases)("%s", (_, records, mechanisms, merged) => {
    expect(mergeSpf(records, mechanisms)).toBe(merged);
  });
});
