/** Tracked segments record each entry and exit exactly once, also after failures and restarts. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { seeded } from "./seeded.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

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

/** Returns entry and exit events as "name address", oldest first. */
function recordedEvents(): string[] {
  return t.db.sqlite
    .query<{ line: string }, [number]>(
      `SELECT events.name || ' ' || coalesce(contacts.email, 'nobody') AS line
       FROM events LEFT JOIN contacts ON contacts.seq = events.contact_seq
       WHERE events.project_seq = ? AND events.name LIKE 'segment.%' ORDER BY events.seq`,
    )
    .all(t.project.seq)
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

/** Inserts many contacts directly into the database. */
function insertContacts(count: number, plan: string): void {
  t.db.sqlite.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
     INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     SELECT printf('c%d-%d', n, ?2), ?2, printf('c%d@b.co', n), 1, json_object('plan', ?3), ?4, ?4
     FROM numbers`,
    [count, t.project.seq, plan, t.clock.now()],
  );
}

describe("entry and exit events", () => {
  test("are recorded for new and changed contacts", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    await upsert("ada@example.com", { plan: "pro" });
    await upsert("bob@example.com", { plan: "free" });
    await recompute();
    expect(recordedEvents()).toEqual(["segment.pro.entry ada@example.com"]);
    await upsert("bob@example.com", { plan: "pro" });
    await upsert("ada@example.com", { plan: "free" });
    await recompute();
    await recompute();
    expect(recordedEvents().slice(1).sort()).toEqual([
      "segment.pro.entry bob@example.com",
      "segment.pro.exit ada@example.com",
    ]);
    expect(members(id)).toEqual(["bob@example.com"]);
  });

  test("have the segment in their data and belong to the contact", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    const contact = (await upsert("ada@example.com", { plan: "pro" })).text("id");
    await recompute();
    const events = await t.call("GET", "/events?event=segment.pro.entry");
    expect(events.at("data.items.0")).toMatchObject({
      contactId: contact,
      data: { segmentId: id, segmentName: "Pro" },
    });
  });

  test("are recorded by the next run after an event", async () => {
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
    expect(recordedEvents()).toEqual([]);
    await track("ada@example.com", "login");
    await recompute();
    expect(recordedEvents()).toEqual([
      "segment.active.entry ada@example.com",
      "segment.lost.exit ada@example.com",
    ]);
  });

  test("are not recorded after an event that no segment tests", async () => {
    await create({ condition: wrap(loginWithin(30, "days")) });
    await track("ada@example.com", "logout");
    await recompute();
    expect(recordedEvents()).toEqual([]);
  });

  test("are recorded within five minutes when only time has passed", async () => {
    await create({ name: "Active", condition: wrap(loginWithin(10, "minutes")) });
    await track("ada@example.com", "login");
    await recompute();
    expect(recordedEvents()).toEqual(["segment.active.entry ada@example.com"]);
    for (let minute = 0; minute <= 10; minute++) {
      t.clock.advance(MINUTES);
      await recompute();
    }
    t.clock.advance(4 * MINUTES);
    await recompute();
    expect(recordedEvents()).toEqual([
      "segment.active.entry ada@example.com",
      "segment.active.exit ada@example.com",
    ]);
  });

  test("are recorded when members of a referenced STATIC segment change", async () => {
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
    expect(recordedEvents()).toEqual([
      "segment.chosen.entry ada@example.com",
      "segment.chosen.exit ada@example.com",
    ]);
  });

  test("are recorded after the event of another segment", async () => {
    await create({ condition: wrap(plan("pro")) });
    await create({
      name: "Once pro",
      condition: wrap({ field: "event.segment.pro.entry", operator: "triggered" }),
    });
    await upsert("ada@example.com", { plan: "pro" });
    await recompute();
    await recompute();
    expect(recordedEvents()).toEqual([
      "segment.pro.entry ada@example.com",
      "segment.once-pro.entry ada@example.com",
    ]);
  });

  test("are not recorded for a deleted contact", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    const contact = (await upsert("ada@example.com", { plan: "pro" })).text("id");
    await recompute();
    await t.call("DELETE", `/contacts/${contact}`);
    await recompute();
    expect([recordedEvents(), members(id)]).toEqual([["segment.pro.entry nobody"], []]);
  });

  test("are recorded for thousands of contacts in one run", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    insertContacts(3000, "pro");
    await recompute();
    expect([recordedEvents().length, members(id).length]).toEqual([3000, 3000]);
    t.db.sqlite.run(
      "UPDATE contacts SET data = '{}', updated_at = updated_at + 1 WHERE seq % 2 = 0",
    );
    await recompute();
    expect([recordedEvents().length, members(id).length]).toEqual([4500, 1500]);
  });
});

describe("a change of a definition records no events", () => {
  beforeEach(async () => {
    await upsert("ada@example.com", { plan: "pro" });
    await upsert("bob@example.com", { plan: "free" });
  });

  test("for the first members of a new segment", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    expect(members(id)).toEqual(["ada@example.com"]);
    await recompute();
    expect(recordedEvents()).toEqual([]);
  });

  test("when the condition changes", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    await patch(id, { condition: wrap(plan("free")) });
    expect(members(id)).toEqual(["bob@example.com"]);
    await recompute();
    expect(recordedEvents()).toEqual([]);
    await upsert("ada@example.com", { plan: "free" });
    await recompute();
    expect(recordedEvents()).toEqual(["segment.pro.entry ada@example.com"]);
  });

  test("when the condition of a referenced segment changes", async () => {
    const inner = await create({
      name: "Inner",
      trackMembership: false,
      condition: wrap(plan("pro")),
    });
    const outer = await create({ name: "Outer", condition: wrap(memberOf(inner)) });
    await patch(inner, { condition: wrap(plan("free")) });
    expect(members(outer)).toEqual(["bob@example.com"]);
    await recompute();
    expect(recordedEvents()).toEqual([]);
  });

  test("and a new name does not change the slug in event names", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    await patch(id, { name: "Gold" });
    await upsert("bob@example.com", { plan: "pro" });
    await recompute();
    expect(recordedEvents()).toEqual(["segment.pro.entry bob@example.com"]);
  });

  test("when tracking is switched on, off and on again", async () => {
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
    expect(recordedEvents()).toEqual([]);
    await upsert("ada@example.com", { plan: "free" });
    await recompute();
    expect(recordedEvents()).toEqual(["segment.pro.exit ada@example.com"]);
  });
});

test("a run stops evaluating a segment whose condition changes meanwhile", async () => {
  const id = await create({ condition: wrap(plan("pro")) });
  insertContacts(3000, "pro");
  const run = recompute();
  while (recordedEvents().length === 0) await Bun.sleep(0);
  await patch(id, { condition: wrap(plan("free")) });
  const count = recordedEvents().length;
  await run;
  await recompute();
  expect([recordedEvents().length, members(id).length]).toEqual([count, 0]);
  expect(count).toBeLessThan(3000);
});

describe("after a restart", () => {
  beforeEach(async () => {
    t = await testApp();
  });
  afterEach(() => t.close());

  async function restart() {
    await t.close();
    t = await testApp({ db: t.db, clock: t.clock });
  }

  test("changes made before the restart are recorded", async () => {
    const id = await create({ condition: wrap(plan("pro")) });
    await upsert("ada@example.com", { plan: "pro" });
    await restart();
    await recompute();
    expect(recordedEvents()).toEqual(["segment.pro.entry ada@example.com"]);
    t.db.sqlite.run("UPDATE contacts SET data = '{}'");
    await restart();
    await recompute();
    expect([recordedEvents().slice(1), members(id)]).toEqual([
      ["segment.pro.exit ada@example.com"],
      [],
    ]);
  });

  test("first members that were not recorded yet are recorded without events", async () => {
    await upsert("ada@example.com", { plan: "pro" });
    const id = await create({ condition: wrap(plan("pro")) });
    t.db.sqlite.run("UPDATE segments SET baseline_at = NULL");
    t.db.sqlite.run("DELETE FROM segment_members");
    await restart();
    await recompute();
    expect([members(id), recordedEvents()]).toEqual([["ada@example.com"], []]);
    await upsert("bob@example.com", { plan: "pro" });
    await recompute();
    expect(recordedEvents()).toEqual(["segment.pro.entry bob@example.com"]);
  });
});

test("a member row is only written together with its event, and the next run retries", async () => {
  const id = await create({ condition: wrap(plan("pro")) });
  await recompute();
  t.db.sqlite.run(`CREATE TRIGGER refuse BEFORE INSERT ON events WHEN new.name LIKE 'segment.%'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  await upsert("ada@example.com", { plan: "pro" });
  await recompute();
  await recompute();
  expect([recordedEvents(), members(id)]).toEqual([[], []]);
  t.db.sqlite.run("DROP TRIGGER refuse");
  await recompute();
  await recompute();
  expect([recordedEvents(), members(id)]).toEqual([
    ["segment.pro.entry ada@example.com"],
    ["ada@example.com"],
  ]);
});

