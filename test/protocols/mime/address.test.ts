import { describe, expect, test } from "bun:test";
import {
  canonicalDomain,
  domainOf,
  isHostname,
  needsSmtpUtf8,
  parseAddress,
  storedAddress,
  storedSpellings,
} from "../../../src/protocols/mime/address.ts";

describe("addresses that are accepted, in their canonical form", () => {
  const cases: [text: string, address: string][] = [
    ["jane@example.com", "jane@example.com"],
    ["  Jane.Doe@Example.COM\t", "jane.doe@example.com"],
    ["jane+tag@mail.example.co.uk", "jane+tag@mail.example.co.uk"],
    ["!#$%&'*+/=?^_`{|}~-@example.com", "!#$%&'*+/=?^_`{|}~-@example.com"],
    ["a@b.c", "a@b.c"],
    ["1@3com.example", "1@3com.example"],
    ["a@example.3com", "a@example.3com"],
    [`${"a".repeat(64)}@example.com`, `${"a".repeat(64)}@example.com`],
    [`a@${"b".repeat(63)}.com`, `a@${"b".repeat(63)}.com`],
    [`a@${`${"b".repeat(61)}.`.repeat(4)}com`, `a@${`${"b".repeat(61)}.`.repeat(4)}com`],
    ['"john doe"@example.com', '"john doe"@example.com'],
    ['"John.Doe"@example.com', "john.doe@example.com"],
    ['"a\\b"@example.com', "ab@example.com"],
    ['"a@b"@example.com', '"a@b"@example.com'],
    ['"a\\"b\\\\c"@example.com', '"a\\"b\\\\c"@example.com'],
    ['".."@example.com', '".."@example.com'],
    ["jane@münchen.de", "jane@xn--mnchen-3ya.de"],
    ["jane@MÜNCHEN.DE", "jane@xn--mnchen-3ya.de"],
    ["jane@xn--mnchen-3ya.de", "jane@xn--mnchen-3ya.de"],
    ["jane@faß.de", "jane@xn--fa-hia.de"],
    ["jane@例え。テスト", "jane@xn--r8jz45g.xn--zckzah"],
    ["JÖRG@example.com", "jörg@example.com"],
    ["jo\u0308rg@example.com", "jörg@example.com"],
    ["用户@例子.中国", "用户@xn--fsqu00a.xn--fiqs8s"],
    ['"jörg müller"@example.com', '"jörg müller"@example.com'],
    ['"test\u00a9"@example.com', "test\u00a9@example.com"],
    ['"a\\e\u0301"@example.com', "a\u00e9@example.com"],
    ["jane@example.com".padEnd(320), "jane@example.com"],
  ];

  for (const [text, address] of cases) {
    test(text, () => {
      const parsed = parseAddress(text);
      const at = address.lastIndexOf("@");
      expect(parsed).toEqual({
        ok: true,
        address,
        local: address.slice(0, at),
        domain: address.slice(at + 1),
      });
    });

    test(`${address} stays unchanged`, () => {
      expect(parseAddress(address)).toMatchObject({ ok: true, address });
    });
  }
});

