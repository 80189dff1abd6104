/** The data folder that `scripts/seed.ts --demo` makes. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEMO_USERS } from "../../scripts/seed/demo/team.ts";
import { type Demo, seedDemo } from "../../scripts/seed/demo.ts";
import { type Server, createServer } from "../../src/app.ts";
import { readConfig } from "../../src/config/read.ts";
import { openDataFolder } from "../../src/db/folder.ts";
import { openDatabase } from "../../src/db/open.ts";
import { CAMPAIGN_STATUSES } from "../../src/db/schema/campaigns.ts";
import { EMAIL_SOURCES, EMAIL_STATUSES } from "../../src/db/schema/emails.ts";
import { silentLog } from "../../src/lib/log.ts";
import { listKeys } from "../../src/modules/keys.ts";
import { readResponse, type TestResponse } from "../support/app.ts";
import { mailstead } from "../support/command-line.ts";
import { manualClock } from "../support/clock.ts";
import { dkimPairs } from "../support/dkim.ts";
import { valueAt } from "../support/json.ts";

const UNTIL_MS = Date.parse("2026-03-02T10:00:00.000Z");
const SIZES = { contacts: 240, mails: 4_000, events: 9_000, inboxMessages: 24 };
/** With this seed, even so few mails have every status. */
const SEED = 3;
const OPTIONS = { sizes: SIZES, untilMs: UNTIL_MS, seed: SEED, makeDkimKeys: dkimPairs };
const LIMIT_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), "mailstead-demo-"));
let demo: Demo;
let app: Server;
let call: (path: string) => Promise<TestResponse>;

beforeAll(async () => {
  demo = await seedDemo(folder, OPTIONS);
  const { databaseFile, secret } = openDataFolder(folder, null);
  app = createServer({
    config: readConfig({}, {}, { apiRate: 0 }),
    db: openDatabase(databaseFile),
    folder,
    secret,
    clock: manualClock(UNTIL_MS),
    log: silentLog,
  });
  call = async (path) => {
    const headers = { authorization: `Bearer ${demo.secretKey}` };
    return readResponse(await app.handle(new Request(`http://localhost${path}`, { headers })));
  };
}, LIMIT_MS);

afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("the counters of the demonstration equal its rows", () => {
  expect(demo.violations).toEqual([]);
});

test("mailstead check finds no fault in it", async () => {
  const { code, json } = await mailstead(["check", "--data", folder, "--json"]);
  expect([code, valueAt(json, "failed")]).toEqual([0, 0]);
});

test("exactly the keys that were used have requests, and none was used in the future", () => {
  const keys = listKeys(app.app, 1);
  const used = keys.filter(({ lastUsedAt }) => lastUsedAt !== null && lastUsedAt <= UNTIL_MS);
  const unused = keys.filter(({ lastUsedAt }) => lastUsedAt === null);
  expect(used.length).toBeGreaterThan(4);
  expect(used.every(({ uses }) => Object.keys(uses).length > 0)).toBe(true);
  expect(unused.map(({ uses }) => uses)).toEqual([{}, {}]);
  expect(used.length + unused.length).toBe(keys.length);
});

test.each(EMAIL_STATUSES)("it has emails with the status %s", async (status) => {
  const answer = await call(`/emails?status=${status}&limit=1`);
  expect(answer.status).toBe(200);
  expect(answer.text("data.items.0.status")).toBe(status);
});

test.each(EMAIL_SOURCES)("it has emails with the source %s", async (source) => {
  const answer = await call(`/emails?source=${source}&limit=1`);
  expect(answer.text("data.items.0.source")).toBe(source);
});

test.each(CAMPAIGN_STATUSES)("it has campaigns with the status %s", async (status) => {
  const answer = await call(`/campaigns?status=${status}&limit=1`);
  expect(answer.text("data.items.0.status")).toBe(status);
});

test.each(["contacts", "suppressions", "events", "templates", "segments", "workflows", "webhooks"])(
  "the application lists its %s",
  async (name) => {
    const answer = await call(`/${name}?limit=3`);
    expect(answer.status).toBe(200);
    const page = answer.at(name === "contacts" ? "contacts" : "data.items");
    expect(page).toHaveLength(3);
  },
);

test("the application shows the graph of each workflow", async () => {
  const workflows = await call("/workflows?limit=100");
  expect(workflows.at("data.items")).toHaveLength(6);
  for (let i = 0; i < 6; i++) {
    const answer = await call(`/workflows/${workflows.text(`data.items.${i}.id`)}`);
    expect(answer.status).toBe(200);
  }
});

/** The number of events of this name about mails that are no test mails. */
function countEvents(name: string): number {
  const database = new Database(openDataFolder(folder, null).databaseFile, { readonly: true });
  const found = database
    .query<{ n: number }, [string]>(
      `SELECT count(*) AS n FROM events JOIN emails ON emails.seq = events.email_seq
       WHERE name = ? AND source <> 'TEST'`,
    )
    .get(name);
  database.close();
  return found?.n ?? 0;
}

