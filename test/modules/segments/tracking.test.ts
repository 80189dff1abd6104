/** Tracked segments: who came and who went, told once each, whatever happens in between. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { seeded } from "./seeded.ts";

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
});
afterEach(() => t.close());

const MINUTES = 60_000;

type Filter = { field: string; operator: string; value?: unknown; unit?: string };
const wrap = (...filters: Filter[]) => ({ logic: "AND", groups: [{ filters }] });
const plan = (value: string) => ({ field: "data.plan", operator: "equals", value });
const memberOf = (id: string) => ({ field: `segment.${id}`, operator: "memberOf" });
const loginWithin = (value: number, unit: string) => ({
  field: "event.login",
  operator: "triggeredWithin",
  value,
  unit,
});

const create = (body: object) =>
  t.create("/segments", { name: "Pro", trackMembership: true, ...body }, "data.id");
const patch = (id: string, body: object) => t.call("PATCH", `/segments/${id}`, body);
const upsert = (email: string, data: object = {}) => t.call("POST", "/contacts", { email, data });
const track = (email: string, event: string) => t.call("POST", "/v1/track", { email, event });
const recompute = () => t.app.segments.recompute();

/** `segment.<slug>.entry` and the like with the address, oldest first. */
function told(): string[] {
  return t.db.sqlite
    .query<{ line: string }, []>(
      `SELECT events.name || ' ' || coalesce(contacts.email, 'nobody') AS line
       FROM events LEFT JOIN contacts ON contacts.seq = events.contact_seq
       WHERE events.name LIKE 'segment.%' ORDER BY events.seq`,
    )
    .all()
    .map(({ line }) => line);
}

const members = (id: string): string[] =>
  t.db.sqlite
    .query<{ email: string }, [string]>(
      `SELECT contacts.email FROM segment_members
       JOIN contacts ON contacts.seq = contact_seq JOIN segments ON segments.seq = segment_seq
       WHERE segments.id = ? ORDER BY contacts.seq`,
    )
    .all(id)
    .map(({ email }) => email);

