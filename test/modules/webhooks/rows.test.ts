import { expect, spyOn, test } from "bun:test";
import { createDeliveryPurge } from "../../../src/modules/retention/deliveries.ts";
import { createDeliveryRows } from "../../../src/modules/webhooks/rows.ts";
import { createRoster } from "../../../src/modules/webhooks/roster.ts";
import { openOutbox, planOf } from "../../support/outbox.ts";

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
