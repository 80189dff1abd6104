/**
 * Makes the fixture of this version: `bun scripts/fixture.ts`.
 *
 * The application fills a database through its API; then all records are read over the API. The
 * database and the answers are written to test/fixtures/VERSION, which must not exist. The digests
 * of all migrations are written to test/fixtures/migrations.json.
 */

import "../src/lib/production.ts";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../src/db/migrate.ts";
import { type Db, openDatabase } from "../src/db/open.ts";
import { createWriter } from "../src/db/writer.ts";
import { silentLog } from "../src/lib/log.ts";
import { removeOldData } from "../src/modules/retention.ts";
import { databasePolicyStore, databaseSiteStore } from "../src/outbox/direct/stores.ts";
import { Site } from "../src/outbox/direct/site.ts";
import { VERSION } from "../src/lib/version.ts";
import { runImport, waitForJob } from "../test/modules/contacts/upload.ts";
import { type TestApp, testApp } from "../test/support/app.ts";
import { bareApp } from "../test/support/bare-app.ts";
import { manualClock } from "../test/support/clock.ts";
import { fillDatabase } from "../test/support/filled.ts";
import {
  ANSWERS_FILE,
  DATABASE_FILE,
  FIXTURES,
  migrationDigests,
  openFilled,
  type Stored,
} from "../test/support/fixture.ts";
import { readRecords } from "../test/support/records.ts";
import { waitUntil } from "../test/support/eventually.ts";

const HALF_HOUR_DAYS = 1 / 48;

async function makeFixture(
  folder: string,
): Promise<{ bytes: Buffer<ArrayBuffer>; stored: Stored }> {
  const file = join(folder, "mailstead.db");
  const db = openDatabase(file);
  migrate(db.sqlite);
  await fillDatabase(db, folder);
  const filledAt = newestEvent(db) + 1_000;
  const t = await testApp({ db, folder, clock: manualClock(filledAt) });
  await addTheRest(t);
  await t.close();
  const readAt = newestEvent(db) + 1_000;
  await addStateOfSites(db, readAt);
  await purgeOldBodies(db, readAt);
  const empty = emptyTables(db);
  if (empty.length > 0) throw new Error(`These tables have no rows: ${empty.join(", ")}`);
  const bytes = compactCopy(db, join(folder, "copy.db"));
  db.sqlite.close();

  const observer = await openFilled(folder, readAt);
  const answers = await readRecords((path) =>
    observer.call("GET", path, undefined, { key: t.secretKey }),
  );
  await observer.close();
  return { bytes, stored: { readAt, key: t.secretKey, answers } };
}

/** Adds records of the kinds that `fillDatabase` does not add. */
async function addTheRest(t: TestApp): Promise<void> {
  await t.create("/domains", { domain: "keys.example" }, "data.id");
  await runImport(t, "email,plan\nimported@example.com,pro\n");
  const ids = [await t.create("/contacts", { email: "bulk@example.com" }, "id")];
  const bulk = await t.call("POST", "/contacts/bulk", { action: "unsubscribe", ids });
  await waitForJob(t, bulk.text("data.jobId"), "bulk");
  const mail = {
    from: "a@acme.test",
    to: "ada@example.com",
    subject: "Captured",
    body: "<p>Hi</p>",
  };
  const headers = { "idempotency-key": "order-1" };
  const sent = await t.create("/v1/send", mail, "emails.0.email", { headers });
  await waitUntil(
    () =>
      t.countRows(
        `captured_messages c JOIN emails e ON e.seq = c.email_seq WHERE e.id = '${sent}'`,
      ) === 1,
  );
}

/** Stores what direct delivery learns from DNS and from receiving sites. */
async function addStateOfSites(db: Db, atMs: number): Promise<void> {
  const writer = createWriter(db, silentLog);
  const clock = manualClock(atMs);
  databasePolicyStore({ db, writer, clock, log: silentLog }).set("example.com", {
    id: "20260301",
    policy: { mode: "enforce", mx: ["mx.example.com"], maxAgeSeconds: 604_800 },
    fetchedAt: atMs,
  });
  const sites = databaseSiteStore({ db, writer, clock, log: silentLog });
  sites.note(
    "mx.example.com",
    new Site({ hasGoodSession: true, meanMs: 250, limit: 5, pauses: 0, pauseMs: 0 }),
  );
  await sites.close();
  await writer.drain();
}

/** Purges the bodies of the oldest mails. */
async function purgeOldBodies(db: Db, atMs: number): Promise<void> {
  const app = { ...bareApp(db), clock: manualClock(atMs) };
  const days = { bodies: HALF_HOUR_DAYS, raw: 0, events: 0, deliveries: 0 };
  while (await removeOldData(app, days));
  await app.writer.drain();
}

function newestEvent({ sqlite }: Db): number {
  return (
    sqlite.query<{ at: number }, []>("SELECT max(created_at) AS at FROM events").get()?.at ?? 0
  );
}

function emptyTables({ sqlite }: Db): string[] {
  return sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => name)
    .filter((name) => sqlite.query(`SELECT 1 FROM ${name} LIMIT 1`).get() === null);
}

function compactCopy({ sqlite }: Db, file: string): Buffer<ArrayBuffer> {
  sqlite.run("VACUUM INTO ?", [file]);
  return readFileSync(file);
}

const target = join(FIXTURES, VERSION);
if (existsSync(target)) throw new Error(`The fixture of version ${VERSION} exists already.`);
const folder = mkdtempSync(join(tmpdir(), "mailstead-fixture-"));
try {
  const { bytes, stored } = await makeFixture(folder);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, DATABASE_FILE), Bun.gzipSync(bytes));
  writeFileSync(join(target, ANSWERS_FILE), Bun.gzipSync(JSON.stringify(stored, null, 2)));
  writeFileSync(
    join(FIXTURES, "migrations.json"),
    `${JSON.stringify(migrationDigests(), null, 2)}\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
