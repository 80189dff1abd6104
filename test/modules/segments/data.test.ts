/** Filters on `data.<path>`: every operator against every type, missing and null. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { checkFilter } from "../../../src/modules/segments/condition/filter.ts";
import { segmentService } from "../../../src/modules/segments/service.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { addContact, NOW, plain, findMatching } from "./crowd.ts";
import { matchesFilter, type NaiveFilter } from "./naive.ts";

/** Values of `data.x` by the name of the contact; `missing` has no key `x`. */
const values = {
  missing: undefined,
  null: null,
  empty: "",
  five: "5",
  pro: "pro",
  PRO: "PRO",
  product: "a product",
  one: "1",
  true: "true",
  eé: "é",
  list: '["pro"]',
  shape: '{"a":1}',
  "#5": 5,
  "#5.5": 5.5,
  "#0": 0,
  "#1": 1,
  "#-3": -3,
  "#large": 495133191048934140,
  "#exact": 0.1 + 0.2,
  yes: true,
  no: false,
  "[]": [],
  "[mixed]": ["pro", 5, true, null, "é"],
  "[texts]": ["5", "1", "true"],
  "[nested]": [["pro"], { a: 5 }],
  "{}": {},
  "{plan}": { plan: "pro" },
  day: "2026-03-01",
  recent: "2026-03-02T09:30:00.000Z",
  exactly: "2026-03-02T12:00:00+02:00",
  future: "2026-03-02T10:00:00.001Z",
  tomorrow: "2026-03-03",
  spaced: "2026-03-02 09:59",
  past: "2025-01-15T08:00:00Z",
  noday: "2026-02-30",
  noclock: "2026-03-02T25:00",
  noyear: "12:30",
  local: "31.12.2025",
  short: "2026-3-1",
  slashes: "2026/03/01",
  compact: "20260301",
  blank: " 2026-03-01",
  blankAfter: "2026-03-01 ",
  joined: "2026-03-01TT10:00",
  year: "2026",
  month: "2026-03",
  exponent: "1e5",
  hex: "0x10",
  grouped: "1_000",
  arabic: "١٢",
  comma: "99,50",
  nan: "NaN",
  infinity: "Infinity",
  nodate: "2026-03-01 soon",
  word: "now",
  julian: "2461102.5",
  "#epoch": 1772445600000,
} as const;
type Name = keyof typeof values;

const names: readonly Name[] = Object.keys(values).filter((key): key is Name => key in values);
const kinds = {
  none: ["missing", "null"],
  numbers: ["#5", "#5.5", "#0", "#1", "#-3", "#large", "#exact", "#epoch"],
  flags: ["yes", "no"],
  arrays: ["[]", "[mixed]", "[texts]", "[nested]"],
  objects: ["{}", "{plan}"],
  dates: ["day", "recent", "exactly", "future", "tomorrow", "spaced", "past"],
  words: ["noday", "nodate", "word", "julian"],
} as const satisfies Record<string, readonly Name[]>;
const present = names.filter((name) => name !== "missing" && name !== "null");
const texts = present.filter((name) => typeof values[name] === "string");
const allExcept = (...excluded: Name[]) => present.filter((name) => !excluded.includes(name));

const withFive = ["noclock", "local", "exponent", "comma"] as const;

