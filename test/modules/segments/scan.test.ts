/** Scans of many slices: each contact is read once, in order, and other work runs in between. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseCondition } from "../../../src/modules/segments/condition/condition.ts";
import { createFairScheduler } from "../../../src/lib/slice-queue.ts";
import { type TestApp, testApp } from "../../support/app.ts";
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

async function members(filters: Filter[], afterSeq?: number): Promise<number[]> {
  const seqs: number[] = [];
  const scan = t.app.segments.audiences.members(audience(...filters), afterSeq);
  for await (const found of scan) seqs.push(...found);
  return seqs;
}

test("members reads each contact once, in order", async () => {
  expect(await members([pro])).toEqual(pros);
  expect(await members([])).toHaveLength(5005);
  expect(await members([login])).toHaveLength(2500);
  expect(await members([pro, login])).toEqual(pros.slice(0, -5).filter((_, i) => i % 2 === 0));
});

test("members continues after any contact", async () => {
  for (const i of [0, 1, 20, 50, 55, 56]) {
    expect(await members([pro], pros[i])).toEqual(pros.slice(i + 1));
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
  const listed = await Promise.all(filterLists.map((filters) => members(filters)));
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

describe("slices of long reads", () => {
  test("are given one at a time, in the order of the requests", async () => {
    const scheduler = createFairScheduler().queueOf(1);
    const order: string[] = [];
    const work = async (name: string) => {
      for (let i = 0; i < 3; i++) {
        await scheduler.nextSlice();
        order.push(name);
      }
    };
    await Promise.all([work("a"), work("b"), work("c")]);
    expect(order.join("")).toBe("abcabcabc");
  });

  test("are given in separate rounds of the event loop", async () => {
    const scheduler = createFairScheduler().queueOf(1);
    const rounds: number[] = [];
    let round = 0;
    let isOver = false;
    const countRounds = () => {
      round++;
      if (!isOver) setImmediate(countRounds);
    };
    setImmediate(countRounds);
    const work = async () => {
      await scheduler.nextSlice();
      rounds.push(round);
    };
    await Promise.all(Array.from({ length: 10 }, work));
    isOver = true;
    expect(new Set(rounds).size).toBe(10);
  });
});