describe("texts that are refused", () => {
  const cases: [why: string, text: string][] = [
    ["empty", ""],
    ["no at sign", "jane"],
    ["no local part", "@example.com"],
    ["no domain", "jane@"],
    ["two at signs", "jane@doe@example.com"],
    ["a dot in front", ".jane@example.com"],
    ["a dot at the end of the local part", "jane.@example.com"],
    ["two dots", "jane..doe@example.com"],
    ["a space in an unquoted local part", "jane doe@example.com"],
    ["an open quote", '"jane@example.com'],
    ["a bare quote inside", 'ja"ne@example.com'],
    ["a quote followed by text", '"jane"x@example.com'],
    ["a trailing backslash", '"jane\\"@example.com'],
    ["a display name", "Jane <jane@example.com>"],
    ["a comment", "jane(comment)@example.com"],
    ["a list", "jane@example.com,john@example.com"],
    ["one label", "jane@localhost"],
    ["a final dot", "jane@example.com."],
    ["an empty label", "jane@example..com"],
    ["a hyphen in front", "jane@-example.com"],
    ["a hyphen at the end of a label", "jane@example-.com"],
    ["an underscore in the domain", "jane@ex_ample.com"],
    ["a numeric top level", "jane@192.0.2.1"],
    ["an address literal", "jane@[192.0.2.1]"],
    ["an IPv6 literal", "jane@[IPv6:2001:db8::1]"],
    ["a port", "jane@example.com:25"],
    ["percent encoding", "jane@ex%61mple.com"],
    ["a full-width slash", "jane@example／.com"],
    ["a broken A-label", "jane@xn--a.com"],
    ["a long label", `jane@${"b".repeat(64)}.com`],
    ["a long local part", `${"a".repeat(65)}@example.com`],
    ["a local part of more than 64 octets", `${"ö".repeat(33)}@example.com`],
    ["255 octets", `a@${`${"b".repeat(61)}.`.repeat(4)}comm`.padEnd(255, "x")],
    ["a long text", `${"a".repeat(100_000)}@example.com`],
    ["CR", "jane@example.com\r"],
    ["LF", "jane@example.com\nBcc: x@example.com"],
    ["LF in front", "\njane@example.com"],
    ["NUL", "jane\0@example.com"],
    ["a tab inside quotes", '"ja\tne"@example.com'],
    ["a zero-width space", "ja\u200bne@example.com"],
    ["a bidi override", "ja\u202ene@example.com"],
    ["a no-break space", "ja\u00a0ne@example.com"],
    ["a lone surrogate", "ja\ud800ne@example.com"],
    ["CR in front", "\rjane@example.com"],
    ["a no-break space in front", "\u00a0jane@example.com"],
    ["a byte order mark in front", "\ufeffjane@example.com"],
    ["a line separator at the end", "jane@example.com\u2028"],
    ["a form feed at the end", "jane@example.com\f"],
    ["spaces to more than 320 characters", "jane@example.com".padEnd(321)],
    ["a quoted pair that is not ASCII", '"test\\\u00a9"@example.com'],
    ["a quoted pair that NFC makes ASCII", '"test\\\u212a"@example.com'],
    ["a quoted pair of a tab", '"test\\\t"@example.com'],
  ];

  for (const [why, text] of cases) {
    test(why, () => {
      expect(parseAddress(text)).toEqual({ ok: false, reason: expect.any(String) });
    });
  }
});

describe("domains", () => {
  const cases: [text: string, domain: string | null][] = [
    ["Example.COM", "example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["mail.example.co.uk", "mail.example.co.uk"],
    ["example", null],
    ["example.com.", null],
    ["https://example.com", null],
    ["0x7f.1", null],
    ["", null],
    [`b\u0308.${"a.".repeat(495)}example`, null],
    [`${"a\u0308".repeat(500)}.example`, null],
  ];

  for (const [text, domain] of cases) {
    test(`"${text}" is ${domain ?? "not a domain"}`, () => {
      expect(canonicalDomain(text)).toBe(domain);
    });
  }

  test("a host name may have one label", () => {
    expect(isHostname("localhost")).toBe(true);
    expect(isHostname("MX1.example.com")).toBe(true);
    expect(isHostname("mx_1.example.com")).toBe(false);
    expect(isHostname("")).toBe(false);
    expect(isHostname(`${"a".repeat(63)}.`.repeat(4))).toBe(false);
  });

  test("the domain of an address follows its last at sign", () => {
    expect(domainOf('"a@b"@example.com')).toBe("example.com");
  });

  test("only a non-ASCII local part needs SMTPUTF8", () => {
    expect(needsSmtpUtf8("jörg@xn--mnchen-3ya.de")).toBe(true);
    expect(needsSmtpUtf8("joerg@xn--mnchen-3ya.de")).toBe(false);
  });
});

describe("a search text, in the form of stored addresses", () => {
  test.each([
    [" ADA@MÜNCHEN.example", "ada@xn--mnchen-3ya.example"],
    ["JO\u{308}E@x.io", "jöe@x.io"],
    ["not an Address", "not an address"],
    ["\u00a0Ada@x.io", "\u00a0ada@x.io"],
    ["Ada@x.io\r\n", "ada@x.io\r\n"],
    ["ada@x.io".padEnd(321), "ada@x.io".padEnd(321)],
  ])("%s: %s", (text, stored) => {
    expect(storedAddress(text)).toBe(stored);
  });

  test.each<[part: string, spellings: string[]]>([
    ["", [""]],
    ["Ada@x", ["ada@x"]],
    ["@BÜCHER.de", ["@xn--bcher-kva.de"]],
    ["ève@bücher", ["ève@xn--bcher-kva"]],
    ["ÈVE@", ["ève@"]],
    ["bücher.de", ["bücher.de", "xn--bcher-kva.de"]],
    [".bücher.", [".bücher.", ".xn--bcher-kva."]],
    ["ü", ["ü", "xn--tda"]],
    ["☃ \0", ["☃ \0"]],
    [" \tx\t ", ["x"]],
    ["A".repeat(1_001), ["A".repeat(1_001)]],
    ["\u00a0x\n", ["\u00a0x\n"]],
  ])("the part %j is searched as %j", (part, spellings) => {
    expect(storedSpellings(part)).toEqual(spellings);
  });
});
