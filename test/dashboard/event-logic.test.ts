/** The logic of the page of events without a browser: its search, and data as a tree. */

import { describe, expect, test } from "bun:test";
import { readEventData } from "../../src/dashboard/pages/events/event-data.ts";
import {
  eventQuery,
  isAboutEvents,
  readEventSearch,
  withEventFilters,
} from "../../src/dashboard/pages/events/search.ts";
import { type JsonNode, jsonLine, jsonNodes } from "../../src/dashboard/ui/json-nodes.ts";

const NOW_MS = Date.parse("2026-03-01T12:00:00.000Z");

test.each([
  [{ name: "order.paid" }, { event: "order.paid" }],
  [
    { contact: "ada@b.co", range: "24h" },
    { email: "ada@b.co", from: "2026-02-28T12:00:00.000Z" },
  ],
  [
    { since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" },
    { from: "2026-01-01T00:00:00.000Z", to: "2026-01-02T00:00:00.000Z" },
  ],
])("the query of %j", (search, expected) => {
  const none = { event: undefined, email: undefined, from: undefined, to: undefined };
  expect(eventQuery(search, NOW_MS)).toEqual({ ...none, ...expected });
});

test.each([
  [{ q: "ada@b.co" }, { contact: "ada@b.co" }],
  [{ q: "order.paid" }, { name: "order.paid" }],
  [{ name: undefined, contact: "x" }, { contact: "x" }],
])("the filters %j", (filters, expected) => {
  expect(withEventFilters({ event: "e" }, filters)).toEqual({ event: "e", ...expected });
});

test("other search parameters are left out", () => {
  expect(readEventSearch({ name: "a", x: "y", until: 3 })).toEqual({ name: "a" });
});

test.each([
  [{}, "order.paid", true],
  [{}, "email.queued", false],
  [{}, "webhook.delivery", false],
  [{ name: "order.paid" }, "order.paid", true],
  [{ name: "order.paid" }, "email.sent", false],
  [{ name: "order.paid" }, "reload", true],
])("whether the search %j follows %s", (search, type, expected) => {
  expect(isAboutEvents(search, type)).toBe(expected);
});

describe("data as a tree", () => {
  const leaf = (name: string | null, kind: JsonNode["kind"], text: string): JsonNode => ({
    name,
    kind,
    text,
    members: null,
    hidden: 0,
  });

  test("has a line for each value", () => {
    expect(jsonNodes({ a: "x", b: 1, c: [true, null], d: {} })).toEqual({
      name: null,
      kind: "object",
      text: "4 members",
      hidden: 0,
      members: [
        leaf("a", "text", '"x"'),
        leaf("b", "number", "1"),
        {
          name: "c",
          kind: "list",
          text: "2 items",
          hidden: 0,
          members: [leaf("0", "word", "true"), leaf("1", "word", "null")],
        },
        { name: "d", kind: "object", text: "0 members", hidden: 0, members: [] },
      ],
    });
  });

  test("shows 200 members of a list, and the number of the others", () => {
    const { members, hidden } = jsonNodes(Array.from({ length: 1_000 }, (_, i) => i));
    expect([members?.length, hidden]).toEqual([200, 800]);
  });

  test("has at most 2,000 lines", () => {
    const row = Array.from({ length: 200 }, (_, i) => i);
    const { members, hidden } = jsonNodes(Array.from({ length: 200 }, () => row));
    const lines = (members ?? []).reduce((sum, node) => sum + 1 + (node.members?.length ?? 0), 1);
    expect(lines).toBe(2_000);
    expect([members?.length, members?.at(-1)?.hidden, hidden]).toEqual([10, 11, 190]);
  });

  test("shows what is nested too deeply as text, and cuts long texts", () => {
    let deep: unknown = "end";
    for (let i = 0; i < 14; i++) deep = { n: deep };
    let node: JsonNode | undefined = jsonNodes(deep);
    for (let i = 0; i < 12; i++) node = node?.members?.[0];
    expect(node).toEqual(leaf("n", "object", '{"n":{"n":"end"}}'));
    expect(jsonNodes("x".repeat(2_100)).text).toBe(`"${"x".repeat(2_000)}… (100 more characters)"`);
  });

  test.each([
    [null, ""],
    [{}, ""],
    [{ plan: "pro", total: 12, ok: true, list: [1] }, "plan: pro, total: 12, ok: true, list: [1]"],
    [{ long: "x".repeat(100) }, `long: ${"x".repeat(80)}`],
  ])("in one line: %j", (data, expected) => {
    expect(jsonLine(data)).toBe(expected);
  });
});

describe("the data of an event that is typed", () => {
  test.each([
    ["  ", { ok: true, data: null }],
    ['{"total": 12}', { ok: true, data: { total: 12 } }],
    ["[1]", { ok: false, message: 'must be an object such as {"total": 12}' }],
    ["null", { ok: false, message: 'must be an object such as {"total": 12}' }],
  ] as const)("%p is read as %j", (text, expected) => {
    expect(readEventData(text)).toEqual(expected);
  });

  test("that is not JSON is refused with the reason", () => {
    expect(readEventData('{"total": 12')).toEqual({
      ok: false,
      message: expect.stringMatching(/^is not JSON: ./),
    });
  });
});
