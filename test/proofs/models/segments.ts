/** With random conditions and contacts, the compiled SQL and the simple evaluator must agree. */

import { expect } from "bun:test";
import { type Aim, limitAim, presenceAim } from "../../../scripts/bench/report.ts";
import { addContact, DAY, findMatching, HOUR, NOW, plain } from "../../modules/segments/crowd.ts";
import {
  meets,
  type NaiveCondition,
  type NaiveContact,
  type NaiveFilter,
} from "../../modules/segments/naive.ts";
import { type Random, seeded } from "../../modules/segments/seeded.ts";
import { type TestApp, testApp } from "../../support/app.ts";

const CONTACTS = 80;

export const EVENTS = ["login", "email.opened", "email.clicked", "a.b", "it's"];
export const KEYS = ["plan", "score", "tags", "when", "company", "o'dd key"];
export const SCALARS = [
  "",
  "pro",
  "PRO",
  "free",
  "5",
  "true",
  "é",
  "😀",
  '["pro"]',
  0,
  1,
  5,
  -2.5,
  1e21,
  0.1 + 0.2,
  true,
  false,
];
const VALID_DATES = [
  "2026-03-02",
  "2026-03-02T09:59:00Z",
  "2026-02-20T12:00:00.5+02:00",
  "2025-12-31",
  "2026-03-04",
];
export const DATES = [...VALID_DATES, "2026-02-31", "soon"];
const TEXTS = ["equals", "notEquals", "contains", "notContains", "startsWith", "endsWith"];
const ORDER = ["greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"];

function makeContact(random: Random, i: number, statics: readonly string[]): NaiveContact {
  const at = () => NOW - random.int(40 * 24) * HOUR;
  const value = (depth: number): unknown =>
    random.pick([
      () => random.pick(SCALARS),
      () => random.pick(DATES),
      () => null,
      () => random.list(3, () => (depth > 2 ? 1 : value(depth + 1))),
      () => (depth > 2 ? {} : Object.fromEntries([[random.pick(KEYS), value(depth + 1)]])),
    ])();
  return {
    ...plain,
    email: random.pick(["ada", "bob", "é"]) + i + random.pick(["@example.com", "@mail.test"]),
    subscribed: random.chance(0.7),
    createdAt: at(),
    updatedAt: at(),
    data: Object.fromEntries(random.list(6, () => [random.pick(KEYS), value(0)])),
    events: Object.fromEntries(random.list(5, () => [random.pick(EVENTS), at()])),
    segments: statics.filter(() => random.chance(0.4)),
  };
}

export function makeFilter(random: Random, segments: readonly string[]): NaiveFilter {
  const span = () =>
    random.pick([
      { value: 1 + random.int(45), unit: "days" },
      { value: 1 + random.int(900), unit: "hours" },
      { value: 1 + random.int(5000), unit: "minutes" },
    ]);
  const path = () => {
    const length = random.pick([1, 1, 1, 2, 3]);
    return `data.${Array.from({ length }, () => random.pick(KEYS)).join(".")}`;
  };
  return random.pick<() => NaiveFilter>([
    () => ({
      field: "email",
      operator: random.pick(TEXTS),
      value: random.pick(["a", "ADA", "@example.com", "b", "é", "É", "@", ""]),
    }),
    () => ({
      field: "subscribed",
      operator: random.pick(["equals", "notEquals"]),
      value: random.chance(0.5),
    }),
    () => ({
      field: random.pick(["createdAt", "updatedAt"]),
      operator: random.pick(["equals", "notEquals", ...ORDER]),
      value: new Date(NOW - random.int(40) * DAY).toISOString().slice(0, random.pick([10, 24])),
    }),
    () => ({
      field: random.pick(["createdAt", "updatedAt"]),
      operator: random.pick(["within", "olderThan"]),
      ...span(),
    }),
    () => ({
      field: path(),
      operator: random.pick(["equals", "notEquals", "contains", "notContains"]),
      value: random.pick([...SCALARS, ...DATES]),
    }),
    () => ({
      field: path(),
      operator: random.pick(ORDER),
      value: random.pick([...SCALARS.filter((s) => typeof s === "number"), ...VALID_DATES]),
    }),
    () => ({ field: path(), operator: random.pick(["exists", "notExists"]) }),
    () => ({
      field: path(),
      operator: random.pick(["in", "notIn"]),
      value: [random.pick(SCALARS), ...random.list(4, () => random.pick(SCALARS))],
    }),
    () => ({ field: path(), operator: random.pick(["within", "olderThan"]), ...span() }),
    () => ({
      field: random.pick([...EVENTS.map((name) => `event.${name}`), "email.opened", "email.sent"]),
      operator: random.pick(["triggered", "notTriggered"]),
    }),
    () => ({
      field: `event.${random.pick(EVENTS)}`,
      operator: random.pick(["triggeredWithin", "notTriggeredWithin", "triggeredOlderThan"]),
      ...span(),
    }),
    () => ({
      field: `segment.${random.pick(segments)}`,
      operator: random.pick(["memberOf", "notMemberOf"]),
    }),
  ])();
}

