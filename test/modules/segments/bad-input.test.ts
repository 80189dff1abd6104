/** Invalid conditions are refused with 422 that names the path of each error; nothing is stored. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

type Fault = readonly [field: string, code: string];

async function expectRefused(condition: unknown, errors: readonly Fault[]) {
  const before = t.contents();
  const answer = await t.call("POST", "/segments", { name: "s", condition });
  expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  expect(t.contents()).toEqual(before);
}

const wrap = (...filters: unknown[]) => ({ logic: "AND", groups: [{ filters }] });
const valid = { field: "data.plan", operator: "equals", value: "pro" };
const FIRST = "condition.groups.0.filters.0";

type FilterCase = [filter: unknown, ...faults: [member: string, code: string][]];
const filters: FilterCase[] = [
  [{}, ["field", "required"], ["operator", "required"]],
  ["text", ["", "invalid_type"]],
  [null, ["", "invalid_type"]],
  [[], ["", "invalid_type"]],
  [{ ...valid, field: undefined }, ["field", "required"]],
  [{ ...valid, field: 5 }, ["field", "invalid_type"]],
  [{ ...valid, field: null }, ["field", "invalid_type"]],
  [{ ...valid, field: "" }, ["field", "invalid_value"]],
  [{ ...valid, field: "phone" }, ["field", "invalid_value"]],
  [{ ...valid, field: "Email" }, ["field", "invalid_value"]],
  [{ ...valid, field: "data" }, ["field", "invalid_value"]],
  [{ ...valid, field: "data." }, ["field", "invalid_value"]],
  [{ ...valid, field: "data..a" }, ["field", "invalid_value"]],
  [{ ...valid, field: "data.a." }, ["field", "invalid_value"]],
  [{ ...valid, field: `data.${"x".repeat(10_240)}` }, ["field", "invalid_value"]],
  [{ ...valid, field: "event" }, ["field", "invalid_value"]],
  [{ ...valid, field: "event." }, ["field", "invalid_value"]],
  [{ field: `event.${"x".repeat(256)}`, operator: "triggered" }, ["field", "invalid_value"]],
  [{ field: "email.read", operator: "triggered" }, ["field", "invalid_value"]],
  [{ field: "email.", operator: "triggered" }, ["field", "invalid_value"]],
  [{ field: "segment.", operator: "memberOf" }, ["field", "invalid_value"]],
  [{ field: "segments.x", operator: "memberOf" }, ["field", "invalid_value"]],
  [
    { field: "phone", operator: "sounds like" },
    ["field", "invalid_value"],
    ["operator", "invalid_value"],
  ],

  [{ ...valid, operator: undefined }, ["operator", "required"]],
  [{ ...valid, operator: null }, ["operator", "invalid_value"]],
  [{ ...valid, operator: 1 }, ["operator", "invalid_value"]],
  [{ ...valid, operator: "==" }, ["operator", "invalid_value"]],
  [{ ...valid, operator: "Equals" }, ["operator", "invalid_value"]],
  [{ ...valid, operator: "startsWith" }, ["operator", "invalid_value"]],
  [{ ...valid, operator: "triggered" }, ["operator", "invalid_value"]],
  [{ ...valid, operator: "toString" }, ["operator", "invalid_value"]],
  [
    { field: "data.joined", operator: "lessThan", value: "15.06.2030" },
    ["value", "invalid_format"],
  ],
  [
    { field: "data.joined", operator: "greaterThanOrEqual", value: "06/15/2030 10:00" },
    ["value", "invalid_format"],
  ],
  [{ field: "email", operator: "exists" }, ["operator", "invalid_value"]],
  [{ field: "email", operator: "in", value: ["a"] }, ["operator", "invalid_value"]],
  [{ field: "subscribed", operator: "contains", value: true }, ["operator", "invalid_value"]],
  [
    { field: "createdAt", operator: "contains", value: "2026-01-01" },
    ["operator", "invalid_value"],
  ],
  [{ field: "event.x", operator: "equals", value: 1 }, ["operator", "invalid_value"]],
  [{ field: "segment.x", operator: "equals", value: 1 }, ["operator", "invalid_value"]],

  [{ field: "email", operator: "equals" }, ["value", "required"]],
  [{ field: "email", operator: "equals", value: null }, ["value", "required"]],
  [{ field: "email", operator: "equals", value: 5 }, ["value", "invalid_type"]],
  [{ field: "email", operator: "contains", value: ["a"] }, ["value", "invalid_type"]],
  [{ field: "subscribed", operator: "equals" }, ["value", "required"]],
  [{ field: "subscribed", operator: "equals", value: "true" }, ["value", "invalid_type"]],
  [{ field: "subscribed", operator: "equals", value: 1 }, ["value", "invalid_type"]],
  [{ field: "createdAt", operator: "equals" }, ["value", "required"]],
  [{ field: "createdAt", operator: "equals", value: 1772445600000 }, ["value", "invalid_type"]],
  [{ field: "createdAt", operator: "equals", value: "soon" }, ["value", "invalid_format"]],
  [{ field: "createdAt", operator: "equals", value: "2026-02-30" }, ["value", "invalid_format"]],
  [
    { field: "createdAt", operator: "equals", value: "2026-02-30T10:00:00Z" },
    ["value", "invalid_format"],
  ],
  [{ field: "createdAt", operator: "equals", value: "2026-1-1" }, ["value", "invalid_format"]],
  [{ field: "createdAt", operator: "equals", value: "" }, ["value", "invalid_format"]],
  [{ ...valid, value: undefined }, ["value", "required"]],
  [{ ...valid, value: null }, ["value", "required"]],
  [{ ...valid, value: {} }, ["value", "invalid_type"]],
  [{ ...valid, value: ["pro"] }, ["value", "invalid_type"]],
  [{ ...valid, value: "x".repeat(65_537) }, ["value", "too_big"]],
  [{ ...valid, operator: "contains", value: "x".repeat(1_001) }, ["value", "too_big"]],
  [{ ...valid, operator: "notContains", value: "x".repeat(1_001) }, ["value", "too_big"]],
  [{ ...valid, operator: "contains", value: null }, ["value", "required"]],
  [{ ...valid, operator: "greaterThan", value: true }, ["value", "invalid_type"]],
  [{ ...valid, operator: "lessThan", value: undefined }, ["value", "required"]],
  [{ ...valid, operator: "in", value: "pro" }, ["value", "invalid_type"]],
  [{ ...valid, operator: "in", value: undefined }, ["value", "required"]],
  [{ ...valid, operator: "in", value: [] }, ["value", "too_small"]],
  [
    { ...valid, operator: "in", value: Array.from({ length: 1001 }, (_, i) => i) },
    ["value", "too_big"],
  ],
  [
    { ...valid, operator: "notIn", value: ["a", null, {}, [1]] },
    ["value.1", "invalid_type"],
    ["value.2", "invalid_type"],
    ["value.3", "invalid_type"],
  ],

  [{ field: "event.x", operator: "triggeredWithin" }, ["value", "required"], ["unit", "required"]],
  [{ field: "event.x", operator: "triggeredWithin", value: 1 }, ["unit", "required"]],
  [{ field: "event.x", operator: "triggeredWithin", unit: "days" }, ["value", "required"]],
  [
    { field: "event.x", operator: "notTriggeredWithin", value: 1, unit: "weeks" },
    ["unit", "invalid_value"],
  ],
  [
    { field: "event.x", operator: "triggeredOlderThan", value: 1, unit: null },
    ["unit", "invalid_value"],
  ],
  [
    { field: "createdAt", operator: "within", value: "30", unit: "days" },
    ["value", "invalid_type"],
  ],
  [{ field: "createdAt", operator: "within", value: 1.5, unit: "days" }, ["value", "invalid_type"]],
  [{ field: "createdAt", operator: "olderThan", value: 0, unit: "days" }, ["value", "too_small"]],
  [{ field: "updatedAt", operator: "olderThan", value: -1, unit: "days" }, ["value", "too_small"]],
  [{ field: "data.at", operator: "within", value: 10_000_001, unit: "days" }, ["value", "too_big"]],
  [{ field: "data.at", operator: "within", value: 1 }, ["unit", "required"]],
  [
    { field: "data.at", operator: "olderThan", unit: "day" },
    ["value", "required"],
    ["unit", "invalid_value"],
  ],
];

describe("an invalid filter is refused", () => {
  test("with the member that is at fault", async () => {
    for (const [filter, ...faults] of filters) {
      const errors = faults.map(([member, code]): Fault => [
        member === "" ? FIRST : `${FIRST}.${member}`,
        code,
      ]);
      await expectRefused(wrap(filter), errors);
    }
  });

  test("with a number too large for a double", async () => {
    const before = t.contents();
    const raw = `{"name":"s","condition":{"logic":"AND","groups":[{"filters":[{"field":"data.a","operator":"equals","value":1e999}]}]}}`;
    const headers = { "content-type": "application/json" };
    const answer = await t.call("POST", "/segments", undefined, { raw, headers });
    expectError(answer, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [[`${FIRST}.value`, "invalid_type"]],
    });
    expect(t.contents()).toEqual(before);
  });

  test("with its path, also in nested conditions", async () => {
    const bad = { field: "phone", operator: "equals", value: 1 };
    const nested = { logic: "OR", groups: [{ filters: [valid] }, { filters: [valid, bad] }] };
    const condition = {
      logic: "AND",
      groups: [{ filters: [valid] }, { filters: [valid, valid, bad], conditions: nested }],
    };
    await expectRefused(condition, [
      ["condition.groups.1.filters.2.field", "invalid_value"],
      ["condition.groups.1.conditions.groups.1.filters.1.field", "invalid_value"],
    ]);
  });
});

type ConditionCase = [what: string, condition: unknown, ...errors: Fault[]];
const conditions: ConditionCase[] = [
  ["text", "plan = pro", ["condition", "invalid_type"]],
  ["a number", 5, ["condition", "invalid_type"]],
  ["an array", [], ["condition", "invalid_type"]],
  ["an empty object", {}, ["condition.logic", "required"], ["condition.groups", "required"]],
  ["no logic", { groups: [{ filters: [valid] }] }, ["condition.logic", "required"]],
  [
    "another logic",
    { logic: "XOR", groups: [{ filters: [valid] }] },
    ["condition.logic", "invalid_value"],
  ],
  [
    "logic in lower case",
    { logic: "and", groups: [{ filters: [valid] }] },
    ["condition.logic", "invalid_value"],
  ],
  ["no groups", { logic: "AND" }, ["condition.groups", "required"]],
  ["an empty list of groups", { logic: "AND", groups: [] }, ["condition.groups", "too_small"]],
  [
    "groups that are not a list",
    { logic: "AND", groups: {} },
    ["condition.groups", "invalid_type"],
  ],
  [
    "a group that is not an object",
    { logic: "AND", groups: [5] },
    ["condition.groups.0", "invalid_type"],
  ],
  [
    "a group without filters",
    { logic: "AND", groups: [{}] },
    ["condition.groups.0.filters", "required"],
  ],
  [
    "filters that are not a list",
    { logic: "AND", groups: [{ filters: {} }] },
    ["condition.groups.0.filters", "invalid_type"],
  ],
  [
    "an empty group",
    { logic: "AND", groups: [{ filters: [valid] }, { filters: [] }] },
    ["condition.groups.1.filters", "too_small"],
  ],
  [
    "an empty nested condition",
    { logic: "AND", groups: [{ filters: [valid], conditions: {} }] },
    ["condition.groups.0.conditions.logic", "required"],
    ["condition.groups.0.conditions.groups", "required"],
  ],
  [
    "a nested condition that is a string",
    { logic: "AND", groups: [{ filters: [valid], conditions: "x" }] },
    ["condition.groups.0.conditions", "invalid_type"],
  ],
  [
    "201 filters",
    wrap(...Array.from({ length: 201 }, () => valid)),
    ["condition.groups.0.filters.200", "too_big"],
  ],
  [
    "201 filters in groups",
    { logic: "OR", groups: Array.from({ length: 201 }, () => ({ filters: [valid] })) },
    ["condition.groups.200.filters.0", "too_big"],
  ],
  [
    "thirty thousand filters",
    wrap(...Array.from({ length: 30_000 }, () => valid)),
    ["condition.groups.0.filters.200", "too_big"],
  ],
];

describe("an invalid condition is refused", () => {
  test.each(conditions)("%s", (_, condition, ...errors) => expectRefused(condition, errors));

  const nested = (levels: number): object =>
    levels === 1
      ? wrap(valid)
      : { logic: "AND", groups: [{ filters: [valid], conditions: nested(levels - 1) }] };

  test("with 11 levels, and accepted with 10", async () => {
    const path = Array.from({ length: 10 }, () => ".groups.0.conditions").join("");
    await expectRefused(nested(11), [[`condition${path}`, "too_big"]]);
    expect(
      (await t.call("POST", "/segments", { name: "deep", condition: nested(10) })).status,
    ).toBe(201);
  });

  test("with INVALID_JSON when it is nested extremely deep", async () => {
    const answer = await t.call("POST", "/segments", { name: "s", condition: nested(60) });
    expectError(answer, { status: 400, code: "INVALID_JSON" });
  });

  test("above 256 KiB", async () => {
    const many = Array.from({ length: 5 }, () => ({ ...valid, value: "x".repeat(60_000) }));
    await expectRefused(wrap(...many), [["condition", "too_big"]]);
  });

  test("with the first hundred errors when there are more", async () => {
    const answer = await t.call("POST", "/segments", {
      name: "s",
      condition: wrap(...Array.from({ length: 150 }, () => ({}))),
    });
    expect(answer.at("error.errors.99.field")).toBe("condition.groups.0.filters.49.operator");
    expect(answer.at("error.errors.100")).toBeUndefined();
  });
});

describe("a reference is refused", () => {
  const member = (id: string) => ({ field: `segment.${id}`, operator: "memberOf" });
  const create = (name: string, condition: unknown, key?: string) =>
    t.create("/segments", { name, condition }, "data.id", key === undefined ? {} : { key });
  const patch = (id: string, condition: unknown) =>
    t.call("PATCH", `/segments/${id}`, { condition });

  test("to an unknown segment", async () => {
    await expectRefused(wrap(valid, member("nobody")), [
      ["condition.groups.0.filters.1.field", "unknown_reference"],
    ]);
    await expectRefused(wrap(member("'; DROP TABLE segments; --")), [
      [`${FIRST}.field`, "unknown_reference"],
    ]);
    expect(t.countRows("segments")).toBeGreaterThan(0);
  });

  test("to a segment of another project", async () => {
    const { secretKey } = await t.makeProject("stranger");
    const theirs = await create("theirs", wrap(valid), secretKey);
    await expectRefused(wrap(member(theirs)), [[`${FIRST}.field`, "unknown_reference"]]);
  });

  test("to a deleted segment", async () => {
    const id = await create("gone", wrap(valid));
    expect((await t.call("DELETE", `/segments/${id}`)).status).toBe(204);
    await expectRefused(wrap(member(id)), [[`${FIRST}.field`, "unknown_reference"]]);
  });

  test("to itself, directly and through others", async () => {
    const a = await create("a", wrap(valid));
    const b = await create("b", wrap(member(a)));
    const c = await create("c", wrap(valid, member(b)));
    const before = t.contents();
    for (const id of [a, b, c]) {
      const answer = await patch(a, { logic: "OR", groups: [{ filters: [valid, member(id)] }] });
      expectError(answer, {
        status: 422,
        code: "VALIDATION_ERROR",
        errors: [["condition.groups.0.filters.1.field", "invalid_value"]],
      });
    }
    expect((await patch(a, wrap(member(c)))).text("error.errors.0.message")).toContain(
      "a → c → b → a",
    );
    expect(t.contents()).toEqual(before);
  });

  test("when the levels of referenced segments exceed the limit", async () => {
    let id = await create("level 1", wrap(valid));
    for (let level = 2; level <= 10; level++) id = await create(`level ${level}`, wrap(member(id)));
    await expectRefused(wrap(member(id)), [[FIRST, "too_big"]]);
  });

  test("when the filters of referenced segments exceed the limit", async () => {
    const hundred = await create("hundred", wrap(...Array.from({ length: 100 }, () => valid)));
    const condition = (count: number) =>
      wrap(member(hundred), ...Array.from({ length: count }, () => valid));
    await create("two hundred", condition(99));
    await expectRefused(condition(100), [["condition.groups.0.filters.100", "too_big"]]);
    await expectRefused(wrap(member(hundred), member(hundred)), [
      ["condition.groups.0.filters.1", "too_big"],
    ]);
  });

  test("when a change of the referenced segment makes a user exceed the limit", async () => {
    const inner = await create("inner", wrap(valid));
    await create("outer", wrap(member(inner), ...Array.from({ length: 150 }, () => valid)));
    const answer = await patch(inner, wrap(...Array.from({ length: 100 }, () => valid)));
    expectError(answer, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["condition", "too_big"]],
    });
    expect(answer.text("error.errors.0.message")).toContain('"outer"');
  });

  test("when references multiply the number of filters", async () => {
    let id = await create("doubling", wrap(valid));
    let answer = await t.call("GET", `/segments/${id}`);
    for (let i = 0; i < 9 && answer.status < 300; i++) {
      answer = await t.call("POST", "/segments", {
        name: "doubling",
        condition: wrap(...Array.from({ length: 6 }, () => member(id))),
      });
      if (answer.status < 300) id = answer.text("data.id");
    }
    expect(answer.status).toBe(422);
  });
});
