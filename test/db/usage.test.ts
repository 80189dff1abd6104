/** The counters of `project_usage` equal the rows after every kind of change. */

import type { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/db/migrate.ts";
import { readMigrations } from "../../src/db/embedded.ts";
import { openDatabase } from "../../src/db/open.ts";
import { METERED, usageTriggers } from "../../src/db/usage.ts";
import { findWrongUsage, recountUsage } from "../../src/db/usage-recount.ts";
import { createIdempotency } from "../../src/http/idempotency.ts";
import { removeOldData } from "../../src/modules/retention.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { startAutomation } from "../support/automation.ts";
import { waitUntil } from "../support/eventually.ts";
import { migratedDatabase } from "../support/database.ts";
import { stringAt } from "../support/json.ts";
import { startWebServer } from "../support/web-server.ts";
import { runImport } from "../modules/contacts/upload.ts";
import { chain, delay, step } from "../modules/workflows/graphs.ts";
import { workflowService } from "../../src/modules/workflows/service.ts";

/** Tables without rows that a project adds, or with few of them beside rows that are metered. */
const NOT_METERED = [
  "ab_tests", // One row per campaign.
  "alert_notices", // They belong to the whole installation, like the next one, and are removed with it.
  "alerts", // Removed 90 days after they were cleared.
  "api_keys", // Made by the operator.
  "audit", // The operator's, like the next ones of accounts.
  "memberships",
  "system_mails",
  "user_sessions",
  "user_tokens",
  "totp_secrets",
  "recovery_codes",
  "passkeys",
  "users",
  "campaign_counts", // One row per campaign.
  "campaign_hours", // One row per campaign and hour.
  "consent_wordings", // One row per text of a page at which a person decided.
  "contact_counts",
  "contact_events", // In the fixed bytes of an event.
  "direct_sites",
  "disk_samples", // Removed after eight days.
  "dkim_keys", // In the fixed bytes of a domain.
  "form_days", // One row per form and day.
  "erasure_keys", // One row per project.
  "erasures", // One row per erased person, without a text of strangers. No operation removes it.
  "page_fill", // Empty, except while an erasure overwrites free pages.
  "image_contents", // In the number of bytes of an image.
  "inbox_messages", // Captured messages have a limit of their own (--capture-max-bytes).
  "inbox_parts",
  "inbox_raw",
  "inbox_rules",
  "inbox_sessions",
  "inbox_texts",
  "inboxes",
  "installation_settings", // At most as many as there are settings.
  "installation_values", // A few values of the whole installation.
  "migrations",
  "mta_sts_policies",
  "project_hours", // One row per project and hour.
  "project_relays",
  "project_usage",
  "projects",
  "purge_marks",
  "readers",
  "readiness",
  "report_mailbox_messages", // At most 10,000 in each of at most 10 mailboxes of a project.
  "report_mailboxes",
  "report_sources", // At most 20 in a project.
  "saved_views", // At most 1,000 in a project, with at most 2,000 characters each.
  "preference_requests", // A few of a contact, for a day.
  "topics", // At most 100 in a project.
  "tracking_hosts", // At most 5 in a project.
  "workflow_entry_runs", // One row per run of a schedule or a request, removed with its workflow.
  "workflow_exits", // At most ten rows per version of a workflow.
  "workflow_step_counts", // One row per workflow and step.
];

const DAY = 24 * 60 * 60_000;

type Usage = { storedBytes: number; emails: number; queuedMails: number };

function usageOf(sqlite: Database, projectSeq = 1): Usage {
  const usage = sqlite
    .query<Usage, [number]>(
      `SELECT stored_bytes AS storedBytes, emails, queued_mails AS queuedMails
       FROM project_usage WHERE project_seq = ?`,
    )
    .get(projectSeq);
  if (usage === null) throw new Error("the project is not metered");
  return usage;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** All counters are right, and the stored bytes changed as they are expected to. */
function expectChanged(t: TestApp, before: Usage, how: "more" | "less" | "same"): Usage {
  expect(findWrongUsage(t.db.sqlite)).toEqual([]);
  const now = usageOf(t.db.sqlite);
  const sign = Math.sign(now.storedBytes - before.storedBytes);
  expect([how, sign]).toEqual([how, { more: 1, less: -1, same: 0 }[how]]);
  return now;
}

describe("the definitions", () => {
  test("are those of the triggers in the database", () => {
    const { sqlite } = migratedDatabase();
    const made = sqlite
      .query<{ sql: string }, []>(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'usage_of_%'",
      )
      .all()
      .map(({ sql }) => sql);
    expect(made.toSorted()).toEqual(usageTriggers());
  });

  test("name every table, or it is known why not", () => {
    const { sqlite } = migratedDatabase();
    const all = sqlite
      .query<{ name: string }, []>(
        `SELECT name FROM sqlite_master WHERE type = 'table'
         AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'inbox_search%'`,
      )
      .all()
      .map(({ name }) => name);
    const known = [...METERED.map(({ table }) => table), ...NOT_METERED];
    expect(known.toSorted()).toEqual(all.toSorted());
  });

  test("count about what the rows take on disk", () => {
    const { sqlite } = migratedDatabase();
    sqlite.run("INSERT INTO projects (seq, id, name, created_at) VALUES (1, 'p', 'P', 0)");
    const pageBytes = () =>
      4096 * (sqlite.query<{ page_count: number }, []>("PRAGMA page_count").get()?.page_count ?? 0);
    const emptyBytes = pageBytes();
    sqlite.run(`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
      INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
      SELECT lower(hex(randomblob(18))), 1, 'person-' || n || '@example.com', 1,
             json_object('name', printf('%0100d', n)), 1790000000000, 1790000000000 FROM numbers`);
    sqlite.run(
      `INSERT INTO messages (project_seq, digest, from_address, html, headers, is_marketing,
                             has_attachments, created_at)
       VALUES (1, 'd', 'a@b.co', '<p>', '[]', 0, 0, 0)`,
    );
    sqlite.run(`
      INSERT INTO emails (id, project_seq, contact_seq, message_seq, source, to_address, subject,
                          variables, status, priority, created_at, sent_at)
      SELECT id, 1, seq, 1, 'TRANSACTIONAL', email, 'Your order', data, 'SENT', 0,
             1790000000000, 1790000000000 FROM contacts`);
    sqlite.run(`
      INSERT INTO events (id, project_seq, name, contact_seq, created_at)
      SELECT id, 1, 'email.delivered', seq, 1790000000000 FROM contacts`);
    recountUsage(sqlite);
    const ratio = usageOf(sqlite).storedBytes / (pageBytes() - emptyBytes);
    expect(ratio).toBeGreaterThan(0.8);
    expect(ratio).toBeLessThan(1.6);
  });
});

describe("each metered table", () => {
  for (const metered of METERED) {
    const { table, parent, texts = {}, numbers = [], isInsertCounted = false } = metered;
    test(`${table}: rows that come, change and go are counted`, () => {
      const { sqlite } = migratedDatabase();
      sqlite.run("PRAGMA foreign_keys = OFF");
      insertRow(sqlite, "projects", { seq: 1 });
      if (parent !== undefined) insertRow(sqlite, parent.table, { seq: 1, project_seq: 1 });
      recountUsage(sqlite);
      const owner = parent === undefined ? { project_seq: 1 } : { [parent.key]: 1 };
      let last = usageOf(sqlite).storedBytes;
      const changedBy = (): number => {
        expect(findWrongUsage(sqlite)).toEqual([]);
        const change = usageOf(sqlite).storedBytes - last;
        last += change;
        return change;
      };
      insertRow(sqlite, table, owner);
      if (isInsertCounted) recountUsage(sqlite);
      expect(changedBy()).toBeGreaterThan(0);
      for (const [column, times] of Object.entries(texts)) {
        sqlite.run(`UPDATE ${table} SET ${column} = coalesce(${column}, '') || 'äöü'`);
        if (metered.isUpdateCounted === true) recountUsage(sqlite);
        expect([column, changedBy()]).toEqual([column, 6 * times]);
      }
      for (const column of numbers) {
        sqlite.run(`UPDATE ${table} SET ${column} = ${column} + 1000`);
        expect([column, changedBy()]).toEqual([column, 1000]);
      }
      sqlite.run(`DELETE FROM ${table}`);
      expect(changedBy()).toBeLessThan(0);
      if (parent === undefined) return;
      insertRow(sqlite, table, owner);
      if (isInsertCounted) recountUsage(sqlite);
      expect(changedBy()).toBeGreaterThan(0);
      // As the cascade of a foreign key does: the parent goes first.
      sqlite.run(`DELETE FROM ${parent.table}`);
      sqlite.run(`DELETE FROM ${table}`);
      expect(changedBy()).toBeLessThan(0);
    });
  }
});

/** A row with these columns, and some value wherever there has to be one. */
function insertRow(sqlite: Database, table: string, given: Record<string, number>): void {
  const columns = sqlite
    .query<{ name: string; type: string; notnull: number; pk: number; dflt_value: unknown }, []>(
      `SELECT * FROM pragma_table_info('${table}')`,
    )
    .all()
    .filter(({ name, notnull, pk, dflt_value }) => {
      const isFilled = notnull === 1 && dflt_value === null && !(pk === 1 && name === "seq");
      return name in given || isFilled;
    });
  const values = columns.map(({ name, type }) => {
    const value = given[name];
    if (value !== undefined) return value;
    return type.toLowerCase() === "integer" ? 1 : crypto.randomUUID();
  });
  sqlite.run(
    `INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")})
     VALUES (${columns.map(() => "?").join(", ")})`,
    values,
  );
}

const MAIL = { from: "a@acme.test", subject: "Hi {{ name }}", body: "<p>Hello</p>" };

async function open(options: Parameters<typeof testApp>[0] = {}): Promise<TestApp> {
  const t = await testApp(options);
  closers.push(() => t.close());
  return t;
}

/** One round of retention, to its end. */
async function purge(t: TestApp): Promise<void> {
  const days = { bodies: 1, raw: 1, events: 1, deliveries: 1 };
  const app = { ...t.app.app };
  while (await removeOldData(app, days));
}

describe("the counters are right after", () => {
  test("mails are accepted, delivered, cancelled and purged", async () => {
    const t = await open();
    await t.call("POST", "/suppressions", { email: "gone@example.com" });
    let usage = usageOf(t.db.sqlite);
    const attachments = [
      { filename: "a.txt", content: btoa("x".repeat(5_000)) },
      { filename: "b.txt", content: btoa("x".repeat(5_000)) },
    ];
    const to = ["ada@example.com", "bob@example.com", "gone@example.com"];
    await t.call("POST", "/v1/send", { ...MAIL, to, attachments, data: { name: "Ada" } });
    usage = expectChanged(t, usage, "more");
    expect(usage).toMatchObject({ emails: 3, queuedMails: 2 });
    await t.deliver();
    usage = expectChanged(t, usage, "more");
    expect(usage).toMatchObject({ emails: 3, queuedMails: 0 });

    // The same content is stored once for each project.
    const { secretKey: key, project } = await t.makeProject("other");
    const theirs = { ...MAIL, from: "a@other.test", to: "ada@example.com", attachments };
    await t.call("POST", "/v1/send", theirs, { key });
    expect(t.countRows("attachment_contents")).toBe(2);
    expect(usageOf(t.db.sqlite, project.seq).storedBytes).toBeGreaterThan(5_000);
    expectChanged(t, usage, "same");

    await t.deliver();
    t.clock.advance(3 * DAY);
    await purge(t);
    expect(t.countRows("attachment_contents") + t.countRows("captured_messages")).toBe(0);
    expectChanged(t, usage, "less");
  });

  test("a contact with queued mails, events and an execution is deleted", async () => {
    const t = await open();
    const ids = [];
    for (const email of ["ada@example.com", "bob@example.com"]) {
      await t.call("POST", "/v1/send", { ...MAIL, to: email, data: { name: "x".repeat(100) } });
      await t.call("POST", "/v1/track", { email, event: "bought", data: { price: 5 } });
      ids.push((await t.call("GET", `/contacts?search=${email}`)).text("contacts.0.id"));
    }
    const usage = usageOf(t.db.sqlite);
    expect(usage.queuedMails).toBe(2);
    await t.call("DELETE", `/contacts/${ids[0] ?? ""}`);
    expect(expectChanged(t, usage, "less").queuedMails).toBe(1);
  });

  test("contacts are made, changed, imported and deleted by a job", async () => {
    const t = await open();
    let usage = usageOf(t.db.sqlite);
    const id = await t.create("/contacts", { email: "ada@example.com" }, "id");
    usage = expectChanged(t, usage, "more");
    await t.call("PATCH", `/contacts/${id}`, { data: { text: "x".repeat(1_000) } });
    usage = expectChanged(t, usage, "more");
    await t.call("PATCH", `/contacts/${id}`, { email: "a@example.com", data: null });
    usage = expectChanged(t, usage, "less");
    const rows = Array.from({ length: 500 }, (_, i) => `p${i}@x.io,${i}`);
    await runImport(t, `email,n\n${rows.join("\n")}\n`);
    usage = expectChanged(t, usage, "more");
    const condition = { field: "email", operator: "endsWith", value: "@x.io" };
    const filter = { logic: "AND", groups: [{ filters: [condition] }] };
    await t.call("POST", "/contacts/bulk", { action: "delete", filter });
    await waitUntil(() => t.countRows("jobs WHERE finished_at IS NOT NULL") === 2);
    expect(t.countRows("contacts")).toBe(1);
    expectChanged(t, usage, "less");
  });

  test("the file of an import counts as long as it is kept", async () => {
    const t = await open();
    const text = `email,text\na@x.io,${"x".repeat(200)}\n${"\n".repeat(50_000)}`;
    await runImport(t, text);
    expectChanged(t, { ...usageOf(t.db.sqlite), storedBytes: 0 }, "more");
    expect(usageOf(t.db.sqlite).storedBytes).toBeLessThan(text.length);
  });

  test("templates, campaigns, segments and their members are made and deleted", async () => {
    const t = await open();
    for (const name of ["ada", "bob", "cy"]) {
      await t.create("/contacts", { email: `${name}@example.com`, data: { name } }, "id");
    }
    let usage = usageOf(t.db.sqlite);
    const template = { name: "t", subject: "s", body: "x".repeat(500), type: "MARKETING" };
    const templateId = await t.create("/templates", template, "data.id");
    usage = expectChanged(t, usage, "more");
    await t.call("PATCH", `/templates/${templateId}`, { body: "x" });
    usage = expectChanged(t, usage, "less");
    await t.call("DELETE", `/templates/${templateId}`);
    usage = expectChanged(t, usage, "less");

    const segment = await t.create("/segments", { name: "S", type: "STATIC" }, "data.id");
    const emails = ["ada@example.com", "bob@example.com"];
    await t.call("POST", `/segments/${segment}/members`, { emails });
    usage = expectChanged(t, usage, "more");
    await t.call("DELETE", `/segments/${segment}/members`, { emails: ["ada@example.com"] });
    usage = expectChanged(t, usage, "less");
    await t.call("DELETE", `/segments/${segment}`);
    usage = expectChanged(t, usage, "less");
    const condition = { field: "data.name", operator: "exists" };
    const dynamic = {
      name: "D",
      trackMembership: true,
      condition: { logic: "AND", groups: [{ filters: [condition] }] },
    };
    const tracked = await t.create("/segments", dynamic, "data.id");
    await t.app.segments.recompute();
    await waitUntil(() => t.countRows("segment_members") === 3);
    usage = expectChanged(t, usage, "more");
    await t.call("DELETE", `/segments/${tracked}`);
    for (let i = 0; i < 10 && t.countRows("segments") > 0; i++) await t.app.segments.recompute();
    expect(t.countRows("segments") + t.countRows("segment_members")).toBe(0);
    usage = expectChanged(t, usage, "less");

    const campaign = { ...MAIL, name: "c", audienceType: "ALL", rate: 1 / 60 };
    const id = await t.create("/campaigns", campaign, "data.id");
    usage = expectChanged(t, usage, "more");
    await t.app.start();
    await t.call("POST", `/campaigns/${id}/send`);
    await waitUntil(() => t.countRows("emails") === 3);
    usage = expectChanged(t, usage, "more");
    // Mails of campaigns are not in the quota of queued mails.
    expect(usage).toMatchObject({ emails: 3, queuedMails: 0 });
    await t.call("POST", `/campaigns/${id}/cancel`);
    await t.app.campaigns.tick();
    await waitUntil(() => t.countRows("emails WHERE next_at IS NOT NULL") === 0);
    // Each cancelled mail adds an event.
    usage = expectChanged(t, usage, "more");
    await t.call("DELETE", `/campaigns/${id}`);
    expect(t.countRows("campaigns")).toBe(0);
    expectChanged(t, usage, "less");
  });

  test("workflows run, wait, change and are deleted with their executions", async () => {
    const a = await startAutomation();
    closers.push(a.close);
    let usage = usageOf(a.t.db.sqlite);
    const templateId = await a.template({ type: "TRANSACTIONAL" });
    const graph = chain(
      step("mail", "SEND_EMAIL", { templateId }),
      delay("wait", 1, "hours"),
      step("end", "EXIT"),
    );
    const id = await a.workflow(graph, { allowReentry: true });
    usage = expectChanged(a.t, usage, "more");
    for (const name of ["ada", "bob"]) {
      await a.track("signed-up", { note: "x".repeat(500) }, `${name}@example.net`);
    }
    usage = expectChanged(a.t, usage, "more");
    await a.t.call("PATCH", `/workflows/${id}`, chain(delay("other", 2, "hours")));
    usage = expectChanged(a.t, usage, "more");
    await a.advance(60 * 60_000);
    const ended = (await a.executions(id)).map(({ status }) => status);
    expect(ended).toEqual(["EXITED", "EXITED"]);
    // The number of bytes depends on the mails that were sent before.
    expect(findWrongUsage(a.t.db.sqlite)).toEqual([]);
    usage = usageOf(a.t.db.sqlite);
    await a.t.call("DELETE", `/contacts/${a.contactId()}`);
    usage = expectChanged(a.t, usage, "less");
    await a.track("signed-up", {}, "bob@example.net");
    usage = expectChanged(a.t, usage, "more");
    await a.t.call("DELETE", `/workflows/${id}`);
    while (a.t.countRows("workflows") > 0) await workflowService(a.t.app.app).removeDeleted();
    expect(a.t.countRows("workflow_execution_steps")).toBe(0);
    expectChanged(a.t, usage, "less");
  });

  test("executions are purged with their steps", async () => {
    const a = await startAutomation();
    closers.push(a.close);
    await a.workflow(chain(step("end", "EXIT")), { allowReentry: true });
    await a.track("signed-up", { note: "x".repeat(500) });
    const usage = usageOf(a.t.db.sqlite);
    a.t.clock.advance(3 * DAY);
    await a.settle();
    await purge(a.t);
    expect(a.t.countRows("workflow_executions")).toBe(0);
    expectChanged(a.t, usage, "less");
  });

  test("webhooks deliver, are deleted, and their deliveries are purged", async () => {
    const t = await open({ config: { allowPrivateAddresses: true } });
    await t.deliver();
    const server = await startWebServer();
    closers.push(() => server.close());
    let usage = usageOf(t.db.sqlite);
    const hook = { url: server.origin, events: ["*"] };
    const id = await t.create("/webhooks", hook, "data.id");
    usage = expectChanged(t, usage, "more");
    await t.call("POST", "/v1/track", { email: "ada@example.com", event: "bought" });
    await waitUntil(() => t.countRows("webhook_deliveries WHERE status = 'SUCCEEDED'") === 2);
    usage = expectChanged(t, usage, "more");
    await t.call("DELETE", `/webhooks/${id}`);
    await purge(t);
    expect(t.countRows("webhooks") + t.countRows("webhook_deliveries")).toBe(0);
    expectChanged(t, usage, "less");
  });

  test("answers for an Idempotency-Key are stored and forgotten", async () => {
    const t = await open();
    await t.call("POST", "/v1/track", { email: "ada@example.com", event: "bought" });
    let usage = usageOf(t.db.sqlite);
    const body = { email: "ada@example.com" };
    const headers = { "idempotency-key": "k" };
    await t.call("POST", "/contacts", body, { headers });
    usage = expectChanged(t, usage, "more");
    t.clock.advance(2 * DAY);
    await t.call("POST", "/contacts", body, { headers });
    usage = expectChanged(t, usage, "same");
    t.clock.advance(2 * DAY);
    const { db, clock } = t;
    const sealKey = new Uint8Array(32);
    await createIdempotency({ db, writer: t.app.writer, clock, sealKey }).purge();
    expect(t.countRows("idempotency_keys")).toBe(0);
    expectChanged(t, usage, "less");
  });

  test("a change is refused after it wrote", async () => {
    const t = await open();
    const usage = usageOf(t.db.sqlite);
    const refused = t.app.writer.write(() => {
      t.db.sqlite.run("INSERT INTO event_names (project_seq, name, count) VALUES (1, 'undone', 0)");
      throw new Error("refused");
    });
    expect(await refused.catch((error: Error) => error.message)).toBe("refused");
    expectChanged(t, usage, "same");
  });

  test("a process died and another one went on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mailstead-usage-"));
    closers.push(async () => rmSync(folder, { recursive: true }));
    const db = openDatabase(join(folder, "mailstead.db"));
    const t = await testApp({ db, folder });
    const to = ["ada@example.com", "bob@example.com"];
    await t.call("POST", "/v1/send", { ...MAIL, to });
    db.sqlite.run("UPDATE emails SET status = 'SENDING', attempts = 1");
    const next = await open({ db: openDatabase(join(folder, "mailstead.db")), folder });
    expect(usageOf(next.db.sqlite).queuedMails).toBe(2);
    next.clock.advance(DAY);
    await next.deliver();
    expect(usageOf(next.db.sqlite).queuedMails).toBe(0);
    expect(findWrongUsage(next.db.sqlite)).toEqual([]);
  });
});

