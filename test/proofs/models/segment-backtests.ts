/**
 * Compares backtests of segments with the members that they really had: contacts have random events and
 * choices while the clock moves, and at the end of each day the members of random segments are read.
 */

import { expect } from "bun:test";
import { type Aim, limitAim, presenceAim } from "../../../scripts/bench/report.ts";
import { DAY, HOUR, MINUTE } from "../../modules/segments/crowd.ts";
import type { NaiveFilter } from "../../modules/segments/naive.ts";
import { type Random, seeded } from "../../modules/segments/seeded.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { backtestOf } from "../../support/backtests.ts";
import { DATES, EVENTS, KEYS, makeCondition, makeFilter, SCALARS } from "./segments.ts";

const TRACKED = EVENTS.filter((name) => !name.startsWith("email."));
const JUMPS = [7, 61_000, 10 * MINUTE, HOUR, 7 * HOUR, 25 * HOUR];
/** Days that are replayed, so that some events are older. */
const DAYS = 9;

/** `events` happen to `contacts`, who are members of some of the `segments`. */
export async function compareSegmentBacktests(size: {
  segments: number;
  contacts: number;
  events: number;
  seed: number;
}): Promise<Aim[]> {
  const t = await testApp();
  try {
    return await compareIn(t, size);
  } finally {
    await t.close();
  }
}

async function compareIn(
  t: TestApp,
  size: { segments: number; contacts: number; events: number; seed: number },
): Promise<Aim[]> {
  const random = seeded(size.seed);
  const world = await makeWorld(t, random, size.segments);
  const people = Array.from({ length: size.contacts }, (_, i) => `p${i}@example.com`);
  const lived: Lived = new Map();
  let known = 1;
  const actOnce = () => {
    const email = random.pick(people.slice(0, known));
    return act(t, random, { email, topicId: world.topicId });
  };
  /** Something happens in the last millisecond of a day, and in the first one of the next day. */
  async function endDay(): Promise<void> {
    await actOnce();
    await readMembers(t, world, lived);
    t.clock.advance(1);
    await actOnce();
  }
  for (let i = 0; i < size.events; i++) {
    // New contacts come all the time.
    known = 1 + Math.floor((i * people.length) / size.events);
    await moveClock(t, random.pick(JUMPS), endDay);
    await actOnce();
  }
  let different = 0;
  let entries = 0;
  let exits = 0;
  for (const { id, condition } of world.segments) {
    // Each condition is tried as an edit of another segment, too.
    const isEdit = random.chance(0.5);
    const path = `/segments/${isEdit ? world.other : id}`;
    const found = await backtestOf(t, path, { days: DAYS, ...(isEdit && { condition }) });
    const expected = await expectedOf(t, lived, id);
    if (!Bun.deepEquals(replayed(found), expected.days) || !areEntries(found, expected.entered)) {
      different++;
      console.error(JSON.stringify({ seed: size.seed, condition, found, expected }, null, 1));
    }
    entries += Number(valueAt(found, "result.entered"));
    exits += Number(valueAt(found, "result.left"));
  }
  return [
    limitAim("segments whose backtest differs from the members they had", different),
    presenceAim("entries", entries, size.segments),
    presenceAim("exits", exits, size.segments / 2),
  ];
}

type World = {
  topicId: string;
  segments: readonly { id: string; condition: object }[];
  /** A DYNAMIC segment to which no condition refers. */
  other: string;
};
/** The addresses of the members of each segment, by the end of each day. */
type Lived = Map<number, Map<string, ReadonlySet<string>>>;

async function makeWorld(t: TestApp, random: Random, count: number): Promise<World> {
  const topicId = await t.create("/topics", { name: "News", default: "SUBSCRIBED" }, "data.id");
  const create = (body: object) => t.create("/segments", { name: "s", ...body }, "data.id");
  const [one, two] = ["early0@example.com", "early1@example.com"];
  for (const email of [one, two]) await t.call("POST", "/contacts", { email });
  const list = await create({ type: "STATIC" });
  await t.call("POST", `/segments/${list}/members`, { emails: [one] });
  const segments: { id: string; condition: object }[] = [];
  for (let i = 0; i < count; i++) {
    const known = [list, ...segments.slice(0, 2).map(({ id }) => id)];
    const one = () => makeTest(random, known);
    // A test that stands alone matches more contacts than several together.
    const condition = random.chance(0.6) ? only(one()) : makeCondition(random, one, 3);
    segments.push({ id: await create({ condition }), condition });
  }
  const condition = only({ field: "email", operator: "equals", value: two });
  return { topicId, segments, other: await create({ condition }) };
}

const only = (filter: NaiveFilter) => ({ logic: "AND", groups: [{ filters: [filter] }] });

