/** Scans in many reads: each contact is read once, in order. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { parseCondition } from "../../../src/modules/segments/condition/condition.ts";
import type { DatabaseReader } from "../../../src/db/reader.ts";
import { eventLog } from "../../../src/events/log.ts";
import { createChangeReader } from "../../../src/modules/segments/membership/changes.ts";
import { createAudiences } from "../../../src/modules/segments/sql/audiences.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { plansOfReads } from "../../support/reads.ts";
import { addContact, NOW } from "./crowd.ts";

let t: TestApp;
/** Every 97th contact, and a few with much larger `seq` than the others. */
const pros: number[] = [];
beforeAll(async () => {
  t = await testApp();
  const stranger = (await t.makeProject("stranger")).project.seq;
  for (let i = 0; i < 5000; i++) {
    const events = i % 2 === 0 ? { login: NOW } : {};
    const isPro = i % 97 === 0;
    const seq = addContact(t, { data: { plan: isPro ? "pro" : "free" }, events });
    if (isPro) pros.push(seq);
    if (i % 10 === 0) addContact(t, { data: { plan: "pro" }, events }, stranger);
  }
  t.db.sqlite.run("UPDATE sqlite_sequence SET seq = 1000000000 WHERE name = 'contacts'");
  for (let i = 0; i < 5; i++) pros.push(addContact(t, { data: { plan: "pro" } }));
});
afterAll(() => t.close());

type Filter = { field: string; operator: string; value?: unknown };
const pro = { field: "data.plan", operator: "equals", value: "pro" };
const login = { field: "event.login", operator: "triggered" };

/** Without filters, the audience is all contacts. */
function audience(...filters: Filter[]) {
  const condition = { logic: "AND", groups: [{ filters }] };
  const checked = filters.length === 0 ? null : parseCondition(condition, "condition");
  return t.app.segments.audienceOfCondition(t.project.seq, checked);
}

async function membersOf(filters: Filter[], afterSeq?: number): Promise<number[]> {
  const seqs: number[] = [];
  const scan = t.app.segments.audiences.members(audience(...filters), afterSeq);
  for await (const found of scan) seqs.push(...found);
  return seqs;
}

test("members reads each contact once, in order", async () => {
  expect(await membersOf([pro])).toEqual(pros);
  expect(await membersOf([])).toHaveLength(5005);
  expect(await membersOf([login])).toHaveLength(2500);
  expect(await membersOf([pro, login])).toEqual(pros.slice(0, -5).filter((_, i) => i % 2 === 0));
});

test("members continues after any contact", async () => {
  for (const i of [0, 1, 20, 50, 55, 56]) {
    expect(await membersOf([pro], pros[i])).toEqual(pros.slice(i + 1));
  }
});

test("page reads all contacts, newest first", async () => {
  const { audiences } = t.app.segments;
  const seen: number[] = [];
  for (;;) {
    const beforeSeq = seen.at(-1) ?? null;
    const page = await audiences.page(audience(pro), { beforeSeq, limit: 7 });
    if (page.length === 0) break;
    seen.push(...page.map(({ seq }) => seq));
  }
  expect(seen).toEqual(pros.toReversed());
});

test("count returns the number of contacts that a scan reads, also while others count", async () => {
  const { audiences } = t.app.segments;
  const filterLists = [
    [pro],
    [login],
    [],
    [pro, login],
    [pro],
    [{ ...pro, operator: "notEquals" }],
    [
      { ...pro, operator: "exists" },
      { field: "email", operator: "endsWith", value: "7@example.com" },
    ],
  ];
  const together = await Promise.all(
    filterLists.map((filters) => audiences.count(audience(...filters))),
  );
  const listed = await Promise.all(filterLists.map((filters) => membersOf(filters)));
  expect(together).toEqual(listed.map(({ length }) => length));
});

test("a scan ignores contacts created meanwhile and reads changed ones as they are", async () => {
  const scan = t.app.segments.audiences.members(audience(pro));
  const first = await scan.next();
  const late = addContact(t, { data: { plan: "pro" } });
  const last = pros.at(-1) ?? 0;
  t.db.sqlite.run(`UPDATE contacts SET data = '{"plan":"free"}' WHERE seq = ?`, [last]);
  const rest: number[] = [];
  for await (const found of scan) rest.push(...found);
  expect([...(first.value ?? []), ...rest]).toEqual(pros.slice(0, -1));
  t.db.sqlite.run("DELETE FROM contacts WHERE seq = ?", [late]);
  t.db.sqlite.run(`UPDATE contacts SET data = '{"plan":"pro"}' WHERE seq = ?`, [last]);
});

test("a read that takes too long is repeated with fewer contacts", async () => {
  const { app } = t.app;
  const looked: number[] = [];
  const find: DatabaseReader["find"] = async (owner, query, limitMs) => {
    const found = await app.reader.find(owner, query, limitMs);
    if (query.isPartial !== true) return found;
    looked.push(found.rows.length);
    return found.rows.length > 900 ? { ...found, rows: [], isComplete: false } : found;
  };
  const { members } = createAudiences({ ...app, reader: { ...app.reader, find } });
  const seqs: number[] = [];
  for await (const some of members(audience())) seqs.push(...some);
  expect(seqs).toEqual(await membersOf([]));
  expect(looked.slice(0, 4)).toEqual([4000, 2000, 1000, 500]);
});

test("pages, counts and members are read in the order of an index", async () => {
  const { audiences } = t.app.segments;
  const lists = [[], [pro], [login], [pro, login], [{ ...login, operator: "notTriggered" }]];
  const plans = await plansOfReads(t.app.app, async () => {
    for (const filters of lists) {
      await audiences.count(audience(...filters));
      await audiences.page(audience(...filters), { beforeSeq: null, limit: 7 });
      await membersOf(filters);
    }
  });
  expect(plans.length).toBeGreaterThan(20);
  expect(plans.filter((plan) => /^SCAN|TEMP B-TREE/m.test(plan))).toEqual([]);
});

test("the changes since a cursor are read from indexes", async () => {
  const { now, since } = createChangeReader(t.app.app);
  const cursor = now();
  const late = addContact(t, { data: {} });
  t.db.sqlite.run("UPDATE contacts SET updated_at = ? WHERE seq = ?", [t.clock.now(), late]);
  const event = { projectSeq: t.project.seq, name: "late", contactSeq: late, at: t.clock.now() };
  await t.app.writer.write(() => eventLog(t.app.app).record(event));
  const plans = await plansOfReads(t.app.app, async () => {
    const changes = (await since(cursor, new Set([t.project.seq])))?.get(t.project.seq);
    expect(changes?.contacts.has(late)).toBe(true);
    expect(changes?.events).toEqual(new Map([["late", new Set([late])]]));
  });
  expect(plans[0]).toContain("SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");
  expect(plans[1]).toContain("contacts_touched (project_seq=? AND updated_at>?)");
});
