/** Compares the events of a contact, read from their chains, with a scan of the whole log. */

import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { createDirectReader } from "../../src/db/reader.ts";
import {
  createContactEvents,
  type PageOptions,
  type EventSelection,
} from "../../src/events/contact-events.ts";
import { EVENT_INVARIANTS } from "../../src/events/invariants.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { summarizeLog } from "../support/log.ts";
import { openOutbox, planOf } from "../support/outbox.ts";

const NAMES = ["login", "page.view", "purchase", "rare"];
const PEOPLE = [1, 2, 3];
const ROWS = 3_000;

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
  for (const seq of PEOPLE) await t.create("/contacts", { email: `p${seq}@x.io` }, "id");
});
afterEach(() => t.close());

type Row = { seq: number; name: string; contactSeq: number | null; createdAt: number };

const wholeLog = () =>
  t.db.sqlite
    .query<Row, []>(
      `SELECT seq, name, contact_seq AS contactSeq, created_at AS createdAt
       FROM events ORDER BY seq DESC`,
    )
    .all();

/** Most events belong to the first contact, and times sometimes go back. */
function fill(random: () => number): void {
  const insert = t.db.sqlite.prepare(
    "INSERT INTO events (id, project_seq, name, contact_seq, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const pick = <T>(items: readonly T[]): T | undefined =>
    items[Math.floor(random() ** 2 * items.length)];
  t.db.sqlite.transaction(() => {
    for (let i = 0; i < ROWS; i++) {
      const at = i - Math.floor(random() * 20);
      const contact = random() < 0.05 ? null : (pick(PEOPLE) ?? null);
      insert.run(`e${i}`, t.project.seq, pick(NAMES) ?? "login", contact, at);
    }
  })();
  summarizeLog(t.db.sqlite);
}

function expected(
  { contactSeq, name }: EventSelection,
  { from, to }: NonNullable<PageOptions["period"]> = { from: -Infinity, to: Infinity },
): number[] {
  return wholeLog()
    .filter((row) => row.contactSeq === contactSeq && (name ?? row.name) === row.name)
    .filter(({ createdAt }) => createdAt >= from && createdAt <= to)
    .map(({ seq }) => seq);
}

/** Reads all pages. One event more than the page shows whether there is another page. */
async function readAll(
  selection: EventSelection,
  limit: () => number,
  period?: PageOptions["period"],
): Promise<{ seqs: number[]; totals: Set<number> }> {
  const { read } = createContactEvents(t.app.app);
  const seqs: number[] = [];
  const totals = new Set<number>();
  for (let after: PageOptions["after"] = null; ;) {
    const size = limit();
    const found = await read(selection, { after, limit: size + 1, period });
    const shown = found.seqs.slice(0, size);
    seqs.push(...shown);
    totals.add(found.total);
    const last = shown.at(-1);
    if (found.seqs.length <= size || last === undefined) return { seqs, totals };
    after = found.cursorAt(last);
  }
}

/** Returns a repeatable source of random numbers from 0 to below 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("the events of a contact", () => {
  test.each([1, 2, 3])("equal those of the log on every page: seed %i", async (seed) => {
    const random = randomFrom(seed);
    fill(random);
    for (let round = 0; round < 40; round++) {
      const contactSeq = PEOPLE[Math.floor(random() * PEOPLE.length)] ?? 1;
      const name = random() < 0.4 ? NAMES[Math.floor(random() * NAMES.length)] : undefined;
      const [from = 0, to = 0] = [random() * ROWS, random() * ROWS].sort((a, b) => a - b);
      const period = random() < 0.5 ? undefined : { from, to };
      const largestPage = random() < 0.5 ? 1_250 : 100;
      const seqs = expected({ projectSeq: 1, contactSeq, name }, period);
      const limit = () => 1 + Math.floor(random() * largestPage);
      expect(await readAll({ projectSeq: 1, contactSeq, name }, limit, period)).toEqual({
        seqs,
        totals: new Set([seqs.length]),
      });
    }
  });

  test("end where older events were deleted, also between two pages", async () => {
    fill(randomFrom(9));
    const { read } = createContactEvents(t.app.app);
    for (const contactSeq of PEOPLE) {
      const first = await read({ projectSeq: 1, contactSeq }, { after: null, limit: 50 });
      t.db.sqlite.run("DELETE FROM events WHERE seq <= ?", [500 * contactSeq]);
      const after = first.cursorAt(first.seqs.at(-1) ?? 0);
      const rest = await read({ projectSeq: 1, contactSeq }, { after, limit: ROWS });
      const seqs = [...first.seqs, ...rest.seqs];
      expect(seqs).toEqual(expected({ projectSeq: 1, contactSeq }));
    }
  });

  test.each([99, 100, 101, 150])("with %i names are read page by page", async (names) => {
    for (let i = 0; i < names + 200; i++) {
      await t.call("POST", "/v1/track", { event: `name-${i % names}`, email: "p1@x.io" });
    }
    const seqs = expected({ projectSeq: 1, contactSeq: 1 });
    expect(seqs.length).toBeGreaterThan(names);
    const read = await readAll({ projectSeq: 1, contactSeq: 1 }, () => 30);
    expect(read).toEqual({ seqs, totals: new Set([seqs.length]) });
  });

  test("equal those of the log when they were recorded by the API", async () => {
    for (let i = 0; i < 40; i++) {
      const event = NAMES[i % 3];
      await t.call("POST", "/v1/track", { event, email: `p${1 + (i % 2)}@x.io`, data: { i } });
    }
    for (const contactSeq of PEOPLE) {
      for (const name of [undefined, ...NAMES]) {
        const seqs = expected({ projectSeq: 1, contactSeq, name });
        const read = await readAll({ projectSeq: 1, contactSeq, name }, () => 7);
        expect(read).toEqual({ seqs, totals: new Set([seqs.length]) });
      }
    }
  });

  test("are anonymised when the contact is deleted; those of other contacts stay", async () => {
    fill(randomFrom(4));
    t.db.sqlite.run(`UPDATE events SET data = '{"a":1}'`);
    const [ofFirst, ofSecond] = [1, 2].map((contactSeq) => expected({ projectSeq: 1, contactSeq }));
    const id = await t.create("/contacts", { email: "p1@x.io" }, "id");
    expect((await t.call("DELETE", `/contacts/${id}`)).status).toBe(204);
    expect(t.countRows("events WHERE contact_seq = 1")).toBe(0);
    expect(t.countRows("events WHERE contact_seq IS NULL AND data IS NULL")).toBe(
      ofFirst?.length ?? -1,
    );
    expect(expected({ projectSeq: 1, contactSeq: 2 })).toEqual(ofSecond ?? [-1]);
    expect(t.countRows("contact_events WHERE contact_seq = 1")).toBe(0);
  });
});

test("events are detached in parts, and the rest is read and counted as before", async () => {
  fill(randomFrom(5));
  const { db } = t;
  const events = createContactEvents({ db, reader: createDirectReader(db) });
  const selection = { projectSeq: t.project.seq, contactSeq: 1 };
  const read = () => events.seqsOf(t.project.seq, 1);
  const all = (await read()).length;
  for (let left = all; ;) {
    const detached = events.detach(1, 200).length;
    left -= detached;
    expect(await read()).toEqual(expected(selection).toReversed());
    expect(await read()).toHaveLength(left);
    const findings = EVENT_INVARIANTS.flatMap(({ violations }) =>
      db.sqlite.query(violations).all(),
    );
    expect(findings).toEqual([]);
    if (detached < 200) break;
  }
  expect(await read()).toEqual([]);
  expect(t.countRows("events WHERE data IS NULL AND contact_seq IS NULL")).toBeGreaterThan(all - 1);
  expect(t.countRows("contact_events WHERE contact_seq = 2")).toBeGreaterThan(0);
});

test("no statement scans the whole log", () => {
  const { db } = openOutbox();
  const prepare = spyOn(db.sqlite, "prepare");
  createContactEvents({ db, reader: createDirectReader(db) });
  const statements = prepare.mock.calls.map(([sql]) => sql);
  prepare.mockRestore();
  expect(statements).toHaveLength(10);
  for (const sql of statements) {
    expect(planOf(db, sql)).not.toMatch(/SCAN (events|e|contact_events)\b/);
  }
});