function makeTest(random: Random, segments: readonly string[]): NaiveFilter {
  const field = `event.${random.pick(TRACKED)}`;
  const value = 1 + random.int(4);
  const span = { value: 1 + random.int(60), unit: "hours" };
  return random.pick<() => NaiveFilter>([
    () => makeFilter(random, segments),
    () => ({ field: "topic.news", operator: "equals", value: random.chance(0.5) }),
    () => ({ field: random.pick(["createdAt", "updatedAt"]), operator: "within", ...span }),
    () => ({ field, operator: "triggeredWithin", ...span }),
    () => ({ field, operator: random.pick(["triggeredOlderThan", "notTriggeredWithin"]), ...span }),
    () => ({
      field,
      operator: random.pick(["triggeredAtLeast", "triggeredLessThan"]),
      value,
    }),
    () => ({ field, operator: "triggeredWith", property: "n", test: "greaterThan", value }),
  ])();
}

/** Moves the clock. In the last millisecond of each day in UTC, `endDay` moves it to the next day. */
async function moveClock(t: TestApp, ms: number, endDay: () => Promise<void>): Promise<void> {
  const until = t.clock.now() + ms;
  const endOfDay = () => t.clock.now() - (t.clock.now() % DAY) + DAY - 1;
  while (endOfDay() <= until) {
    t.clock.advance(endOfDay() - t.clock.now());
    await endDay();
  }
  t.clock.advance(Math.max(0, until - t.clock.now()));
}

async function act(
  t: TestApp,
  random: Random,
  { email, topicId }: { email: string; topicId: string },
): Promise<void> {
  if (random.chance(0.15)) {
    const known = await t.call("GET", `/contacts?search=${email}`);
    const id = valueAt(listAt(known.body, "items")[0], "id");
    if (typeof id !== "string") return;
    const topics = [{ topicId, subscribed: random.chance(0.5) }];
    expect((await t.call("PUT", `/contacts/${id}/topics`, { topics })).status).toBe(200);
    return;
  }
  const values = [...SCALARS, ...DATES, null];
  const data = random.list(2, () => [random.pick(KEYS), random.pick(values)] as const);
  const answer = await t.call("POST", "/v1/track", {
    email,
    event: random.pick(TRACKED),
    data: { ...Object.fromEntries(data), n: random.int(6) },
    ...(random.chance(0.3) ? { subscribed: random.chance(0.5) } : {}),
  });
  expect(answer.status).toBe(200);
}

async function membersNow(t: TestApp, segmentId: string): Promise<ReadonlySet<string>> {
  const { audiences, audienceOf } = t.app.segments;
  const bounds = { beforeSeq: null, limit: 1_000 };
  const rows = await audiences.page(audienceOf(t.project.seq, segmentId), bounds);
  return new Set(rows.map(({ email }) => email));
}

async function readMembers(t: TestApp, { segments }: World, lived: Lived): Promise<void> {
  const members = new Map<string, ReadonlySet<string>>();
  for (const { id } of segments) members.set(id, await membersNow(t, id));
  lived.set(t.clock.now() - (t.clock.now() % DAY), members);
}

type DayCount = { day: string; members: number; entered: number; left: number };

async function expectedOf(t: TestApp, lived: Lived, id: string) {
  const today = t.clock.now() - (t.clock.now() % DAY);
  const present = await membersNow(t, id);
  const at = (day: number) => (day === today ? present : (lived.get(day)?.get(id) ?? new Set()));
  const entered = new Set<string>();
  const days = Array.from({ length: DAYS }, (_, i): DayCount => {
    const time = today - (DAYS - 1 - i) * DAY;
    const [members, before] = [at(time), at(time - DAY)];
    const day = new Date(time).toISOString().slice(0, 10);
    const fresh = [...members].filter((email) => !before.has(email));
    for (const email of fresh) entered.add(`${day} ${email}`);
    const left = [...before].filter((email) => !members.has(email)).length;
    return { day, members: members.size, entered: fresh.length, left };
  });
  return { days, entered };
}

const replayed = (found: unknown): DayCount[] =>
  listAt(found, "result.days").map((each) => ({
    day: stringAt(each, "day"),
    members: Number(valueAt(each, "members")),
    entered: Number(valueAt(each, "entered")),
    left: Number(valueAt(each, "left")),
  }));

/** True if the examples are contacts that entered on these days: all of them, or ten. */
function areEntries(found: unknown, entered: ReadonlySet<string>): boolean {
  const examples = new Set(
    listAt(found, "result.examples").map(
      (each) => `${stringAt(each, "day")} ${stringAt(each, "contactEmail")}`,
    ),
  );
  return (
    examples.size === Math.min(10, entered.size) && [...examples].every((each) => entered.has(each))
  );
}