type Case = [operator: string, value: unknown, matches: readonly Name[], unit?: string];
const cases: Case[] = [
  ["exists", undefined, present],
  ["notExists", undefined, kinds.none],

  ["equals", "", ["empty"]],
  ["equals", "5", ["five"]],
  ["equals", "pro", ["pro"]],
  ["equals", "PRO", ["PRO"]],
  ["equals", "true", ["true"]],
  ["equals", "é", ["eé"]],
  ["equals", "e\u0301", []],
  ["equals", '["pro"]', ["list"]],
  ["equals", '{"a":1}', ["shape"]],
  ["equals", '{"plan":"pro"}', []],
  ["equals", "[]", []],
  ["equals", "{}", []],
  ["equals", 5, ["#5"]],
  ["equals", 5.5, ["#5.5"]],
  ["equals", 0, ["#0"]],
  ["equals", -0, ["#0"]],
  ["equals", 1, ["#1"]],
  ["equals", -3, ["#-3"]],
  ["equals", 495133191048934140, ["#large"]],
  ["equals", 0.1 + 0.2, ["#exact"]],
  ["equals", 0.3, []],
  ["equals", true, ["yes"]],
  ["equals", false, ["no"]],
  ["equals", "null", []],
  ["equals", "%", []],
  ["equals", "' OR 1=1 --", []],

  ["notEquals", "5", allExcept("five")],
  ["notEquals", "", allExcept("empty")],
  ["notEquals", "nothing like it", present],
  ["notEquals", 5, allExcept("#5")],
  ["notEquals", 1, allExcept("#1")],
  ["notEquals", 0, allExcept("#0")],
  ["notEquals", true, allExcept("yes")],
  ["notEquals", false, allExcept("no")],
  ["notEquals", '["pro"]', allExcept("list")],

  ["contains", "pro", ["pro", "product", "list", "[mixed]"]],
  ["contains", "PRO", ["PRO"]],
  ["contains", "", texts],
  ["contains", "5", ["five", "julian", "past", "spaced", "[texts]", ...withFive]],
  ["contains", "true", ["true", "[texts]"]],
  ["contains", "é", ["eé", "[mixed]"]],
  ["contains", '"', ["list", "shape"]],
  ["contains", "[", ["list"]],
  ["contains", '["pro"]', ["list"]],
  ["contains", "%", []],
  ["contains", "_", ["grouped"]],
  ["contains", 5, ["[mixed]"]],
  ["contains", 1, []],
  ["contains", true, ["[mixed]"]],
  ["contains", false, []],

  ["notContains", "pro", allExcept("pro", "product", "list", "[mixed]")],
  ["notContains", "", allExcept(...texts)],
  ["notContains", 5, allExcept("[mixed]")],
  ["notContains", true, allExcept("[mixed]")],
  ["notContains", false, present],
  ["notContains", "never there", present],

  ["greaterThan", 5, ["#5.5", "#large", "#epoch"]],
  ["greaterThan", 0, ["#5", "#5.5", "#1", "#large", "#exact", "#epoch"]],
  ["greaterThan", -1e300, kinds.numbers],
  ["greaterThan", 1e300, []],
  ["greaterThan", 495133191048934100, ["#large"]],
  ["greaterThan", 495133191048934140, []],
  ["greaterThanOrEqual", 495133191048934140, ["#large"]],
  ["greaterThanOrEqual", 5, ["#5", "#5.5", "#large", "#epoch"]],
  ["greaterThanOrEqual", 0, ["#5", "#5.5", "#0", "#1", "#large", "#exact", "#epoch"]],
  ["lessThan", 1, ["#0", "#-3", "#exact"]],
  ["lessThan", 0, ["#-3"]],
  ["lessThan", 1e300, kinds.numbers],
  ["lessThanOrEqual", 1, ["#0", "#1", "#-3", "#exact"]],
  ["lessThanOrEqual", 0.30000000000000004, ["#0", "#-3", "#exact"]],
  // A date is compared with dates only, and a date without time is the whole day in UTC.
  ["lessThan", "2026-03-01", ["past"]],
  ["lessThanOrEqual", "2026-03-01", ["day", "past"]],
  ["greaterThan", "2026-03-01", ["recent", "exactly", "future", "tomorrow", "spaced"]],
  ["greaterThan", "2026-03-02", ["tomorrow"]],
  ["greaterThanOrEqual", "2026-03-02", ["recent", "exactly", "future", "tomorrow", "spaced"]],
  ["greaterThan", "2026-03-02T10:00:00Z", ["future", "tomorrow"]],
  ["greaterThanOrEqual", "2026-03-02T10:00:00Z", ["exactly", "future", "tomorrow"]],
  ["lessThan", "2026-03-02T12:00:00+02:00", ["day", "recent", "spaced", "past"]],
  ["lessThanOrEqual", "2026-03-02T10:00:00.000Z", ["day", "recent", "exactly", "spaced", "past"]],

  ["in", ["pro"], ["pro"]],
  ["in", ["pro", "PRO", "nothing"], ["pro", "PRO"]],
  ["in", ["5"], ["five"]],
  ["in", [5], ["#5"]],
  ["in", [1], ["#1"]],
  ["in", [0, 1], ["#0", "#1"]],
  ["in", [true], ["yes"]],
  ["in", [true, false], ["yes", "no"]],
  ["in", ["1", 5.5, false, ""], ["one", "#5.5", "no", "empty"]],
  ["in", ["true"], ["true"]],
  ["in", ['["pro"]', "[]"], ["list"]],
  ["in", [495133191048934140], ["#large"]],
  ["in", [0.1 + 0.2], ["#exact"]],
  ["notIn", ["pro"], allExcept("pro")],
  ["notIn", ["5", 5], allExcept("five", "#5")],
  ["notIn", [1, true], allExcept("#1", "yes")],
  ["notIn", ["nothing like it"], present],
  ["notIn", ['["pro"]'], allExcept("list")],

  ["within", 1, ["recent", "exactly", "spaced"], "days"],
  ["within", 2, ["day", "recent", "exactly", "spaced"], "days"],
  ["within", 30, ["recent", "exactly", "spaced"], "minutes"],
  ["within", 29, ["exactly", "spaced"], "minutes"],
  ["within", 10, ["recent", "exactly", "spaced"], "hours"],
  ["within", 34, ["day", "recent", "exactly", "spaced"], "hours"],
  ["within", 33, ["recent", "exactly", "spaced"], "hours"],
  ["within", 10_000_000, ["day", "recent", "exactly", "spaced", "past"], "days"],
  ["olderThan", 1, ["day", "past"], "days"],
  ["olderThan", 34, ["past"], "hours"],
  ["olderThan", 1, ["day", "recent", "past"], "minutes"],
  ["olderThan", 30, ["day", "past"], "minutes"],
  ["olderThan", 29, ["day", "recent", "past"], "minutes"],
  ["olderThan", 10_000_000, [], "days"],
  ["anniversary", undefined, ["recent", "exactly", "future", "spaced"]],
];

