/** The events of a contact by their chains, against a plain look at the whole log. */

import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { createTurns } from "../../../src/lib/turns.ts";
import { createEventsOfContact, type Part } from "../../../src/modules/events/of-contact.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { summarizeLog } from "../../support/log.ts";
import { openOutbox, planOf } from "../../support/outbox.ts";

const NAMES = ["login", "page.view", "purchase", "rare"];
const PEOPLE = [1, 2, 3];
const ROWS = 6_000;

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

/** Most are of the first contact; every clock goes back now and then. */
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

function expected(contactSeq: number, name: string | undefined, part: Part) {
  const { before = Infinity, limit, isWithin = () => true } = part;
  const theirs = wholeLog().filter(
    (row) =>
      row.contactSeq === contactSeq &&
      (name === undefined || row.name === name) &&
      isWithin(row.createdAt),
  );
  const seqs = theirs.map(({ seq }) => seq).filter((seq) => seq < before);
  return { seqs: seqs.slice(0, limit), total: theirs.length };
}

/** Deterministic, from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("the events of a contact", () => {
  test.each([1, 2, 3])("are those of the log, whatever part is asked for: %i", async (seed) => {
    const random = randomFrom(seed);
    fill(random);
    const { look } = createEventsOfContact({ db: t.db, turns: createTurns() });
    for (let round = 0; round < 60; round++) {
      const contactSeq = PEOPLE[Math.floor(random() * PEOPLE.length)] ?? 1;
      const name = random() < 0.4 ? NAMES[Math.floor(random() * NAMES.length)] : undefined;
      const [from, to] = [random() * ROWS, random() * ROWS].sort((a, b) => a - b);
      const part: Part = {
        limit: 1 + Math.floor(random() ** 3 * 3_000),
        before: random() < 0.5 ? undefined : Math.floor(random() * ROWS),
        isWithin: random() < 0.5 ? undefined : (at) => at >= (from ?? 0) && at <= (to ?? 0),
      };
      expect(await look({ contactSeq, name }, part)).toEqual(expected(contactSeq, name, part));
    }
  });

  test("end where the log was cut off", async () => {
    fill(randomFrom(9));
    t.db.sqlite.run("DELETE FROM events WHERE seq <= 3000");
    const { look } = createEventsOfContact({ db: t.db, turns: createTurns() });
    for (const contactSeq of PEOPLE) {
      const part = { limit: 10_000, isWithin: () => true };
      expect(await look({ contactSeq }, part)).toEqual(expected(contactSeq, undefined, part));
    }
  });

  test("are as they were recorded, by whatever cause", async () => {
    for (let i = 0; i < 40; i++) {
      const event = NAMES[i % 3];
      await t.call("POST", "/v1/track", { event, email: `p${1 + (i % 2)}@x.io`, data: { i } });
    }
    const { look } = createEventsOfContact({ db: t.db, turns: createTurns() });
    for (const contactSeq of PEOPLE) {
      for (const name of [undefined, ...NAMES]) {
        const part = { limit: 7 };
        expect(await look({ contactSeq, name }, part)).toEqual(expected(contactSeq, name, part));
      }
    }
  });

  test("tell of nobody once the contact is gone; those of others stay", async () => {
    fill(randomFrom(4));
    t.db.sqlite.run(`UPDATE events SET data = '{"a":1}'`);
    const whole = { limit: ROWS };
    const [ofFirst, ofSecond] = [1, 2].map((seq) => expected(seq, undefined, whole));
    const id = await t.create("/contacts", { email: "p1@x.io" }, "id");
    expect((await t.call("DELETE", `/contacts/${id}`)).status).toBe(204);
    expect(t.countRows("events WHERE contact_seq = 1")).toBe(0);
    expect(t.countRows("events WHERE contact_seq IS NULL AND data IS NULL")).toBe(
      ofFirst?.total ?? -1,
    );
    expect(expected(2, undefined, whole)).toEqual(ofSecond ?? { seqs: [], total: -1 });
    expect(t.countRows("contact_events WHERE contact_seq = 1")).toBe(0);
  });
});

test("no statement goes through the whole log", () => {
  const { db } = openOutbox();
  const prepare = spyOn(db.sqlite, "prepare");
  createEventsOfContact({ db, turns: createTurns() });
  const statements = prepare.mock.calls.map(([sql]) => sql);
  prepare.mockRestore();
  expect(statements).toHaveLength(6);
  for (const sql of statements) {
    expect(planOf(db, sql)).not.toMatch(/SCAN (events|e|contact_events)\b/);
  }
});
