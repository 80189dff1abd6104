/** The syntax of searches. */

import { describe, expect, test } from "bun:test";
import {
  parseQuery,
  type SearchQuery,
  type QueryOptions,
} from "../../../../src/modules/inboxes/search/syntax.ts";

function parse(text: string, options?: QueryOptions): SearchQuery {
  const parsed = parseQuery(text, options);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.query;
}

const text = (value: string, isNegated = false) => ({ isNegated, filter: { kind: "text", value } });
const field = (name: string, value: string) => ({
  isNegated: false,
  filter: { kind: "field", fields: [name], value, indexed: value },
});

const CASES: [query: string, terms: unknown[]][] = [
  ["", []],
  ["  \t\n ", []],
  ["word Other", [text("word"), text("other")]],
  ["word word", [text("word")]],
  [`"exact  Phrase"`, [text("exact phrase")]],
  [`"open quote stays`, [text("open quote stays")]],
  ["-x", [text("x", true)]],
  ["!x", [text("x", true)]],
  ["-", [text("-")]],
  ["--x", [text("-x", true)]],
  ["to:Ada@Example.com", [field("to", "ada@example.com")]],
  ["TO:x", [field("to", "x")]],
  [`to:"a b"`, [field("to", "a b")]],
  [`to:"<ada@example.com>"`, [field("to", "ada@example.com")]],
  ["subject:two words", [field("subject", "two"), text("words")]],
  ["reply-to:x", [field("replyTo", "x")]],
  ["message-id:<x@y>", [field("messageId", "x@y")]],
  ["tag:News", [{ isNegated: false, filter: { kind: "tag", value: "news" } }]],
  ["is:read", [{ isNegated: false, filter: { kind: "flag", flag: "read" } }]],
  ["is:unread", [{ isNegated: true, filter: { kind: "flag", flag: "read" } }]],
  ["-is:unread", [{ isNegated: false, filter: { kind: "flag", flag: "read" } }]],
  ["!has:attachments", [{ isNegated: true, filter: { kind: "flag", flag: "attachment" } }]],
  ["is:other", [text("is:other")]],
  ["larger:10k", [{ isNegated: false, filter: { kind: "larger", bytes: 10_240 } }]],
  ["smaller:1.5MB", [{ isNegated: false, filter: { kind: "smaller", bytes: 1_572_864 } }]],
  ["larger:0", [text("larger:0")]],
  ["larger:many", [text("larger:many")]],
  ["after:2026-03-01", [{ isNegated: false, filter: { kind: "since", at: Date.UTC(2026, 2, 1) } }]],
  ["before:2026-03-01", [{ isNegated: true, filter: { kind: "since", at: Date.UTC(2026, 2, 1) } }]],
  ["http://example.com/", [text("http://example.com/")]],
  ["100%_done", [text("100%_done")]],
  ["ÄRGER", [text("ärger")]],
  ["a\0b", [text("a b")]],
];

describe("a query is read as terms", () => {
  for (const [query, terms] of CASES) {
    test(JSON.stringify(query), () => {
      const found: unknown = parse(query).terms;
      expect(found).toEqual(terms);
    });
  }
});

describe("a term without a value is dropped, and the query says so", () => {
  const dropped = [
    "to:",
    `to:""`,
    `""`,
    "tag:",
    "subject:  x",
    "before:someday",
    "after:",
    "-to:",
    "<>",
    `";,"`,
  ];
  for (const query of dropped) {
    test(JSON.stringify(query), () => expect(parse(query).hasDropped).toBe(true));
  }
  test("a complete one has none", () => expect(parse("to:x is:read").hasDropped).toBe(false));
});

test("a date is read in the given zone", () => {
  const { terms } = parse("after:2026-03-01", { timeZone: "Europe/Berlin" });
  expect(terms).toEqual([
    { isNegated: false, filter: { kind: "since", at: Date.UTC(2026, 1, 28, 23) } },
  ]);
});

test("a quoted address means the whole address, with the option", () => {
  const terms: unknown = parse(`to:"Ada@example.com" from:ada subject:"x"`, {
    isExactWhenQuoted: true,
  }).terms;
  const exact = { fields: ["to"], value: "\tada@example.com\n", indexed: "ada@example.com" };
  expect(terms).toEqual([
    { isNegated: false, filter: { kind: "field", ...exact } },
    { isNegated: false, filter: { kind: "field", fields: ["from"], value: "ada", indexed: "ada" } },
    { isNegated: false, filter: { kind: "field", fields: ["subject"], value: "x", indexed: "x" } },
  ]);
});

test("a query of more than 16 KiB is refused", () => {
  expect(parseQuery("x".repeat(16 * 1024)).ok).toBe(true);
  expect(parseQuery("x".repeat(16 * 1024 + 1)).ok).toBe(false);
});