let t: TestApp;
const seqs = new Map<Name, number>();
const dataOf = (name: Name) => (name === "missing" ? {} : { x: values[name] });
beforeAll(async () => {
  t = await testApp();
  for (const name of names) seqs.set(name, addContact(t, { data: dataOf(name) }));
});
afterAll(() => t.close());

async function namesThatMeet(filter: NaiveFilter): Promise<Name[]> {
  const condition = { logic: "AND" as const, groups: [{ filters: [filter] }] };
  const found = await findMatching(t, condition, [...seqs.values()]);
  return names.filter((name) => found.includes(seqs.get(name) ?? 0));
}

describe(`every operator against ${names.length} values`, () => {
  for (const [operator, value, matches, unit] of cases) {
    const filter = { field: "data.x", operator, value, ...(unit === undefined ? {} : { unit }) };
    test(`${operator} ${JSON.stringify(value)} ${unit ?? ""}`, async () => {
      const world = { now: NOW, dynamic: {} };
      const naive = names.filter((name) =>
        matchesFilter(world, { ...plain, data: dataOf(name) }, filter),
      );
      expect(naive).toEqual(names.filter((name) => matches.includes(name)));
      expect(await namesThatMeet(filter)).toEqual(naive);
    });
  }
});

test("the longest text is searched for in the longest texts", async () => {
  const own = await testApp();
  for (let i = 0; i < 5; i++) {
    const data = { x: "a".repeat(65_000) };
    await own.create("/contacts", { email: `a${i}@x.test`, data }, "id");
  }
  const filters = [{ field: "data.x", operator: "notContains", value: `${"a".repeat(999)}b` }];
  const condition = { logic: "AND", groups: [{ filters }] };
  const id = await own.create("/segments", { name: "S", condition }, "data.id");
  const page = await own.call("GET", `/segments/${id}/contacts`);
  expect(page.at("data.total")).toBe(5);
  await own.close();
});

test.each([
  ["1990-03-02", "2026-03-02T23:59:59Z", true],
  ["1990-03-02T10:00:00Z", "2026-03-02T00:00:00Z", true],
  ["1990-03-02", "2026-03-03T00:00:00Z", false],
  ["2000-02-29", "2026-02-28T12:00:00Z", true],
  ["2000-02-29", "2028-02-28T12:00:00Z", false],
  ["2000-02-29", "2028-02-29T12:00:00Z", true],
  ["2000-02-28", "2026-02-28T12:00:00Z", true],
  ["03-02", "2026-03-02T12:00:00Z", false],
])("the anniversary of %s is at %s: %p", (value, now, holds) => {
  const checked = checkFilter({ field: "data.x", operator: "anniversary" }, "filter");
  if (!checked.ok || checked.value.test.kind !== "field") throw new Error("no test of a field");
  const context = { projectSeq: t.project.seq, now: Date.parse(now) };
  const { audiences } = segmentService(t.app.app);
  expect(audiences.holdsForData(checked.value.test, { x: value }, context)).toBe(holds);
});
