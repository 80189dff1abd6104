import { describe, expect, test } from "bun:test";
import { hostInZone, parseSendingDomain } from "../../../src/modules/domains/name.ts";

describe("a sending domain", () => {
  const cases: [text: string, domain: string][] = [
    ["example.com", "example.com"],
    ["  Mail.Example.COM. ", "mail.example.com"],
    ["example.co.uk", "example.co.uk"],
    ["Bücher.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["例え.テスト", "xn--r8jz45g.xn--zckzah"],
    ["shop.github.io", "shop.github.io"],
    ["acme.test", "acme.test"],
  ];
  test.each(cases)("%s is stored as %s", (text, domain) => {
    expect(parseSendingDomain(text)).toEqual({ ok: true, domain });
  });
});

describe("refuses as a sending domain", () => {
  const label = "a".repeat(50);
  const cases: [why: string, text: string][] = [
    ["an empty name", ""],
    ["a single label", "localhost"],
    ["a top level domain", "com"],
    ["a public suffix", "co.uk"],
    ["a public suffix in another script", "個人.香港"],
    ["an address", "ada@example.com"],
    ["an URL", "https://example.com"],
    ["an IP address", "192.0.2.1"],
    ["an address literal", "[192.0.2.1]"],
    ["a wildcard", "*.example.com"],
    ["an underscore", "_dmarc.example.com"],
    ["an empty label", "example..com"],
    ["two final dots", "example.com.."],
    ["a space inside", "exam ple.com"],
    ["a line end", "example.com\r\n.evil.test"],
    ["a name too long for its records", `${label}.${label}.${label}.${label}.com`],
  ];
  test.each(cases)("%s", (_, text) => {
    const parsed = parseSendingDomain(text);
    expect(parsed.ok).toBe(false);
    expect(parsed).toHaveProperty("reason", expect.stringMatching(/^must .+[^.]$/));
  });
});

test.each([
  ["example.com", "example.com", "@"],
  ["ms1._domainkey.example.com", "example.com", "ms1._domainkey"],
  ["ms1._domainkey.news.example.com", "news.example.com", "ms1._domainkey.news"],
  ["news.example.com", "news.example.com", "news"],
  ["_dmarc.a.b.example.co.uk", "a.b.example.co.uk", "_dmarc.a.b"],
  ["_dmarc.shop.github.io", "shop.github.io", "_dmarc"],
  ["bounce.mail.acme.test", "mail.acme.test", "bounce.mail"],
  ["other.example", "example.com", "other.example"],
])("the host of %s, a record of %s, is %s at a DNS provider", (name, domain, expected) => {
  expect(hostInZone(name, domain)).toBe(expected);
});