test("two applications that evaluate the same segments record each event once", async () => {
  await create({ condition: wrap(plan("pro")) });
  const twin = await testApp({ db: t.db, clock: t.clock });
  await upsert("ada@example.com", { plan: "pro" });
  await Promise.all([recompute(), twin.app.segments.recompute(), recompute()]);
  expect(recordedEvents()).toEqual(["segment.pro.entry ada@example.com"]);
  await twin.close();
});

const SEED = Number(process.env["SEED"] ?? 4711);

test(`members and events always agree with the conditions (SEED=${SEED})`, async () => {
  t = await testApp(); // It is started again below.
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

  /** Members as computed from the events since the last change of a definition. */
  const membersByEvents = new Map<string, Set<string>>();
  const resetMembersByEvents = () => {
    for (const id of segments) membersByEvents.set(id, new Set(members(id)));
  };
  let eventsSeen = recordedEvents().length;
  resetMembersByEvents();

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
      for (const known of membersByEvents.values()) known.delete(email);
    },
    async () => t.clock.advance(random.int(6) * MINUTES),
    recompute,
  ];

  for (let round = 0; round < 30; round++) {
    for (let i = random.int(8); i > 0; i--) await random.pick(steps)();
    t.clock.advance(5 * MINUTES);
    await recompute();

    for (const line of recordedEvents().slice(eventsSeen)) {
      const [, slug = "", change, email = ""] =
        /^segment\.(.*)\.(entry|exit) (.*)$/.exec(line) ?? [];
      const id = segments[["inner", "s0", "s1", "s2", "s3"].indexOf(slug)];
      const known = id === undefined ? undefined : membersByEvents.get(id);
      if (known === undefined || email === "nobody") continue;
      expect(known.has(email)).toBe(change === "exit");
      if (change === "entry") known.add(email);
      else known.delete(email);
    }
    eventsSeen = recordedEvents().length;
    for (const id of segments) {
      const now = await t.call("GET", `/segments/${id}/contacts?limit=100`);
      const emailsNow = t.db.sqlite
        .query<{ email: string }, [string]>(
          "SELECT email FROM contacts WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq",
        )
        .all(JSON.stringify(idsOf(now.at("data.items"))))
        .map(({ email }) => email);
      expect(members(id)).toEqual(emailsNow);
      expect([...(membersByEvents.get(id) ?? [])].sort()).toEqual(emailsNow.toSorted());
    }

    if (random.chance(0.15)) {
      await patch(random.pick(others), { condition: conditions() });
      resetMembersByEvents();
      eventsSeen = recordedEvents().length;
    }
    if (random.chance(0.1)) {
      await t.close();
      t = await testApp({ db: t.db, clock: t.clock });
    }
  }
  await t.close();
});

function idsOf(items: unknown): unknown[] {
  return Array.isArray(items) ? items.map((item) => Reflect.get(item, "id")) : [];
}
