import { expect, spyOn, test } from "bun:test";
import { createDeliveryPurge } from "../../../src/modules/retention/deliveries.ts";
import { createDeliveryRows } from "../../../src/modules/webhooks/rows.ts";
import { createRoster } from "../../../src/modules/webhooks/roster.ts";
import { openOutbox, planOf } from "../../support/outbox.ts";

test("the roster knows what a change wrote at once, and not what was rolled back", () => {
  const { db } = openOutbox();
  const roster = createRoster(db);
  const isListened = () => [roster.isEmpty(), roster.get(1)?.matches("a") ?? false];
  const enable = (yes: number) => {
    db.sqlite.run("UPDATE webhooks SET is_enabled = ?", [yes]);
    roster.forget();
  };
  expect(isListened()).toEqual([true, false]);
  db.sqlite.run(`
    INSERT INTO webhooks (id, project_seq, url, events, is_enabled, secret, start_seq, created_at,
      updated_at)
    VALUES ('w', 1, 'https://a.test/', '["a"]', 0, x'00', 0, 0, 0)`);
  for (const [end, isKept] of [
    ["ROLLBACK", false],
    ["COMMIT", true],
  ] as const) {
    db.sqlite.run("BEGIN IMMEDIATE");
    enable(1);
    expect(isListened()).toEqual([false, true]);
    db.sqlite.run(end);
    expect(isListened()).toEqual([!isKept, isKept]);
  }
  db.sqlite.run("BEGIN IMMEDIATE");
  enable(0);
  expect(isListened()).toEqual([true, false]);
  db.sqlite.run("ROLLBACK");
  expect(isListened()).toEqual([false, true]);
});

test("every statement has its index, sorts nothing, and stays prepared", () => {
  const { db } = openOutbox();
  const prepare = spyOn(db.sqlite, "prepare");
  createDeliveryRows(db);
  createRoster(db);
  createDeliveryPurge(db);
  const statements = [...new Set(prepare.mock.calls.map(([sql]) => sql))];
  prepare.mockRestore();
  expect(statements.length).toBeGreaterThan(10);
  for (const sql of statements) {
    const plan = planOf(db, sql);
    // The purge goes through the table in its own order, from the oldest.
    const isWalk = /FROM webhook_deliveries ORDER BY seq LIMIT/.test(sql);
    if (!isWalk) expect(plan).not.toMatch(/SCAN \w+(?! USING INDEX| ROW)$/m);
    expect(plan).not.toContain("TEMP B-TREE");
  }
  // See the remark on plus signs in delivery/queue.ts.
  const hot = statements.filter((sql) => sql.includes("webhook_seq = ") && sql.includes("SELECT"));
  for (const sql of hot) expect(sql).not.toMatch(/_seq (?:=|<|>) ?[?$]|LIMIT [?$]/);
});