/** Past the interface, for large numbers. */
function addPeople(count: number, plan: string): void {
  const insert = t.db.sqlite.prepare(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     VALUES (?, ?, ?, 1, ?, ?, ?)`,
  );
  const [now, data] = [t.clock.now(), JSON.stringify({ plan })];
  for (let i = 0; i < count; i++) insert.run(`c${i}`, t.project.seq, `c${i}@b.co`, data, now, now);
}

describe("entry and exit", () => {
  test("of a contact that is made, and changes", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    await upsert("ada@example.com", { plan: "pro" });
    await upsert("bob@example.com", { plan: "free" });
    await recompute();
    expect(told()).toEqual(["segment.pro.entry ada@example.com"]);
    await upsert("bob@example.com", { plan: "pro" });
    await upsert("ada@example.com", { plan: "free" });
    await recompute();
    await recompute();
    expect(told().slice(1).sort()).toEqual([
      "segment.pro.entry bob@example.com",
      "segment.pro.exit ada@example.com",
    ]);
    expect(members(id)).toEqual(["bob@example.com"]);
  });

  test("carry the segment, and belong to the contact", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    const contact = (await upsert("ada@example.com", { plan: "pro" })).text("id");
    await recompute();
    const events = await t.call("GET", "/events?event=segment.pro.entry");
    expect(events.at("data.items.0")).toMatchObject({
      contactId: contact,
      data: { segmentId: id, segmentName: "Pro" },
    });
  });

  test("by an event, at the next run", async () => {
    await upsert("ada@example.com");
    await create({ name: "Active", condition: wrap(loginWithin(30, "days")) });
    await create({
      name: "Lost",
      condition: wrap({ field: "event.login", operator: "notTriggered" }),
    });
    for (let i = 0; i < 2; i++) {
      await recompute();
      t.clock.advance(MINUTES);
    }
    expect(told()).toEqual([]);
    await track("ada@example.com", "login");
    await recompute();
    expect(told()).toEqual([
      "segment.active.entry ada@example.com",
      "segment.lost.exit ada@example.com",
    ]);
  });

  test("by an event that no segment asks for: nothing", async () => {
    await create({ condition: wrap(loginWithin(30, "days")) });
    await track("ada@example.com", "logout");
    await recompute();
    expect(told()).toEqual([]);
  });

  test("by time alone, within five minutes", async () => {
    await create({ name: "Active", condition: wrap(loginWithin(10, "minutes")) });
    await track("ada@example.com", "login");
    await recompute();
    expect(told()).toEqual(["segment.active.entry ada@example.com"]);
    for (let minute = 0; minute <= 10; minute++) {
      t.clock.advance(MINUTES);
      await recompute();
    }
    t.clock.advance(4 * MINUTES);
    await recompute();
    expect(told()).toEqual([
      "segment.active.entry ada@example.com",
      "segment.active.exit ada@example.com",
    ]);
  });

  test("by the members of a STATIC segment that it refers to", async () => {
    const list = await create({ name: "List", type: "STATIC", trackMembership: false });
    await upsert("ada@example.com", { plan: "pro" });
    await create({ name: "Chosen", condition: wrap(memberOf(list), plan("pro")) });
    await recompute();
    t.clock.advance(MINUTES);
    await recompute();
    const emails = ["ada@example.com"];
    await t.call("POST", `/segments/${list}/members`, { emails });
    await recompute();
    await t.call("DELETE", `/segments/${list}/members`, { emails });
    await recompute();
    expect(told()).toEqual([
      "segment.chosen.entry ada@example.com",
      "segment.chosen.exit ada@example.com",
    ]);
  });

  test("by the event of another segment", async () => {
    await create({ condition: wrap(plan("pro")) });
    await create({
      name: "Once pro",
      condition: wrap({ field: "event.segment.pro.entry", operator: "triggered" }),
    });
    await upsert("ada@example.com", { plan: "pro" });
    await recompute();
    await recompute();
    expect(told()).toEqual([
      "segment.pro.entry ada@example.com",
      "segment.once-pro.entry ada@example.com",
    ]);
  });

  test("not of a contact that is deleted", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    const contact = (await upsert("ada@example.com", { plan: "pro" })).text("id");
    await recompute();
    await t.call("DELETE", `/contacts/${contact}`);
    await recompute();
    expect([told(), members(id)]).toEqual([["segment.pro.entry nobody"], []]);
  });

  test("many at once", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    addPeople(3000, "pro");
    await recompute();
    expect([told().length, members(id).length]).toEqual([3000, 3000]);
    t.db.sqlite.run(
      "UPDATE contacts SET data = '{}', updated_at = updated_at + 1 WHERE seq % 2 = 0",
    );
    await recompute();
    expect([told().length, members(id).length]).toEqual([4500, 1500]);
  });
});

describe("events tell that a contact changed, not that a definition did", () => {
  beforeEach(async () => {
    await upsert("ada@example.com", { plan: "pro" });
    await upsert("bob@example.com", { plan: "free" });
  });

  test("those who are in a new segment have not entered it", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    expect(members(id)).toEqual(["ada@example.com"]);
    await recompute();
    expect(told()).toEqual([]);
  });

  test("another condition: nobody enters or leaves", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    await patch(id, { condition: wrap(plan("free")) });
    expect(members(id)).toEqual(["bob@example.com"]);
    await recompute();
    expect(told()).toEqual([]);
    await upsert("ada@example.com", { plan: "free" });
    await recompute();
    expect(told()).toEqual(["segment.pro.entry ada@example.com"]);
  });

  test("another condition of a segment that it refers to: nobody does", async () => {
    const inner = await create({
      name: "Inner",
      trackMembership: false,
      condition: wrap(plan("pro")),
    });
    const outer = await create({ name: "Outer", condition: wrap(memberOf(inner)) });
    await patch(inner, { condition: wrap(plan("free")) });
    expect(members(outer)).toEqual(["bob@example.com"]);
    await recompute();
    expect(told()).toEqual([]);
  });

  test("another name: the slug, and so the events, stay", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    await patch(id, { name: "Gold" });
    await upsert("bob@example.com", { plan: "pro" });
    await recompute();
    expect(told()).toEqual(["segment.pro.entry bob@example.com"]);
  });

  test("tracking switched on, off and on again", async () => {
    const id = await create({ condition: wrap(plan("pro")), trackMembership: false });
    expect(members(id)).toEqual([]);
    await patch(id, { trackMembership: true });
    expect(members(id)).toEqual(["ada@example.com"]);
    await patch(id, { trackMembership: false });
    await upsert("bob@example.com", { plan: "pro" });
    await recompute();
    expect(members(id)).toEqual([]);
    await patch(id, { trackMembership: true });
    expect(members(id)).toEqual(["ada@example.com", "bob@example.com"]);
    await recompute();
    expect(told()).toEqual([]);
    await upsert("ada@example.com", { plan: "free" });
    await recompute();
    expect(told()).toEqual(["segment.pro.exit ada@example.com"]);
  });
});

test("a condition that changes while a run is under way: the run stops there", async () => {
  const id = await create({ condition: wrap(plan("pro")) });
  addPeople(3000, "pro");
  const run = recompute();
  while (told().length === 0) await Bun.sleep(0);
  await patch(id, { condition: wrap(plan("free")) });
  const count = told().length;
  await run;
  await recompute();
  expect([told().length, members(id).length]).toEqual([count, 0]);
  expect(count).toBeLessThan(3000);
});

describe("after a stop", () => {
  async function restart() {
    await t.close();
    t = await testApp({ db: t.db, clock: t.clock });
  }

  test("what changed meanwhile is told", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    await upsert("ada@example.com", { plan: "pro" });
    await restart();
    await recompute();
    expect(told()).toEqual(["segment.pro.entry ada@example.com"]);
    t.db.sqlite.run("UPDATE contacts SET data = '{}'");
    await restart();
    await recompute();
    expect([told().slice(1), members(id)]).toEqual([["segment.pro.exit ada@example.com"], []]);
  });

  test("in the middle of recording the first members: they are recorded, and nothing is told", async () => {
    await upsert("ada@example.com", { plan: "pro" });
    const id = await create({ condition: wrap(plan("pro")) });
    t.db.sqlite.run("UPDATE segments SET baseline_at = NULL");
    t.db.sqlite.run("DELETE FROM segment_members");
    await restart();
    await recompute();
    expect([members(id), told()]).toEqual([["ada@example.com"], []]);
    await upsert("bob@example.com", { plan: "pro" });
    await recompute();
    expect(told()).toEqual(["segment.pro.entry bob@example.com"]);
  });
});

test("where the event cannot be written, the member is not either; the next run does both", async () => {
  const id = await create({ condition: wrap(plan("pro")) });
  await recompute();
  t.db.sqlite.run(`CREATE TRIGGER refuse BEFORE INSERT ON events WHEN new.name LIKE 'segment.%'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  await upsert("ada@example.com", { plan: "pro" });
  await recompute();
  await recompute();
  expect([told(), members(id)]).toEqual([[], []]);
  t.db.sqlite.run("DROP TRIGGER refuse");
  await recompute();
  await recompute();
  expect([told(), members(id)]).toEqual([
    ["segment.pro.entry ada@example.com"],
    ["ada@example.com"],
  ]);
});

