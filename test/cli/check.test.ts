/**
 * `mailstead check` accepts the rows that the application writes, and detects a violation of each
 * rule.
 */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { INVARIANTS } from "../../src/cli/check/invariants.ts";
import type { Violation } from "../../src/db/invariant.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { removeOldData } from "../../src/modules/retention.ts";
import { bareApp } from "../support/bare-app.ts";
import { mailstead, startMailstead } from "../support/command-line.ts";
import { manualClock } from "../support/clock.ts";
import { PAGE_BYTES } from "../support/damage.ts";
import { fillDatabase } from "../support/filled.ts";
import { valueAt, listAt } from "../support/json.ts";

/** The invariants, and five checks of the file, its schema and the usage counters. */
const STEPS = INVARIANTS.length + 5;

let parent: string;
let filled: string;
/** The filled database, which tests open in memory. */
let bytes: Buffer;

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-check-"));
  filled = join(parent, "filled");
  await mailstead(["project", "list", "--data", filled]);
  await mailstead(["migrate", "--data", filled]);
  const db = openDatabase(join(filled, "mailstead.db"));
  await fillDatabase(db, filled);
  db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  bytes = db.sqlite.serialize();
  bytes.fill(1, 18, 20); // This switches off the write-ahead log, which needs a file.
  db.sqlite.close();
});

afterAll(() => rmSync(parent, { recursive: true, force: true }));

function copyOf(name: string): { data: string; file: string } {
  const data = join(parent, name);
  cpSync(filled, data, { recursive: true });
  return { data, file: join(data, "mailstead.db") };
}

/** Opens a copy of the filled database in memory. */
function inMemory(): Database {
  const sqlite = Database.deserialize(bytes);
  sqlite.run("PRAGMA foreign_keys = OFF");
  return sqlite;
}

function violationsOf(sqlite: Database, name: string): Violation[] {
  const sql = INVARIANTS.find((invariant) => invariant.name === name)?.violations ?? "";
  return sqlite.query<Violation, []>(sql).all();
}

const failing = (sqlite: Database) =>
  INVARIANTS.map(({ name }) => name).filter((name) => violationsOf(sqlite, name).length > 0);

