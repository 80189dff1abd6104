/** Conditions of segments in words. */

import { describe, expect, test } from "bun:test";
import {
  type WordsNode,
  wordsOfCondition,
} from "../../src/dashboard/pages/segments/condition-words.ts";

import { OPERATORS } from "../../src/modules/segments/condition/operators.ts";

type Filter = { field: string; operator: string; value?: unknown; unit?: string };

const NAMES = new Map([
  ["s1", "VIP"],
  ["c1", "Spring"],
]);
const nameOf = (id: string) => NAMES.get(id);
const one = (filter: Filter) => ({ logic: "AND", groups: [{ filters: [filter] }] });

/** A node as text, such as `ALL(a is 1, ANY(b is 2, c is 3))`. */
function textOf(node: WordsNode): string {
  if (node.kind !== "TEST") return `${node.kind}(${node.parts.map(textOf).join(", ")})`;
  return [node.subject, node.verb, node.value].filter((part) => part !== "").join(" ");
}

const words = (condition: unknown) => textOf(wordsOfCondition(condition, nameOf));

describe("a filter in words", () => {
  const cases: [filter: Filter, text: string][] = [
    [{ field: "email", operator: "endsWith", value: "@x.io" }, "Address ends with @x.io"],
    [{ field: "subscribed", operator: "equals", value: true }, "Contact is subscribed"],
    [{ field: "subscribed", operator: "notEquals", value: true }, "Contact is not subscribed"],
    [{ field: "subscribed", operator: "equals", value: false }, "Contact is not subscribed"],
    [
      { field: "createdAt", operator: "within", value: 30, unit: "days" },
      "Created in the last 30 days",
    ],
    [
      { field: "updatedAt", operator: "olderThan", value: 1, unit: "hours" },
      "Changed more than 1 hour ago",
    ],
    [
      { field: "createdAt", operator: "lessThan", value: "2026-01-31" },
      "Created before 2026-01-31",
    ],
    [{ field: "data.plan", operator: "equals", value: "pro" }, "plan is pro"],
    [{ field: "data.a.b", operator: "notExists" }, "a.b has no value"],
    [{ field: "data.n", operator: "greaterThanOrEqual", value: 3 }, "n is at least 3"],
    [{ field: "data.v", operator: "equals", value: true }, "v is yes"],
    [{ field: "data.v", operator: "equals", value: "" }, "v is an empty text"],
    [{ field: "data.c", operator: "in", value: ["a", 2, false] }, "c is one of a, 2, no"],
    [
      { field: "data.until", operator: "within", value: 2, unit: "days" },
      "until is a date in the last 2 days",
    ],
    [{ field: "data.N", operator: "contains", value: "N" }, "N contains N"],
    [{ field: "event.login", operator: "notTriggered" }, "Event login never happened"],
    [
      { field: "event.login", operator: "triggeredOlderThan", value: 7, unit: "days" },
      "Event login happened last more than 7 days ago",
    ],
    [
      { field: "email.opened", operator: "notTriggeredWithin", value: 90, unit: "days" },
      "A mail was not opened in the last 90 days",
    ],
    [{ field: "email.bounced", operator: "triggered" }, "A mail was returned as undeliverable"],
    [{ field: "topic.news", operator: "equals", value: true }, "Contact is in the topic news"],
    [{ field: "topic.news", operator: "equals", value: false }, "Contact is not in the topic news"],
    [{ field: "segment.s1", operator: "memberOf" }, "Contact is in the segment VIP"],
    [{ field: "segment.s2", operator: "notMemberOf" }, "Contact is not in the segment s2"],
    [
      { field: "campaign.c1", operator: "wasNotOpened" },
      "Campaign Spring was received, but not opened",
    ],
    [
      { field: "template.t1", operator: "wasClickedWithin", value: 2, unit: "days" },
      "Mail from the template t1 was clicked in the last 2 days",
    ],
    [
      { field: "link.https://x.io/a", operator: "wasNotClicked" },
      "Link https://x.io/a was not clicked",
    ],
    [{ field: "data.x", operator: "resembles", value: { a: 1 } }, 'x resembles {"a":1}'],
    [{ field: "data.x", operator: "constructor", value: 1 }, "x constructor 1"],
  ];
  test.each(cases)("%j is %j", (filter, text) => {
    expect(words(one(filter))).toBe(text);
  });

  const FIELDS: Readonly<Record<keyof typeof OPERATORS, string>> = {
    email: "email",
    subscribed: "subscribed",
    time: "createdAt",
    data: "data.x",
    event: "event.x",
    mail: "campaign.x",
    link: "link.https://x.io",
    topic: "topic.x",
    segment: "segment.x",
  };
  test("has words for every operator of every field", () => {
    const without = Object.entries(FIELDS).flatMap(([kind, field]) =>
      Object.keys(Reflect.get(OPERATORS, kind)).filter((operator) => {
        const shown = words(one({ field, operator, value: 5, unit: "days" }));
        return operator !== "contains" && shown.split(" ").includes(operator);
      }),
    );
    expect(without).toEqual([]);
    expect(words(one({ field: "data.x", operator: "unknown" }))).toBe("x unknown");
  });

  test("shows the beginning of long values", () => {
    const value = Array.from({ length: 25 }, (_, i) => i);
    expect(words(one({ field: "data.c", operator: "in", value }))).toEndWith("18, 19 and 5 more");
    const long = words(one({ field: "data.c", operator: "equals", value: "x".repeat(10_000) }));
    expect(long).toBe(`c is ${"x".repeat(300)}…`);
  });
});

describe("a condition in words", () => {
  const is = (key: string) => ({ field: `data.${key}`, operator: "exists" });

  const cases: [why: string, condition: unknown, text: string][] = [
    [
      "all filters of its groups",
      { logic: "AND", groups: [{ filters: [is("a"), is("b")] }, { filters: [is("c")] }] },
      "ALL(a has a value, b has a value, c has a value)",
    ],
    [
      "any of its groups",
      { logic: "OR", groups: [{ filters: [is("a"), is("b")] }, { filters: [is("c")] }] },
      "ANY(ALL(a has a value, b has a value), c has a value)",
    ],
    [
      "a nested condition",
      {
        logic: "AND",
        groups: [
          {
            filters: [is("a")],
            conditions: { logic: "OR", groups: [{ filters: [is("b")] }, { filters: [is("c")] }] },
          },
        ],
      },
      "ALL(a has a value, ANY(b has a value, c has a value))",
    ],
    ["no condition that is known", { groups: ["x", { filters: [5] }] }, ""],
    ["nothing", null, "ALL()"],
  ];
  test.each(cases)("has %s", (_, condition, text) => {
    expect(words(condition)).toBe(text);
  });

  test("ends at ten levels", () => {
    let condition: unknown = { logic: "AND", groups: [{ filters: [is("deepest")] }] };
    for (let i = 0; i < 5_000; i++) {
      condition = { logic: "AND", groups: [{ filters: [], conditions: condition }] };
    }
    expect(words(condition)).toBe("ALL()");
  });
});
