/** Erasures that end at the same time fill the free pages of the file once. */

import { expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { waitUntilRead } from "../../support/eventually.ts";

const FREE_BYTES = 2_000_000;

/** Frees pages of the database, and counts the bytes of zeros that are written from now on. */
function countZeros(t: TestApp): () => number {
  const { sqlite } = t.db;
  sqlite.run("CREATE TABLE once (bytes BLOB)");
  sqlite.run(`INSERT INTO once VALUES (zeroblob(${FREE_BYTES}))`);
  sqlite.run("DROP TABLE once");
  sqlite.run("CREATE TEMP TABLE zeros (bytes INTEGER)");
  sqlite.run(`CREATE TEMP TRIGGER counts_zeros AFTER INSERT ON page_fill
    BEGIN INSERT INTO zeros VALUES (length(new.bytes)); END`);
  const find = "SELECT sum(bytes) AS bytes FROM zeros";
  return () => sqlite.query<{ bytes: number | null }, []>(find).get()?.bytes ?? 0;
}

async function completeAll(t: TestApp): Promise<void> {
  await t.start();
  await waitUntilRead(async () => {
    t.clock.advance(1_000);
    return t.countRows("erasures WHERE state = 'RUNNING'") === 0;
  });
}

test("erasures that were requested together share one filling", async () => {
  const t = await testApp();
  for (const name of ["ada", "eve", "bob"]) {
    await t.call("POST", "/erasures", { email: `${name}@example.com` });
  }
  const zeros = countZeros(t);
  await completeAll(t);
  expect(zeros()).toBeGreaterThan(0.9 * FREE_BYTES);
  expect(zeros()).toBeLessThan(1.5 * FREE_BYTES);
  expect(t.countRows("page_fill")).toBe(0);
  await t.close();
});

test("a hundred erasures are completed before the search of the next one goes on", async () => {
  const t = await testApp();
  await t.call("POST", "/erasures", { email: "ada@example.com" });
  t.db.sqlite.run("UPDATE erasures SET position = json_set(position, '$.phase', 'FILL')");
  t.db.sqlite.run(`
    WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
    INSERT INTO erasures (id, project_seq, digest, state, actor_kind, counts, position, subject, requested_at)
    SELECT id || n, project_seq, digest, state, actor_kind, counts, position, subject, requested_at
    FROM erasures, n`);
  await t.call("POST", "/erasures", { email: "eve@example.com" });
  const zeros = countZeros(t);
  await completeAll(t);
  expect(zeros()).toBeGreaterThan(1.9 * FREE_BYTES);
  expect(t.countRows("erasures WHERE state = 'COMPLETED'")).toBe(101);
  await t.close();
});