test("the migration counts what an earlier version stored", async () => {
  const t = await open();
  for (const name of ["ada", "bob"]) {
    const attachments = [{ filename: "a.txt", content: btoa(`attached for ${name}`) }];
    const mail = { ...MAIL, to: `${name}@example.com`, attachments };
    await t.create("/v1/send", mail, "data.emails.0.email");
  }
  await t.call("POST", "/v1/send", { ...MAIL, to: "cy@example.com" });
  await t.call("POST", "/v1/track", { email: "ada@example.com", event: "bought", data: { a: 1 } });
  await t.create("/segments", { name: "S", type: "STATIC" }, "data.id");
  await t.deliver();
  const names = readMigrations().map(({ name }) => name);
  const at = names.findIndex((name) => name.endsWith("_project_usage"));
  const old = openDatabase(":memory:");
  migrate(old.sqlite, readMigrations().slice(0, at));
  copyInto(old.sqlite, t.db.sqlite);
  migrate(old.sqlite, readMigrations());
  expect(findWrongUsage(old.sqlite)).toEqual([]);
  expect(usageOf(old.sqlite)).toEqual(usageOf(t.db.sqlite));
});

/** Copies the rows of all tables that both have, as far as the older schema has their columns. */
function copyInto(old: Database, from: Database): void {
  old.run("PRAGMA foreign_keys = OFF");
  const namesOf = (sqlite: Database) =>
    sqlite
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      )
      .all()
      .map(({ name }) => name);
  const present = new Set(namesOf(from));
  const tables = namesOf(old).filter((name) => name !== "migrations" && present.has(name));
  for (const name of tables) {
    old.run(`DELETE FROM ${name}`);
    const columns = old
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${name}')`)
      .all()
      .map((column) => stringAt(column, "name"));
    const insert = old.prepare(
      `INSERT OR REPLACE INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    );
    for (const row of from.query(`SELECT ${columns.join(", ")} FROM ${name}`).values()) {
      insert.run(...row);
    }
  }
}
