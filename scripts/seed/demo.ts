/**
 * Makes the project "Harbour Books": a bookshop that has used the service for a year.
 *
 * 1. The application creates the objects that people enter: domains, keys, templates, segments,
 *    workflows, campaigns, webhooks, inboxes. Its clock is set to the time of each.
 * 2. The workflows run in memory; then all mails are written in the order of their times. Each adds
 *    its events and changes its recipient.
 * 3. Contacts, suppressions, executions and the event log are written, and the counters added up.
 * 4. The application parses the captured messages and records the members of tracked segments.
 * 5. The checks of `mailstead check` compare counters with counts.
 *
 * The content depends only on the seed and the end time. Keys, secrets and the ids of created
 * objects are different in each run.
 */

import type { Database } from "bun:sqlite";
import { createServer } from "../../src/app.ts";
import type { AppOptions } from "../../src/core.ts";
import { checkSteps } from "../../src/cli/check/steps.ts";
import { readConfig } from "../../src/config/read.ts";
import { openDataFolder } from "../../src/db/folder.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../src/db/open.ts";
import { recountUsage } from "../../src/db/usage-recount.ts";
import { createWriter } from "../../src/db/writer.ts";
import { createReader } from "../../src/events/reader.ts";
import { silentLog } from "../../src/lib/log.ts";
import { createKey } from "../../src/modules/keys.ts";
import { changeProject, createProject } from "../../src/modules/projects.ts";
import { createEmailStore } from "../../src/outbox/enqueue.ts";
import { createApi, setClock, type SetClock } from "./demo/api.ts";
import { createCampaigns } from "./demo/campaigns.ts";
import { inboxMessage } from "./demo/inbox-messages.ts";
import { DAY_MS } from "./demo/people.ts";
import { createSteps } from "./demo/progress.ts";
import { addReceived } from "./demo/received.ts";
import { addReportSources } from "./demo/relay-reports.ts";
import * as settings from "./demo/settings.ts";
import { DEMO_PASSWORD, DEMO_USERS, insertTeam } from "./demo/team.ts";
import { NEWS_SENDER, SHOP } from "./demo/template-texts.ts";
import { createWebhooks } from "./demo/webhooks.ts";
import { type DemoSizes, type Parts, simulate } from "./demo/year.ts";
import { createRandom } from "./random.ts";
import { inboxParts } from "../../test/support/inbox-parts.ts";

export type DemoOptions = {
  sizes: DemoSizes;
  /** End of the data, in milliseconds since the epoch. */
  untilMs: number;
  seed?: number;
  log?: (text: string) => void;
  /** Makes the DKIM keys of a domain; without it, they are generated. */
  makeDkimKeys?: AppOptions["makeDkimKeys"];
};

export type Demo = {
  projectId: string;
  secretKey: string;
  password: string;
  users: typeof DEMO_USERS;
  /** Violations that the checks found; empty if all is right. */
  violations: string[];
};

const READERS = ["workflows", "webhooks"];
const LEASE_MS = 10 * 60_000;
/** So many messages are imported side by side; they have the same time. The server accepts twenty. */
const IN_ONE_BATCH = 16;
const MANY_MESSAGES = 10_000;
/** Each eighth of these first messages is in the second inbox. */
const IN_BOTH_INBOXES = 440;
const MESSAGES_PER_LOG = 10_000;
/** A check that takes longer is printed, so that a long run shows where it is. */
const LONG_CHECK_MS = 1_000;

export async function seedDemo(folder: string, options: DemoOptions): Promise<Demo> {
  const { sizes, untilMs, seed = 20_260_101, log = () => {} } = options;
  const { databaseFile, secret } = openDataFolder(folder, null);
  const db = openDatabase(databaseFile);
  migrate(db.sqlite);
  const { sqlite } = db;
  if (sqlite.query("SELECT 1 FROM contacts LIMIT 1").get() !== null) {
    throw new Error(`${folder} already contains contacts`);
  }
  // An interrupted run is repeated in a new folder, so durability is not needed.
  sqlite.run("PRAGMA synchronous = OFF");
  sqlite.run("PRAGMA foreign_keys = OFF");
  const clock = setClock(untilMs - 365 * DAY_MS);
  const { project, secretKey } = await createShop(db, clock);
  const config = readConfig({}, {}, { apiRate: 0, captureMaxMessages: 0, captureMaxDays: 0 });
  const { makeDkimKeys } = options;
  const app = createServer({
    config,
    db,
    folder,
    secret,
    clock,
    log: silentLog,
    ...(makeDkimKeys === undefined ? {} : { makeDkimKeys }),
  });
  const api = createApi(app, secretKey);
  const setting = { app, api, db, clock, projectSeq: project.seq, untilMs };
  const step = createSteps(log);

  const parts = await step("templates, segments, workflows, campaigns", () => prepare(setting));
  const year = { sqlite, parts, sizes, untilMs, projectSeq: project.seq, seed, log };
  await step(`${sizes.contacts} contacts, about ${sizes.mails} mails`, () => simulate(year, step));
  await step("users", () =>
    insertTeam(sqlite, { projectSeq: project.seq, random: createRandom(seed + 9), untilMs }),
  );
  clock.set(untilMs);
  await step("captured messages", () => fillInboxes(setting, { ...parts, ...sizes, seed, log }));
  addReceived(setting);
  for (const name of READERS) createReader({ db, name }).skip();
  await step("members of segments", async () => {
    sqlite.run("UPDATE segments SET baseline_at = NULL WHERE track_membership = 1");
    await app.segments.recompute();
    await api.call("GET", "/segments?limit=100");
  });
  await app.stop();
  // The application returns leases to the queue when it stops, so these mails are leased after it.
  leaseSome(sqlite, untilMs);
  await step("counters", () => recountUsage(sqlite));
  const violations = await step("checks", () => violationsIn(sqlite, log));
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
  const users = DEMO_USERS;
  return { projectId: project.id, secretKey, password: DEMO_PASSWORD, users, violations };
}