test("two apps at work on the same segments tell everything once", async () => {
  await create({ condition: wrap(plan("pro")) });
  const twin = await testApp({ db: t.db, clock: t.clock });
  await upsert("ada@example.com", { plan: "pro" });
  await Promise.all([recompute(), twin.app.segments.recompute(), recompute()]);
  expect(told()).toEqual(["segment.pro.entry ada@example.com"]);
  await twin.close();
});

const SEED = Number(process.env["SEED"] ?? 4711);

test(`members and events always agree with what the conditions say (SEED=${SEED})`, async () => {
  const random = seeded(SEED);
  const emails = Array.from({ length: 12 }, (_, i) => `c${i}@example.com`);
  const list = await create({ name: "list", type: "STATIC", trackMembership: true });
  const inner = await create({ name: "inner", condition: wrap(plan("pro")) });
  const conditions = () =>
    random.pick([
      wrap(plan("pro")),
      wrap(loginWithin(20, "minutes")),
      wrap({ field: "event.login", operator: "notTriggeredWithin", value: 15, unit: "minutes" }),
      wrap(memberOf(list), memberOf(inner)),
      wrap({ field: `segment.${inner}`, operator: "notMemberOf" }),
      wrap({ field: "createdAt", operator: "olderThan", value: 30, unit: "minutes" }),
      wrap({ field: "subscribed", operator: "equals", value: false }),
    ]);
  const others: string[] = [];
  for (let i = 0; i < 4; i++) others.push(await create({ name: `s${i}`, condition: conditions() }));
  const segments = [inner, ...others];

  /** Who is a member, going by the events alone from where the definition last changed. */
  const believed = new Map<string, Set<string>>();
  const believe = () => {
    for (const id of segments) believed.set(id, new Set(members(id)));
  };
  let eventsSeen = told().length;
  believe();

  const steps: (() => Promise<unknown>)[] = [
    () => upsert(random.pick(emails), { plan: random.pick(["pro", "free"]) }),
    () => upsert(random.pick(emails), { plan: random.pick(["pro", "free"]) }),
    () => track(random.pick(emails), random.pick(["login", "logout"])),
    () =>
      t.call("POST", "/contacts", { email: random.pick(emails), subscribed: random.chance(0.5) }),
    () =>
      t.call("POST", `/segments/${list}/members`, {
        emails: [random.pick(emails)],
        createMissing: true,
      }),
    () => t.call("DELETE", `/segments/${list}/members`, { emails: [random.pick(emails)] }),
    async () => {
      const email = random.pick(emails);
      const id = (await t.call("GET", `/contacts?search=${email}`)).at("contacts.0.id");
      if (typeof id !== "string" || random.chance(0.7)) return;
      await t.call("DELETE", `/contacts/${id}`);
      for (const known of believed.values()) known.delete(email);
    },
    async () => t.clock.advance(random.int(6) * MINUTES),
    recompute,
  ];

  for (let round = 0; round < 30; round++) {
    for (let i = random.int(8); i > 0; i--) await random.pick(steps)();
    t.clock.advance(5 * MINUTES);
    await recompute();

    for (const line of told().slice(eventsSeen)) {
      const [, slug = "", fact, email = ""] = /^segment\.(.*)\.(entry|exit) (.*)$/.exec(line) ?? [];
      const id = segments[["inner", "s0", "s1", "s2", "s3"].indexOf(slug)];
      const known = id === undefined ? undefined : believed.get(id);
      if (known === undefined || email === "nobody") continue;
      expect(known.has(email)).toBe(fact === "exit");
      if (fact === "entry") known.add(email);
      else known.delete(email);
    }
    eventsSeen = told().length;
    for (const id of segments) {
      const now = await t.call("GET", `/segments/${id}/contacts?limit=100`);
      const emailsNow = t.db.sqlite
        .query<{ email: string }, [string]>(
          "SELECT email FROM contacts WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq",
        )
        .all(JSON.stringify(idsOf(now.at("data.items"))))
        .map(({ email }) => email);
      expect(members(id)).toEqual(emailsNow);
      expect([...(believed.get(id) ?? [])].sort()).toEqual(emailsNow.toSorted());
    }

    if (random.chance(0.15)) {
      await patch(random.pick(others), { condition: conditions() });
      believe();
      eventsSeen = told().length;
    }
    if (random.chance(0.1)) {
      await t.close();
      t = await testApp({ db: t.db, clock: t.clock });
    }
  }
}, 60_000);

function idsOf(items: unknown): unknown[] {
  return Array.isArray(items) ? items.map((item) => Reflect.get(item, "id")) : [];
}
