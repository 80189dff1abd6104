/** The logic of the page of suppressions that needs no browser. */

import { describe, expect, test } from "bun:test";
import { addressRows, faultPlace } from "../../src/dashboard/pages/suppressions/address-rows.ts";
import { importLines } from "../../src/dashboard/pages/suppressions/import-result.ts";
import {
  readSuppressionSearch,
  suppressionQuery,
} from "../../src/dashboard/pages/suppressions/search.ts";

describe("the search of suppressions", () => {
  test.each([
    [
      { q: "ada", reason: "hard_bounce", other: "x" },
      { email: "ada", reason: "HARD_BOUNCE" },
    ],
    [
      { q: "", reason: 5 },
      { email: undefined, reason: undefined },
    ],
    [{ address: "ada@example.com" }, { email: undefined, reason: undefined }],
  ])("of %j asks for %j", (given, query) => {
    expect(suppressionQuery(readSuppressionSearch(given))).toEqual(query);
  });
});

describe("pasted addresses", () => {
  test.each([
    ["a@b.example\r\n\n c@d.example, \nbroken", "email\na@b.example\nc@d.example\nbroken", 1],
    ["a@b.example, c@d.example;", "email\na@b.example\nc@d.example", 1],
    ["a@b.example;Ada\nc@d.example;Carl", "email;column 2\na@b.example;Ada\nc@d.example;Carl", 1],
    ["Ada\ta@b.example\nBob\tx", "column 1\temail\nAda\ta@b.example\nBob\tx", 1],
    ["email,reason\na@b.example,spam", "email,reason\na@b.example,spam", 0],
  ] as const)("%j are the rows %j", (text, rows, addedLines) => {
    expect(addressRows(text)).toEqual({ rows, addedLines });
  });
});

test.each([
  [{ created: 0, updated: 0, failed: 0 }, ["0 addresses were suppressed"]],
  [
    { created: 1, updated: 2, failed: 1 },
    ["1 address was suppressed", "2 addresses were suppressed already", "1 row could not be read"],
  ],
] as const)("the result %j of an import is %j", (counts, lines) => {
  expect(importLines(counts)).toEqual([...lines]);
});

test("a fault of pasted addresses names the line, as it was pasted", () => {
  const pasted = addressRows("ada@x.io\nbroken address@\n");
  expect(faultPlace(pasted, 3)).toBe("Line 2, “broken address@”");
  expect(faultPlace(pasted, 9)).toBe("Line 8");
  const long = addressRows(`${"a".repeat(200)}@x.io\nb@x.io`);
  expect(faultPlace(long, 2)).toBe(`Line 1, “${"a".repeat(80)}…”`);
});
