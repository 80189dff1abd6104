/** The audit log: entries, pages, and the removal of old entries. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";

const DAY_MS = 24 * 60 * 60_000;

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
});
afterEach(() => t.close());

const entry = (action: string, projectSeq: number | null = null) => ({
  actor: { kind: "USER", id: "u1", label: "ada@example.com" } as const,
  projectSeq,
  action,
  objectType: "contact",
  objectId: "c1",
  fields: ["name"],
  address: "192.0.2.1",
});

const actionsOf = async (projectSeq: number | null, rest: object = {}, query: object = {}) =>
  t.app.accounts.audit.list({ projectSeq, ...rest }, query, (rows) =>
    rows.map(({ action }) => action),
  );

test("pages have the entries of a project, or of all, newest first", async () => {
  const { record } = t.app.accounts;
  await t.app.writer.write(() => {
    for (const n of [1, 2, 3]) record(entry(`contact.${n}`, t.project.seq));
    record(entry("user.disable"));
  });
  const first = await actionsOf(t.project.seq, {}, { limit: "2" });
  expect(first).toMatchObject({ items: ["contact.3", "contact.2"], total: 3, hasMore: true });
  const cursor = first.nextCursor ?? "";
  const second = await actionsOf(t.project.seq, {}, { limit: "2", cursor });
  expect(second).toMatchObject({ items: ["contact.1"], hasMore: false, nextCursor: null });
  expect((await actionsOf(null)).items).toHaveLength(4);
  expect((await actionsOf(null, { action: "user.disable" })).items).toEqual(["user.disable"]);
  expect((await actionsOf(null, { actorId: "u2" })).items).toEqual([]);
  expect((await actionsOf(t.project.seq, { objectId: "c1" })).items).toHaveLength(3);
});

test("entries are removed after a year, and not earlier", async () => {
  const purge = async () => t.app.recurring.find(({ name }) => name === "accounts purge")?.run();
  await t.app.writer.write(() => {
    for (let n = 0; n < 1_001; n++) t.app.accounts.record(entry("contact.update"));
  });
  t.clock.advance(365 * DAY_MS);
  await t.app.writer.write(() => t.app.accounts.record(entry("contact.delete")));
  await purge();
  expect(t.countRows("audit")).toBe(1_002);
  t.clock.advance(1);
  await purge();
  expect((await actionsOf(null)).items).toEqual(["contact.delete"]);
});