export function makeCondition(
  random: Random,
  makeOne: () => NaiveFilter,
  depth = 1,
): NaiveCondition {
  const group = () => {
    const filters = random.list(3, makeOne);
    if (depth < 4 && random.chance(0.25)) {
      return { filters, conditions: makeCondition(random, makeOne, depth + 1) };
    }
    return { filters: filters.length > 0 ? filters : [makeOne()] };
  };
  return { logic: random.pick(["AND", "OR"]), groups: [group(), ...random.list(2, group)] };
}

/** Compares both evaluators on so many random conditions and the contacts. */
export async function compareSegments(size: { conditions: number; seed: number }): Promise<Aim[]> {
  const t = await testApp();
  try {
    return await compareConditions(t, size);
  } finally {
    await t.close();
  }
}

async function compareConditions(
  t: TestApp,
  { conditions, seed }: { conditions: number; seed: number },
): Promise<Aim[]> {
  const random = seeded(seed);
  const create = (body: object) => t.create("/segments", { name: "s", ...body }, "data.id");
  const statics = [await create({ type: "STATIC" }), await create({ type: "STATIC" })];
  const dynamic: Record<string, NaiveCondition> = {};
  for (let i = 0; i < 6; i++) {
    const known = [...statics, ...Object.keys(dynamic).slice(0, 2)];
    const condition = makeCondition(random, () => makeFilter(random, known), 3);
    dynamic[await create({ condition })] = condition;
  }
  const world = { now: NOW, dynamic };
  const segments = [...statics, ...Object.keys(dynamic)];

  // Contacts of another project with the same kind of data, which must never match.
  const stranger = await t.makeProject("stranger");
  const strangers = Array.from({ length: 20 }, (_, i) =>
    addContact(t, makeContact(random, i, []), stranger.project.seq),
  );
  const contacts = Array.from({ length: CONTACTS }, (_, i) => {
    const contact = makeContact(random, i, statics);
    return { contact, seq: addContact(t, contact) };
  });
  const among = [...contacts.map(({ seq }) => seq), ...strangers];

  let matched = 0;
  for (let i = 0; i < conditions; i++) {
    const condition = makeCondition(random, () => makeFilter(random, segments));
    const found = await findMatching(t, condition, among);
    const wanted = contacts.filter(({ contact }) => meets(world, contact, condition));
    const differing = contacts.filter(
      ({ contact, seq }) => found.includes(seq) !== meets(world, contact, condition),
    );
    expect({ seed, condition, differing }).toEqual({ seed, condition, differing: [] });
    expect(found).toEqual(wanted.map(({ seq }) => seq));
    matched += found.length;
  }
  // The comparison is only useful if the conditions match some contacts and not others.
  const pairs = CONTACTS * conditions;
  return [
    presenceAim("pairs that match", matched, pairs * 0.1),
    limitAim("pairs that match", matched, pairs * 0.9),
  ];
}
