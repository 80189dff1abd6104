/** Inserts contacts directly into the database, and finds those that meet a condition. */

import { expect } from "bun:test";
import { newId } from "../../../src/lib/id.ts";
import { parseCondition } from "../../../src/modules/segments/condition/condition.ts";
import type { TestApp } from "../../support/app.ts";
import type { NaiveCondition, NaiveContact } from "./naive.ts";

/** The moment at which the clock of a test app starts. */
export const NOW = Date.parse("2026-03-02T10:00:00.000Z");

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const plain: NaiveContact = {
  email: "",
  subscribed: true,
  createdAt: NOW - 100 * DAY,
  updatedAt: NOW - 50 * DAY,
  data: {},
  events: {},
  segments: [],
};

let number = 0;

/** Returns the `contacts.seq`. Missing fields are those of `plain`, with a unique address. */
export function addContact(t: TestApp, given: Partial<NaiveContact>, ofProject?: number): number {
  const contact = { ...plain, email: `c${++number}@example.com`, ...given };
  const projectSeq = ofProject ?? t.project.seq;
  const { sqlite } = t.db;
  const row = sqlite
    .query<{ seq: number }, (string | number)[]>(
      `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
    )
    .get(
      newId(NOW),
      projectSeq,
      contact.email,
      Number(contact.subscribed),
      JSON.stringify(contact.data),
      contact.createdAt,
      contact.updatedAt,
    );
  const seq = row?.seq ?? 0;
  for (const [name, at] of Object.entries(contact.events)) addEvent(t, seq, name, at, projectSeq);
  for (const id of contact.segments) {
    sqlite.run(
      "INSERT INTO segment_members (segment_seq, contact_seq) SELECT seq, ? FROM segments WHERE id = ?",
      [seq, id],
    );
  }
  return seq;
}

/** Writes only the summary that filters read, not a row of the event log. */
export function addEvent(t: TestApp, seq: number, name: string, at: number, projectSeq: number) {
  t.db.sqlite.run(
    "INSERT INTO event_names (project_seq, name, count) VALUES (?, ?, 1) ON CONFLICT DO NOTHING",
    [projectSeq, name],
  );
  t.db.sqlite.run(
    `INSERT INTO contact_events (contact_seq, name_seq, last_at, last_seq, count)
     SELECT ?, seq, ?, 0, 1 FROM event_names WHERE project_seq = ? AND name = ?`,
    [seq, at, projectSeq, name],
  );
}

/** Evaluates a condition by every method of `Audiences` and expects the same result from each. */
export async function findMatching(
  t: TestApp,
  condition: NaiveCondition,
  among: readonly number[],
): Promise<number[]> {
  const { audiences, audienceOfCondition } = t.app.segments;
  const checked = parseCondition(condition, "condition");
  const audience = audienceOfCondition(t.project.seq, checked);
  const found: number[] = [];
  for await (const seqs of audiences.members(audience)) found.push(...seqs);
  expect(await audiences.count(audience)).toBe(found.length);
  const everyContact = audienceOfCondition(t.project.seq, null);
  expect(await audiences.count(everyContact)).toBeGreaterThanOrEqual(found.length);
  const matching = audiences.matching(audience, among).sort((a, b) => a - b);
  expect(matching).toEqual(found.filter((seq) => among.includes(seq)));
  const page = await audiences.page(audience, { beforeSeq: null, limit: 1000 });
  expect(page.map(({ seq }) => seq)).toEqual(found.slice(-1000).toReversed());
  return matching;
}
