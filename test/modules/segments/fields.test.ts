/** Filters on email, subscription, times and events, and conditions with several filters. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { addContact, DAY, HOUR, MINUTE, NOW, plain, findMatching } from "./crowd.ts";
import { meets, type NaiveCondition, type NaiveContact, type NaiveFilter } from "./naive.ts";

const START_OF_DAY = Date.parse("2026-02-28T00:00:00.000Z");

const people = {
  ada: { email: "ada@example.com", createdAt: START_OF_DAY, events: { login: NOW - DAY } },
  bob: { email: "bob@example.org", createdAt: START_OF_DAY - 1, events: { login: NOW - 40 * DAY } },
  cyd: { email: "cyd+news@mail.example.com", createdAt: START_OF_DAY + DAY - 1 },
  dee: { email: "100%_dee@example.com", createdAt: START_OF_DAY + DAY, subscribed: false },
  eve: { email: "ève@example.com", createdAt: NOW, events: { "email.opened": NOW - 2 * HOUR } },
  fay: {
    email: "fay@xn--bcher-kva.test",
    createdAt: NOW - 30 * DAY,
    updatedAt: NOW - 5 * MINUTE,
    events: { "a.b.c": NOW - 30 * MINUTE, login: NOW - 30 * DAY },
  },
  gus: {
    email: "gus@example.com",
    createdAt: NOW - 30 * DAY - 1,
    subscribed: false,
    events: { 'it\'s "odd"; ☃': NOW, login: NOW - 30 * DAY - 1, "email.clicked": NOW - 3 * DAY },
  },
} satisfies Record<string, Partial<NaiveContact>>;
type Name = keyof typeof people;
const names: readonly Name[] = Object.keys(people).filter((key): key is Name => key in people);
const allExcept = (...excluded: Name[]) => names.filter((name) => !excluded.includes(name));

let t: TestApp;
const seqs = new Map<Name, number>();
beforeAll(async () => {
  t = await testApp();
  for (const name of names) seqs.set(name, addContact(t, people[name]));
});
afterAll(() => t.close());

async function expectNames(condition: NaiveCondition, expected: readonly Name[]) {
  const world = { now: NOW, dynamic: {} };
  const naive = names.filter((name) => meets(world, { ...plain, ...people[name] }, condition));
  expect(naive).toEqual(names.filter((name) => expected.includes(name)));
  const found = await findMatching(t, condition, [...seqs.values()]);
  expect(names.filter((name) => found.includes(seqs.get(name) ?? 0))).toEqual(naive);
}

type Case = [field: string, operator: string, value: unknown, matches: Name[], unit?: string];
const cases: Case[] = [
  ["email", "equals", "ada@example.com", ["ada"]],
  ["email", "equals", "ADA@Example.COM", ["ada"]],
  ["email", "equals", "ada", []],
  ["email", "equals", "", []],
  ["email", "equals", "ÈVE@example.com", ["eve"]],
  ["email", "notEquals", "ADA@example.com", allExcept("ada")],
  ["email", "notEquals", "", names.slice()],
  ["email", "contains", "EXAMPLE.com", ["ada", "cyd", "dee", "eve", "gus"]],
  ["email", "contains", "%_", ["dee"]],
  ["email", "contains", "_", ["dee"]],
  ["email", "contains", "", names.slice()],
  ["email", "contains", "' OR ''='", []],
  ["email", "notContains", "example", ["fay"]],
  ["email", "notContains", "", []],
  ["email", "startsWith", "A", ["ada"]],
  ["email", "startsWith", "È", ["eve"]],
  ["email", "startsWith", "", names.slice()],
  ["email", "startsWith", "ada@example.com and more", []],
  ["email", "endsWith", "@EXAMPLE.com", ["ada", "dee", "eve", "gus"]],
  ["email", "endsWith", "example.com", ["ada", "cyd", "dee", "eve", "gus"]],
  ["email", "endsWith", "", names.slice()],
  ["email", "endsWith", "xada@example.com", []],
  ["email", "equals", "FAY@BÜCHER.test", ["fay"]],
  ["email", "notEquals", "fay@bücher.test", allExcept("fay")],
  ["email", "contains", "@BÜCHER", ["fay"]],
  ["email", "contains", "bücher.t", ["fay"]],
  ["email", "notContains", "@bücher.test", allExcept("fay")],
  ["email", "startsWith", "fay@bücher", ["fay"]],
  ["email", "endsWith", "bücher.test", ["fay"]],
  ["email", "endsWith", "ÈVE@example.com", ["eve"]],

  ["subscribed", "equals", true, allExcept("dee", "gus")],
  ["subscribed", "equals", false, ["dee", "gus"]],
  ["subscribed", "notEquals", true, ["dee", "gus"]],
  ["subscribed", "notEquals", false, allExcept("dee", "gus")],

  ["createdAt", "equals", "2026-02-28", ["ada", "cyd"]],
  ["createdAt", "notEquals", "2026-02-28", allExcept("ada", "cyd")],
  ["createdAt", "greaterThan", "2026-02-28", ["dee", "eve"]],
  ["createdAt", "greaterThanOrEqual", "2026-02-28", ["ada", "cyd", "dee", "eve"]],
  ["createdAt", "lessThan", "2026-02-28", ["bob", "fay", "gus"]],
  ["createdAt", "lessThanOrEqual", "2026-02-28", allExcept("dee", "eve")],
  ["createdAt", "equals", "2026-02-28T00:00:00Z", ["ada"]],
  ["createdAt", "equals", "2026-02-28T01:00:00.000+01:00", ["ada"]],
  ["createdAt", "equals", "2026-02-27T23:59:59.999Z", ["bob"]],
  ["createdAt", "notEquals", "2026-02-28T00:00:00Z", allExcept("ada")],
  ["createdAt", "greaterThan", "2026-02-28T00:00:00Z", ["cyd", "dee", "eve"]],
  ["createdAt", "greaterThanOrEqual", "2026-02-28T00:00:00Z", ["ada", "cyd", "dee", "eve"]],
  ["createdAt", "lessThan", "2026-02-28T00:00:00Z", ["bob", "fay", "gus"]],
  ["createdAt", "lessThanOrEqual", "2026-02-28T00:00:00Z", ["ada", "bob", "fay", "gus"]],
  ["createdAt", "within", 30, allExcept("gus"), "days"],
  ["createdAt", "olderThan", 30, ["gus"], "days"],
  ["createdAt", "within", 1, ["eve"], "minutes"],
  ["createdAt", "olderThan", 24, allExcept("eve"), "hours"],
  ["updatedAt", "within", 5, ["fay"], "minutes"],
  ["updatedAt", "within", 4, [], "minutes"],
  ["updatedAt", "olderThan", 4, names.slice(), "minutes"],
  ["updatedAt", "olderThan", 5, allExcept("fay"), "minutes"],
  ["updatedAt", "greaterThan", "2026-03-01", ["fay"]],

  ["event.login", "triggered", undefined, ["ada", "bob", "fay", "gus"]],
  ["event.login", "notTriggered", undefined, ["cyd", "dee", "eve"]],
  ["event.login", "triggeredWithin", 30, ["ada", "fay"], "days"],
  ["event.login", "notTriggeredWithin", 30, allExcept("ada", "fay"), "days"],
  ["event.login", "triggeredOlderThan", 30, ["bob", "gus"], "days"],
  ["event.login", "triggeredWithin", 23, [], "hours"],
  ["event.login", "triggeredWithin", 1440, ["ada"], "minutes"],
  ["event.login", "triggeredOlderThan", 1439, ["ada", "bob", "fay", "gus"], "minutes"],
  ["event.never", "triggered", undefined, []],
  ["event.never", "notTriggered", undefined, names.slice()],
  ["event.never", "triggeredWithin", 30, [], "days"],
  ["event.never", "notTriggeredWithin", 30, names.slice(), "days"],
  ["event.never", "triggeredOlderThan", 30, [], "days"],
  ["event.LOGIN", "triggered", undefined, []],
  ["event.a.b.c", "triggered", undefined, ["fay"]],
  ["event.a.b", "triggered", undefined, []],
  ['event.it\'s "odd"; ☃', "triggered", undefined, ["gus"]],
  ["event.email.opened", "triggered", undefined, ["eve"]],
  ["email.opened", "triggered", undefined, ["eve"]],
  ["email.opened", "notTriggered", undefined, allExcept("eve")],
  ["email.opened", "triggeredWithin", 2, ["eve"], "hours"],
  ["email.opened", "notTriggeredWithin", 1, names.slice(), "hours"],
  ["email.opened", "triggeredOlderThan", 1, ["eve"], "hours"],
  ["email.clicked", "triggered", undefined, ["gus"]],
  ["email.sent", "triggered", undefined, []],
  ["email.delivered", "notTriggered", undefined, names.slice()],
  ["email.bounced", "triggered", undefined, []],
  ["email.complained", "notTriggeredWithin", 1, names.slice(), "days"],
];

describe("one filter matches", () => {
  for (const [field, operator, value, matches, unit] of cases) {
    test(`${field} ${operator} ${JSON.stringify(value)} ${unit ?? ""}`, async () => {
      const filter = { field, operator, value, ...(unit === undefined ? {} : { unit }) };
      await expectNames({ logic: "AND", groups: [{ filters: [filter] }] }, matches);
    });
  }
});

const is = (name: Name): NaiveFilter => ({
  field: "email",
  operator: "equals",
  value: people[name].email,
});
const not = (name: Name): NaiveFilter => ({ ...is(name), operator: "notEquals" });
const unsubscribed = { field: "subscribed", operator: "equals", value: false };
const loggedIn = { field: "event.login", operator: "triggered" };

type Combination = [what: string, condition: NaiveCondition, matches: Name[]];
const combinations: Combination[] = [
  [
    "all filters of a group",
    { logic: "AND", groups: [{ filters: [not("ada"), loggedIn] }] },
    ["bob", "fay", "gus"],
  ],
  [
    "all filters of a group joined by OR",
    { logic: "OR", groups: [{ filters: [not("ada"), loggedIn] }] },
    ["bob", "fay", "gus"],
  ],
  [
    "groups joined by AND",
    { logic: "AND", groups: [{ filters: [loggedIn] }, { filters: [unsubscribed] }] },
    ["gus"],
  ],
  [
    "groups joined by OR",
    { logic: "OR", groups: [{ filters: [loggedIn] }, { filters: [unsubscribed] }] },
    ["ada", "bob", "dee", "fay", "gus"],
  ],
  [
    "a nested condition beside filters",
    {
      logic: "AND",
      groups: [
        {
          filters: [loggedIn],
          conditions: { logic: "OR", groups: [{ filters: [is("ada")] }, { filters: [is("eve")] }] },
        },
      ],
    },
    ["ada"],
  ],
  [
    "a nested condition without filters",
    {
      logic: "AND",
      groups: [
        {
          filters: [],
          conditions: { logic: "OR", groups: [{ filters: [is("ada")] }, { filters: [is("eve")] }] },
        },
      ],
    },
    ["ada", "eve"],
  ],
  [
    "a nested condition in one of several groups",
    {
      logic: "OR",
      groups: [
        { filters: [is("dee")] },
        {
          filters: [loggedIn],
          conditions: {
            logic: "AND",
            groups: [{ filters: [unsubscribed] }, { filters: [not("ada")] }],
          },
        },
      ],
    },
    ["dee", "gus"],
  ],
  [
    "the same filter twice",
    { logic: "AND", groups: [{ filters: [loggedIn, loggedIn] }, { filters: [loggedIn] }] },
    ["ada", "bob", "fay", "gus"],
  ],
  ["a contradiction", { logic: "AND", groups: [{ filters: [is("ada"), not("ada")] }] }, []],
];

describe("a condition is evaluated with", () => {
  for (const [what, condition, matches] of combinations) {
    test(what, () => expectNames(condition, matches));
  }

  test("200 filters", async () => {
    const groups = Array.from({ length: 50 }, () => ({
      filters: [loggedIn, not("ada"), { field: "data.x", operator: "notExists" }, not("bob")],
    }));
    await expectNames({ logic: "AND", groups }, ["fay", "gus"]);
    await expectNames({ logic: "OR", groups }, ["fay", "gus"]);
  });

  test("10 levels", async () => {
    let condition: NaiveCondition = { logic: "OR", groups: [{ filters: [loggedIn] }] };
    for (let depth = 2; depth <= 10; depth++) {
      condition = {
        logic: depth % 2 === 0 ? "AND" : "OR",
        groups: [{ filters: [not("ada")], conditions: condition }],
      };
    }
    await expectNames(condition, ["bob", "fay", "gus"]);
  });
});