describe("the filled database", () => {
  test("has rows of every kind that is checked", () => {
    const sqlite = inMemory();
    const count = (from: string) =>
      sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${from}`).get()?.n ?? 0;
    const tables = [
      "attachment_contents",
      "attempts",
      "campaign_hours",
      "campaign_links WHERE clicks > unique_clicks",
      "campaigns WHERE status = 'PAUSED'",
      "campaigns WHERE status = 'SENT'",
      "campaign_counts WHERE opened > 0 AND clicked > 0 AND bounced > 0 AND failed > 0",
      "campaign_counts WHERE machine_clicks > 0 AND unsubscribed > 0",
      "campaign_counts WHERE cancelled > 0",
      "contact_events",
      "templates WHERE layout_seq IS NOT NULL AND revision > 1 AND format = 'VISUAL'",
      "images",
      "emails WHERE contact_seq IS NULL",
      "emails WHERE status = 'QUEUED' AND attempts > 0",
      "emails WHERE source = 'WORKFLOW'",
      "emails WHERE source = 'TEST'",
      "emails WHERE status = 'DELIVERED'",
      "project_hours WHERE clicked > 0",
      "segment_members",
      "webhook_deliveries WHERE status = 'SUCCEEDED'",
      "workflow_step_counts WHERE completed > 0",
      "webhook_deliveries WHERE status = 'PENDING' AND next_at IS NULL",
      "workflow_executions WHERE status = 'WAITING'",
      "workflow_executions WHERE status = 'COMPLETED'",
      "workflow_executions WHERE status = 'CANCELLED'",
    ];
    expect(tables.filter((table) => count(table) === 0)).toEqual([]);
    sqlite.close();
  });

  test("violates no rule", () => {
    const sqlite = inMemory();
    const found = INVARIANTS.map(({ name }) => [name, violationsOf(sqlite, name)]);
    expect(found).toEqual(INVARIANTS.map(({ name }) => [name, []]));
    sqlite.close();
  });

  test("violates no rule after retention has deleted all old rows", async () => {
    const { data, file } = copyOf("purged");
    const db = openDatabase(file);
    const app = { ...bareApp(db), clock: manualClock(Date.parse("2027-03-02T10:00:00.000Z")) };
    const days = { bodies: 1, raw: 1, events: 1, deliveries: 1 };
    // All readers and webhooks have read all events, so retention may delete them.
    db.sqlite.run("UPDATE readers SET seq = (SELECT max(seq) FROM events)");
    while (await removeOldData(app, days));
    expect(db.sqlite.query("SELECT count(*) AS n FROM events").get()).toEqual({ n: 0 });
    expect(failing(db.sqlite)).toEqual([]);
    await app.writer.drain();
    db.sqlite.close();
    expect((await mailstead(["check", "--data", data])).code).toBe(0);
  });
});

/** By invariant: a change that violates it, and the expected finding. */
const VIOLATIONS: Readonly<Record<string, [sql: string, finding: RegExp]>> = {
  "contact-counts": [
    "UPDATE contact_counts SET total = total + 1",
    /^project .*: counted \d+, \d+ of them subscribed, but there are/,
  ],
  "job-progress": [
    `INSERT INTO jobs (id, project_seq, kind, status, input, created, created_at)
     VALUES ('j', 1, 'BULK', 'COMPLETED', '{}', 3, 0)`,
    /^job j: COMPLETED, ended never, 3 of 0/,
  ],
  queue: ["UPDATE emails SET next_at = NULL WHERE status = 'QUEUED'", /QUEUED without a next/],
  "queued-message": [
    `DELETE FROM messages WHERE seq = (
       SELECT message_seq FROM emails WHERE status = 'QUEUED' LIMIT 1)`,
    /its message is missing/,
  ],
  "submitted-message": [
    `UPDATE messages SET message_id = '<a@b.example>' WHERE seq = (
       SELECT message_seq FROM emails WHERE status = 'QUEUED' LIMIT 1)`,
    /its pieces are missing/,
  ],
  attachments: ["DELETE FROM message_attachments", /its attachments are missing/],
  "attachment-contents": [
    "INSERT INTO attachment_contents (digest, bytes) VALUES ('d', x'00')",
    /^content d: belongs to no message/,
  ],
  "email-project": [
    "UPDATE contacts SET project_seq = 2 WHERE seq = 1",
    /its contact belongs to another project/,
  ],
  "email-source": [
    "UPDATE emails SET campaign_seq = NULL WHERE source = 'CAMPAIGN'",
    /CAMPAIGN, campaign none/,
  ],
  "email-times": ["UPDATE emails SET sent_at = NULL WHERE status = 'SENT'", /SENT does not fit/],
  "email-attempts": [
    "DELETE FROM attempts WHERE outcome = 'accepted'",
    /it was sent, but no attempt was accepted/,
  ],
  "attempt-numbers": ["UPDATE attempts SET number = number + 1", /but 1 were made/],
  "email-reports": [
    "UPDATE email_reports SET kind = 'BOUNCE' WHERE kind = 'COMPLAINT'",
    /says that it bounced, but it is COMPLAINED/,
  ],
  "event-names": [
    "UPDATE event_names SET count = count - 1 WHERE name = 'login'",
    /login: counted 7, but there are 8/,
  ],
  "contact-events": [
    "UPDATE contact_events SET last_seq = 1, count = count + 1",
    /summary of 2, last 1, but the log has 1/,
  ],
  "event-chains": [
    "UPDATE events SET previous_seq = NULL WHERE name = 'email.sent'",
    /leads to none, but the one before it is \d+/,
  ],
  "event-contacts": ["UPDATE events SET contact_seq = 999", /its contact is missing/],
  "event-facts": [
    "UPDATE emails SET opened_at = NULL",
    /the log has email\.opened, but it is (CLICKED|OPENED)/,
  ],
  "event-readers": ["UPDATE readers SET seq = 99999", /is at 99999, but the log has come to/],
  "campaign-counts": [
    "UPDATE campaign_counts SET sent = sent + 1 WHERE sent > 0",
    /sent: counted \d+, but there are/,
  ],
  "campaign-event-counts": [
    "UPDATE campaign_counts SET unsubscribed = 9 WHERE unsubscribed > 0",
    /unsubscribed: counted 9, but there are 1/,
  ],
  "campaign-clicks": ["UPDATE campaign_links SET clicks = 9", /9 clicks by link, 2 by hour/],
  "campaign-opens": ["UPDATE campaign_hours SET opens = 9", /9 opens by hour, 2 mails/],
  "campaign-sent": [
    "UPDATE campaign_hours SET sent = sent + 9",
    /\d+ sent mails by hour, \d+ mails/,
  ],
  "campaign-link-clicks": [
    "UPDATE campaign_links SET unique_clicks = 9",
    /9 unique clicks, 2 clicks/,
  ],
  "campaign-audience": [
    "UPDATE campaigns SET audience_cursor = 0 WHERE status = 'SENT'",
    /SENT, audience up to 0 of/,
  ],
  "campaign-mails": [
    "UPDATE campaigns SET status = 'DRAFT' WHERE status = 'PAUSED'",
    /its campaign is DRAFT/,
  ],
  "ab-tests": [
    "UPDATE emails SET variant = 'D' WHERE campaign_seq IS NOT NULL",
    /its campaign has no variant D/,
  ],
  "campaign-category": [
    "UPDATE campaigns SET category = 'TRANSACTIONAL'",
    /TRANSACTIONAL, but its content is marketing/,
  ],
  "project-hours": [
    "UPDATE project_hours SET clicked = clicked + 1 WHERE clicked > 0",
    /^project .*, \d{4}-\d\d-\d\dT\d\d:00Z: clicked: counted \d+, but there are \d+$/,
  ],
  "late-bounces": [
    "UPDATE project_hours SET bounced_later = bounced + 1",
    /[1-9]\d* bounces reported later, \d+ bounces$/,
  ],
  "segment-members": [
    "UPDATE contacts SET project_seq = 2",
    /^segment .*belongs to another project/,
  ],
  "segment-conditions": ["UPDATE segments SET condition = '{}'", /STATIC with a condition/],
  "form-figures": [
    "UPDATE forms SET submitted = 9",
    /9 submitted, 1 confirmed, 0 withheld; by day 0, 2, 1, 0$/,
  ],
  "form-submissions": [
    "UPDATE form_submissions SET email = 'a@b.co'",
    /^submission \d+: it still has its address/,
  ],
  "template-versions": [
    "UPDATE templates SET revision = 9",
    /^template .*: revision 9, newest version \d$/,
  ],
  "template-layouts": ["UPDATE layouts SET project_seq = 2", /belongs to another project/],
  "template-designs": [
    "UPDATE templates SET design = NULL WHERE format = 'VISUAL'",
    /VISUAL without a design/,
  ],
  "image-contents": ["UPDATE images SET size_bytes = 1", /says 1 bytes, and has \d+$/],
  "webhook-order": [
    "UPDATE webhook_deliveries SET is_holding = 0",
    /PENDING without a next attempt, and no earlier delivery of its contact is PENDING/,
  ],
  "webhook-ends": [
    "UPDATE webhook_deliveries SET next_at = 1 WHERE status = 'SUCCEEDED'",
    /SUCCEEDED with a next time/,
  ],
  "webhook-project": ["UPDATE webhooks SET project_seq = 2", /its event belongs to another/],
  "workflow-versions": ["DELETE FROM workflow_versions", /version \d+ is missing/],
  "execution-states": [
    "UPDATE workflow_executions SET due_at = NULL, awaited_event = NULL WHERE status = 'WAITING'",
    /WAITING, due for nothing at never, awaits nothing/,
  ],
  "entry-runs": [
    `INSERT INTO workflow_entry_runs
       (id, project_seq, workflow_seq, status, cursor, end_seq, entered, skipped, created_at)
     SELECT 'run', project_seq, seq, 'COMPLETED', 2, 9, 2, 1, 1 FROM workflows LIMIT 1`,
    /^entry run run: COMPLETED, completed never, 3 of 2 contacts at most$/,
  ],
  "execution-steps": [
    "DELETE FROM workflow_execution_steps WHERE number = 2",
    /counted \d, but there are \d, up to number \d/,
  ],
  "workflow-step-counts": [
    "UPDATE workflow_step_counts SET completed = completed + 1",
    /^workflow .*: counted \d+, 0 and 0, but \d+, 0 and 0 steps were completed, skipped and failed/,
  ],
  "execution-contacts": [
    "UPDATE workflow_executions SET contact_seq = NULL WHERE status = 'WAITING'",
    /has no contact/,
  ],
  "known-values": [
    "UPDATE emails SET status = 'LOST' WHERE seq IN (1, 2)",
    /^emails\.status: 2 rows have the unknown value 'LOST'$/,
  ],
};

describe("a violation is detected of", () => {
  test("every invariant", () => {
    expect(Object.keys(VIOLATIONS)).toEqual(INVARIANTS.map(({ name }) => name));
  });

  for (const [name, [sql, finding]] of Object.entries(VIOLATIONS)) {
    test(name, () => {
      const sqlite = inMemory();
      sqlite.run(sql);
      const [first] = violationsOf(sqlite, name);
      expect(`${first?.id}: ${first?.finding}`).toMatch(finding);
      sqlite.close();
    });
  }
});

describe("mailstead check", () => {
  test("succeeds with and without a running server, prints each check, and changes nothing", async () => {
    const { data, file } = copyOf("sound");
    const before = readFileSync(file);
    const stopped = await mailstead(["check", "--data", data]);
    expect([stopped.code, stopped.stderr]).toEqual([0, ""]);
    expect(stopped.stdout).toMatch(/^ok {4}tables: The rows and indexes of each table are/);
    for (const { name, rule } of INVARIANTS) {
      expect(stopped.stdout).toContain(`ok    ${name}: ${rule}\n`);
    }
    expect(stopped.stdout).toEndWith(`All ${STEPS} checks passed.\n`);
    expect(readFileSync(file).equals(before)).toBe(true);
    const words = ["serve", "--data", data, "--port", "0", "--json"];
    const server = await startMailstead(words);
    const served = await mailstead(["check", "--json", "--data", data]);
    expect([served.code, valueAt(served.json, "failed")]).toEqual([0, 0]);
    expect(listAt(served.json, "checks")).toHaveLength(STEPS);
    expect((await server.stop()).code).toBe(0);
  });

  test("prints the first violations of each rule, and exits 1", async () => {
    const { data, file } = copyOf("broken");
    const sqlite = new Database(file);
    sqlite.run("UPDATE emails SET next_at = 1");
    sqlite.run("PRAGMA foreign_keys = OFF");
    sqlite.run("UPDATE emails SET message_seq = 999 WHERE seq = 1");
    sqlite.run("UPDATE project_usage SET emails = emails + 1");
    sqlite.close();
    const ran = await mailstead(["check", "--data", data]);
    expect(ran.code).toBe(1);
    const lines = ran.stdout.split("\n");
    const start = lines.findIndex((line) => line.startsWith("fail  queue: "));
    expect(lines.slice(start + 1, start + 6)).toEqual(
      Array.from({ length: 5 }, () => expect.stringMatching(/^ {8}email .*: \w+ with a next/)),
    );
    expect(lines[start + 6]).toBe("        … and more");
    expect(ran.stdout).toMatch(/^fail {2}references: .*\n {8}emails 1: refers to a row that is/m);
    expect(ran.stdout).toMatch(/^fail {2}project-usage: .*\n {8}project .*: counted .* emails/m);
    expect(ran.stdout).toMatch(/\d of \d+ checks failed\. Copy the data folder before/);
    const machine = await mailstead(["check", "--json", "--data", data]);
    const [queue] = listAt(machine.json, "checks").filter(
      (each) => valueAt(each, "name") === "queue",
    );
    expect([machine.code, valueAt(queue, "ok"), valueAt(queue, "hasMore")]).toEqual([
      1,
      false,
      true,
    ]);
    expect(listAt(queue, "violations")[0]).toEqual({
      id: expect.stringMatching(/^email /),
      finding: expect.stringContaining("with a next time"),
    });
  });

  test("reports damage in a table and an unused page, and continues with the other checks", async () => {
    const { data, file } = copyOf("damaged");
    const sqlite = new Database(file);
    const root = sqlite
      .query<{ rootpage: number }, []>(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'templates_page'",
      )
      .get()?.rootpage;
    sqlite.close();
    const content = readFileSync(file);
    const start = ((root ?? 0) - 1) * PAGE_BYTES;
    // This makes an index without entries: its pages are well formed, but its table has rows.
    content.fill(0, start, start + PAGE_BYTES);
    content.writeUInt8(0x0a, start);
    content.writeUInt16BE(PAGE_BYTES, start + 5);
    writeFileSync(file, content);
    const ran = await mailstead(["check", "--data", data]);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^fail {2}tables: .*\n {8}templates: .*templates_page/m);
    expect(ran.stdout).toMatch(/^ok {4}queue: /m);
  });

  test("exits 1 with one sentence if nothing can be read", async () => {
    const { data, file } = copyOf("unreadable");
    const content = readFileSync(file);
    writeFileSync(file, content.fill(0x55, 100));
    const ran = await mailstead(["check", "--data", data]);
    expect([ran.code, ran.stdout]).toEqual([1, ""]);
    expect(ran.stderr).toMatch(/^mailstead: .*mailstead\.db is damaged/);
    expect(ran.stderr).not.toMatch(/^\s+at /m);
    const missing = join(parent, "nowhere");
    expect((await mailstead(["check", "--data", missing])).stderr).toContain("no installation");
    expect(readdirSync(parent)).not.toContain("nowhere");
  });

  test("checks the file of an older version, and reports the migrations that the other checks need", async () => {
    const { data, file } = copyOf("older");
    const sqlite = new Database(file);
    const last = sqlite
      .query<{ name: string }, []>("DELETE FROM migrations WHERE name > '0000_z' RETURNING name")
      .all();
    sqlite.close();
    const ran = await mailstead(["check", "--data", data]);
    expect([ran.code, ran.stdout]).toEqual([1, expect.stringMatching(/^ok {4}references/m)]);
    expect(ran.stdout).toContain(`${last[0]?.name}: is not applied yet; run mailstead migrate`);
    expect(ran.stdout).not.toContain("queue:");
  });
});

test("an empty database violates no rule", () => {
  const { sqlite } = openDatabase(":memory:");
  migrate(sqlite);
  expect(failing(sqlite)).toEqual([]);
  sqlite.close();
});

test("each rule has a unique name and one sentence", () => {
  const names = INVARIANTS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { rule } of INVARIANTS) expect(rule).toMatch(/^[A-Z].*\.$/);
});
