import { describe, expect, test } from "bun:test";
import type { FieldErrorCode } from "../../../src/lib/errors.ts";
import { checkHeaders, isHeaderText } from "../../../src/protocols/mime/headers.ts";

describe("headers that are accepted", () => {
  const cases: [why: string, headers: Record<string, string>][] = [
    ["none", {}],
    ["a common header", { "X-Campaign": "spring" }],
    ["UTF-8 and tab in the value", { "X-Note": "grüße\tan alle" }],
    ["an empty value", { "X-Empty": "" }],
    ["a caller's own List-Unsubscribe", { "List-Unsubscribe": "<https://example.com/u>" }],
    ["odd but legal characters", { "X!#$%&'*+.^_`|~": "x" }],
    ["998 octets", { "X-Long": "x".repeat(998) }],
    ["threading headers", { "In-Reply-To": "<a@example.com>", References: "<a@example.com>" }],
    ["50 headers", Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`X-${i}`, "x"]))],
  ];

  for (const [why, headers] of cases) {
    test(why, () => expect(checkHeaders(headers)).toEqual([]));
  }
});

describe("List-Unsubscribe", () => {
  const message = expect.stringMatching(/^must be </);
  const lists: [value: string, isList: boolean][] = [
    ["<https://example.com/u?a=1,2&b=%3E>", true],
    ["<http://example.com/u>", true],
    ["<mailto:off@example.com?subject=off>", true],
    ["<HTTPS://EXAMPLE.COM/U>", true],
    ["<mailto:off@example.com>, <https://example.com/u>", true],
    ["<mailto:off@example.com>,<https://example.com/u>,<http://example.com/u>", true],
    [" (by mail) <mailto:off@example.com> (or) ,\t<https://example.com/u> (here)", true],
    ["", false],
    [" ", false],
    ["https://example.com/u", false],
    ["off@example.com", false],
    ["<off@example.com>", false],
    ["<>", false],
    ["<https://>", false],
    ["<https://exa mple.com/u>", false],
    ["<https://[x]/u>", false],
    ["<mailto:>", false],
    ["<ftp://example.com/u>", false],
    ["<javascript:alert(1)>", false],
    ["<https://example.com/ü>", false],
    ["<https://example.com/u", false],
    ["<https://example.com/u> <mailto:off@example.com>", false],
    ["<https://example.com/u>,", false],
    [",<https://example.com/u>", false],
    ["<https://example.com/u>; more", false],
    ["<https://example.com/u> (open", false],
    ["<https://example.com/u>, <x>", false],
    ["NO", false],
  ];
  for (const [value, isList] of lists) {
    test(`${JSON.stringify(value)} is ${isList ? "a" : "no"} list`, () => {
      for (const name of ["List-Unsubscribe", "list-unsubscribe", "LIST-Unsubscribe"]) {
        const error = { field: `headers.${name}`, code: "invalid_format" as const, message };
        expect(checkHeaders({ [name]: value })).toEqual(isList ? [] : [error]);
      }
    });
  }

  const posts: [value: string, isRight: boolean][] = [
    ["List-Unsubscribe=One-Click", true],
    ["", false],
    ["list-unsubscribe=one-click", false],
    ["List-Unsubscribe=One-Click ", false],
    ["List-Unsubscribe=Two-Clicks", false],
    ["<https://example.com/u>", false],
  ];
  for (const [value, isRight] of posts) {
    test(`${JSON.stringify(value)} is ${isRight ? "right" : "wrong"} for its Post`, () => {
      for (const name of ["List-Unsubscribe-Post", "list-unsubscribe-post"]) {
        const fields = checkHeaders({ [name]: value }).map(({ field }) => field);
        expect(fields).toEqual(isRight ? [] : [`headers.${name}`]);
      }
    });
  }
});

describe("headers that are refused", () => {
  const owned = [
    "From",
    "to",
    "CC",
    "Bcc",
    "Subject",
    "Date",
    "message-id",
    "MIME-Version",
    "Content-Type",
    "Content-Anything",
    "DKIM-Signature",
    "Received",
    "Return-Path",
    "Sender",
    "ARC-Seal",
    "Authentication-Results",
  ];

  for (const name of owned) {
    test(`${name}, which the service writes itself`, () => {
      expect(checkHeaders({ [name]: "x" })).toEqual([
        { field: `headers.${name}`, code: "invalid_value", message: expect.any(String) },
      ]);
    });
  }

  const cases: [
    why: string,
    headers: Record<string, string>,
    field: string,
    code: FieldErrorCode,
  ][] = [
    ["an empty name", { "": "x" }, "headers.", "invalid_format"],
    ["a space in the name", { "X Y": "x" }, "headers.X Y", "invalid_format"],
    ["a colon in the name", { "X:Y": "x" }, "headers.X:Y", "invalid_format"],
    ["a non-ASCII name", { "X-ü": "x" }, "headers.X-ü", "invalid_format"],
    ["a line break in the name", { "X\r\nBcc": "x" }, "headers.X\r\nBcc", "invalid_format"],
    ["CR in the value", { "X-A": "a\rb" }, "headers.X-A", "invalid_format"],
    ["LF in the value", { "X-A": "a\nBcc: b@example.com" }, "headers.X-A", "invalid_format"],
    ["NUL in the value", { "X-A": "a\0" }, "headers.X-A", "invalid_format"],
    ["999 octets", { "X-A": "x".repeat(999) }, "headers.X-A", "too_big"],
    ["more than 998 octets of UTF-8", { "X-A": "ü".repeat(500) }, "headers.X-A", "too_big"],
    ["the same name in two cases", { "X-A": "1", "x-a": "2" }, "headers.x-a", "invalid_value"],
    [
      "51 headers",
      Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, "x"])),
      "headers",
      "too_big",
    ],
  ];

  for (const [why, headers, field, code] of cases) {
    test(why, () => {
      expect(checkHeaders(headers)).toEqual([{ field, code, message: expect.any(String) }]);
    });
  }

  test("every fault is reported at once", () => {
    const fields = checkHeaders({ From: "a\nb", "X Y": "x" }).map(({ field }) => field);
    expect(fields).toEqual(["headers.From", "headers.From", "headers.X Y"]);
  });
});

test("header text has no control characters except tab", () => {
  for (const text of ["plain", "with\ttab", "grüße 👋", ""]) expect(isHeaderText(text)).toBe(true);
  for (const text of ["\r", "\n", "\0", "\x1b", "\x7f", "\u0085", "\u2028", "\ud800"]) {
    expect(isHeaderText(text)).toBe(false);
  }
});