test("the statistics by day count the events of the year, without test mails", async () => {
  const stats = await call("/stats?from=2025-03-01T00:00:00Z&to=2026-03-03T00:00:00Z&interval=DAY");
  expect(stats.status).toBe(200);
  for (const name of ["sent", "delivered", "opened", "bounced", "suppressed"]) {
    expect([name, stats.at(`data.totals.${name}`)]).toEqual([name, countEvents(`email.${name}`)]);
  }
  const clicked = await call("/emails?status=CLICKED&limit=1");
  const clicks = Number(stats.at("data.totals.clicked"));
  expect(clicks).toBeGreaterThanOrEqual(Number(clicked.at("data.total")));
});

test("a bounced mail has the conversation with the server that refused it", async () => {
  const answer = await call("/emails?status=BOUNCED&limit=1");
  const attempt = "data.items.0.attempts.0";
  expect(answer.text(`${attempt}.outcome`)).toBe("bounced");
  const steps = answer.at(`${attempt}.conversations.0.steps`);
  if (!Array.isArray(steps)) throw new Error("no steps");
  const code = valueAt(steps.at(-1), "code");
  expect(answer.text("data.items.0.lastError")).toStartWith(String(code));
});

describe("captured messages", () => {
  test("are in two inboxes", async () => {
    const inboxes = await call("/inboxes");
    const names = [inboxes.text("data.0.name"), inboxes.text("data.1.name")];
    expect(names.toSorted()).toEqual(["checkout-tests", "default"]);
  });

  test.each(["Invoice for order", "كتب جديدة", "ご注文", "out for delivery", "has:attachment"])(
    "are parsed and found by the search %s",
    async (text) => {
      const answer = await call(`/inboxes/default/messages?query=${encodeURIComponent(text)}`);
      expect(answer.status).toBe(200);
      expect(answer.text("data.items.0.subject")).not.toBe("");
    },
  );
});

test("the shares of delivered, opened and bounced mail are believable", () => {
  const sqlite = new Database(join(folder, "mailstead.db"), { readonly: true });
  const row = sqlite
    .query<{ delivered: number; opened: number; bounced: number }, []>(
      `SELECT 1.0 * count(delivered_at) / count(*) AS delivered,
              1.0 * count(opened_at) / count(*) AS opened,
              1.0 * count(bounced_at) / count(*) AS bounced FROM emails`,
    )
    .get();
  sqlite.close();
  expect(row?.delivered).toBeWithin(0.9, 0.99);
  expect(row?.opened).toBeWithin(0.3, 0.45);
  expect(row?.bounced).toBeWithin(0.005, 0.03);
});

test("its users have every role, and one is disabled", () => {
  const roles = DEMO_USERS.map(({ role }) => role ?? "OWNER");
  expect(new Set(roles)).toEqual(new Set(["OWNER", "ADMIN", "EDITOR", "VIEWER"]));
  const sqlite = new Database(join(folder, "mailstead.db"), { readonly: true });
  const users = sqlite
    .query<{ email: string; digest: string; disabledAt: number | null }, []>(
      "SELECT email, password_digest AS digest, disabled_at AS disabledAt FROM users ORDER BY seq",
    )
    .all();
  sqlite.close();
  expect(users.map(({ email }) => email)).toEqual(DEMO_USERS.map(({ email }) => email));
  expect(users.filter(({ disabledAt }) => disabledAt !== null)).toHaveLength(1);
  expect(Bun.password.verifySync(demo.password, users[0]?.digest ?? "")).toBe(true);
});

test(
  "the same seed and end make the same mails, contacts and events",
  async () => {
    const few = { contacts: 60, mails: 300, events: 600, inboxMessages: 6 };
    const folders = ["first", "second"].map((name) => join(folder, name));
    for (const each of folders) {
      mkdirSync(each);
      await seedDemo(each, { ...OPTIONS, sizes: few });
    }
    const [first, second] = folders.map(digestOf);
    expect(first).toEqual(second);
  },
  LIMIT_MS,
);

/** Digests of the rows that depend on no secret. */
function digestOf(data: string): string[] {
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const queries = [
    "SELECT id, email, is_subscribed, data, created_at FROM contacts ORDER BY seq",
    "SELECT id, contact_seq, subject, status, attempts, sent_at, opened_at FROM emails ORDER BY seq",
    "SELECT number, outcome, reason, conversations FROM attempts ORDER BY seq",
    "SELECT id, name, contact_seq, email_seq, created_at FROM events ORDER BY seq",
    "SELECT id, contact_seq, status, current_step_id, due_at FROM workflow_executions ORDER BY seq",
    "SELECT subject, received_at FROM inbox_messages ORDER BY seq",
  ];
  const digests = queries.map((query) => Bun.hash(JSON.stringify(sqlite.query(query).all())));
  sqlite.close();
  return digests.map(String);
}