async function createShop(db: Db, clock: SetClock) {
  return createWriter(db, silentLog).write(() => {
    const created = createProject({ db, clock }, SHOP);
    const sender = { address: NEWS_SENDER, name: SHOP };
    const project = changeProject({ db }, created, { tracking: "ENABLED", sender });
    const key = { kind: "SECRET", name: "Demonstration", expiresAt: null } as const;
    return { project, secretKey: createKey({ db, clock }, project.seq, key).text };
  });
}

async function prepare(setting: settings.Setting): Promise<Parts & { inbox: string }> {
  // All usage is counted again at the end.
  const usage = {
    addBytes() {},
    addEmails() {},
    addQueued() {},
    pendingBytes: () => 0,
    pendingReceivedBytes: () => 0,
    pendingQueued: () => 0,
  };
  const store = createEmailStore({ db: setting.db, usage });
  await settings.addDomains(setting);
  await settings.addKeys(setting);
  const templates = await settings.addTemplates(setting, store);
  await settings.addTopics(setting);
  await settings.addForm(setting);
  const segmentIds = await settings.addSegments(setting);
  const workflows = await settings.addWorkflows(setting, templates);
  const campaigns = await createCampaigns(setting.api, { ...setting, segmentIds });
  await createWebhooks(setting.api, setting);
  await addReportSources(setting);
  const inbox = await settings.addInbox(setting);
  return { store, templates, workflows, campaigns, inbox };
}

/** Three of the mails that wait are under way. */
function leaseSome(sqlite: Database, untilMs: number): void {
  sqlite.run(
    `UPDATE emails SET status = 'SENDING', attempts = 1, next_at = ? WHERE seq IN (
       SELECT seq FROM emails
       WHERE status = 'QUEUED' AND attempts = 0 AND campaign_seq IS NULL ORDER BY seq DESC LIMIT 3)`,
    [untilMs + LEASE_MS],
  );
}

/** Most messages are in the first inbox, and most of these are read; the second one has at most 55. */
async function fillInboxes(
  { app, api, clock, db, untilMs }: settings.Setting,
  {
    inbox,
    inboxMessages,
    seed,
    log,
  }: { inbox: string; inboxMessages: number; seed: number; log: (text: string) => void },
): Promise<void> {
  const random = createRandom(seed + 5);
  const batch = inboxMessages > MANY_MESSAGES ? IN_ONE_BATCH : 1;
  for (let first = 0; first < inboxMessages; first += batch) {
    const at = untilMs - Math.floor(9 * DAY_MS * (1 - first / inboxMessages)) - 60_000;
    clock.set(at);
    const numbers = Array.from(
      { length: Math.min(batch, inboxMessages - first) },
      (_, i) => first + i,
    );
    await Promise.all(
      numbers.map((number) =>
        api.importMessage(
          number % 8 === 7 && number < IN_BOTH_INBOXES ? inbox : "default",
          inboxMessage({ number, random, at }),
        ),
      ),
    );
    if (first % MESSAGES_PER_LOG === 0 && first > 0) log(`  ${first} of ${inboxMessages} messages`);
  }
  await inboxParts(app.app).indexer.caughtUp();
  db.sqlite.run("UPDATE inbox_messages SET is_read = 1 WHERE seq % 5 < 3 AND seq < ?", [
    inboxMessages - 6,
  ]);
  db.sqlite.run(
    "UPDATE inbox_messages SET is_pinned = 1, tags = '[\"checkout\"]' WHERE seq % 41 = 3",
  );
}

/** The findings of all checks of `mailstead check`. */
function violationsIn(sqlite: Database, log: (text: string) => void): string[] {
  return checkSteps(sqlite).flatMap(({ name, pieces }) =>
    pieces.flatMap((piece) => {
      const startedAt = performance.now();
      const found = piece.find().map(({ id, finding }) => `${name}: ${id} ${finding}`);
      const tookMs = performance.now() - startedAt;
      const title = piece.name === name ? name : `${name} of ${piece.name}`;
      if (tookMs > LONG_CHECK_MS) log(`  ${title}: ${(tookMs / 1000).toFixed(1)} s`);
      return found;
    }),
  );
}
