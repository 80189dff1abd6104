/**
 * Jobs after a kill -9. A crash image is a copy of the data folder between two changes, which is
 * all that a new process would find.
 */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/db/open.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";
import { storedContacts, waitForJob, runImport, upload } from "./upload.ts";

let root: string;
let apps: TestApp[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "mailstead-resume-"));
  apps = [];
});
afterEach(async () => {
  for (const app of apps) {
    await app.close();
    app.db.sqlite.close();
  }
  rmSync(root, { recursive: true });
});

async function openIn(name: string): Promise<TestApp> {
  const folder = join(root, name);
  const app = await testApp({ db: openDatabase(join(folder, "mailstead.db")), folder });
  apps.push(app);
  return app;
}

function makeFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

/** Copies the data folder as a process that is killed now would leave it. */
function crashImage(from: string, to: string): void {
  cpSync(join(root, from), join(root, to), { recursive: true });
}

const LINES = 6000;
/** Timeout of tests with several apps and database files, for a busy machine. */
const SLOW_MS = 30_000;
/** A change writes fewer lines on a busy machine, but the number of crashes stays the same. */
const LINES_BETWEEN_CRASHES = 1_000;

/** A file with some addresses twice and some invalid rows, in no order. */
function makeFile(): string {
  const lines = Array.from({ length: LINES }, (_, i) => {
    const person = (i * 7919) % 5000;
    return i % 500 === 499 ? `fault ${i},${i}` : `person-${person}@x.io,${i}`;
  });
  return `email,n\n${lines.join("\n")}\n`;
}

function processed(app: TestApp): number {
  return (
    app.db.sqlite.query<{ n: number }, []>("SELECT processed AS n FROM jobs LIMIT 1").get()?.n ?? 0
  );
}

const counters = (app: TestApp) =>
  app.db.sqlite
    .query("SELECT status, processed, total, created, updated, failed, errors FROM jobs")
    .all();
const eventCount = (app: TestApp) => app.countRows("events");

/** The result of an import without interruption. */
async function uninterruptedResult() {
  const app = await testApp();
  apps.push(app);
  await runImport(app, makeFile());
  return { contacts: storedContacts(app), jobs: counters(app), events: eventCount(app) };
}

describe("an import", () => {
  test(
    "continues after each of many crashes, without losing or repeating a row",
    async () => {
      const expected = await uninterruptedResult();
      makeFolder("0");
      let app = await openIn("0");
      const answer = await upload(app, makeFile());
      const jobId = answer.text("data.jobId");
      let crashes = 0;
      for (let reached = 0; ; crashes++) {
        await app.app.start();
        const before = reached;
        await waitUntil(() => processed(app) >= before + LINES_BETWEEN_CRASHES);
        reached = processed(app);
        if (reached >= LINES - LINES_BETWEEN_CRASHES) break;
        crashImage(String(crashes), String(crashes + 1));
        app = await openIn(String(crashes + 1));
        expect(processed(app)).toBe(reached);
      }
      await waitForJob(app, jobId);
      expect(crashes).toBeGreaterThan(1);
      expect({
        contacts: storedContacts(app),
        jobs: counters(app),
        events: eventCount(app),
      }).toEqual(expected);
    },
    SLOW_MS,
  );

  test("stops between two changes when the server stops, and continues at the next start", async () => {
    const expected = await uninterruptedResult();
    makeFolder("a");
    const first = await openIn("a");
    const answer = await upload(first, makeFile());
    await first.app.start();
    await waitUntil(() => processed(first) > 0);
    await first.close();
    const reached = processed(first);
    expect(reached).toBeLessThan(LINES);
    first.db.sqlite.close();
    apps.pop();
    const second = await openIn("a");
    expect(processed(second)).toBe(reached);
    await second.app.start();
    await waitForJob(second, answer.text("data.jobId"));
    expect(storedContacts(second)).toEqual(expected.contacts);
    expect(counters(second)).toEqual(expected.jobs);
  });

  test("ends as FAILED with a message if its file no longer exists", async () => {
    const folder = makeFolder("a");
    const app = await openIn("a");
    const answer = await upload(app, makeFile());
    rmSync(join(folder, "imports"), { recursive: true });
    await app.app.start();
    const progress = await waitForJob(app, answer.text("data.jobId"));
    expect(progress.at("data")).toMatchObject({
      status: "FAILED",
      errors: [{ line: null, message: expect.stringContaining("no longer exists") }],
    });
  });
});

describe("uploaded files", () => {
  const names = (folder: string) => readdirSync(join(folder, "imports"));

  test("are removed when their job ends", async () => {
    const folder = makeFolder("a");
    const app = await openIn("a");
    const answer = await upload(app, makeFile());
    expect(names(folder)).toEqual([`${answer.text("data.jobId")}.csv`]);
    await app.app.start();
    await waitForJob(app, answer.text("data.jobId"));
    await waitUntil(() => names(folder).length === 0);
  });

  test("are removed if they are refused", async () => {
    const folder = makeFolder("a");
    const app = await openIn("a");
    expect((await upload(app, "plan\npro\n")).status).toBe(422);
    expect(names(folder)).toEqual([]);
  });

  test("are removed if their request repeats an earlier one", async () => {
    const folder = makeFolder("a");
    const app = await openIn("a");
    const headers = { "idempotency-key": "k" };
    await upload(app, makeFile(), { headers });
    await upload(app, makeFile(), { headers });
    expect(names(folder).length).toBe(1);
  });

  test("of uploads that a crash aborted are removed at the next start, those of queued jobs are not", async () => {
    const folder = makeFolder("a");
    const first = await openIn("a");
    const answer = await upload(first, "email\nada@x.io\n");
    writeFileSync(join(folder, "imports", "aborted.csv"), "email\n");
    crashImage("a", "b");
    const second = await openIn("b");
    await second.app.start();
    expect((await waitForJob(second, answer.text("data.jobId"))).at("data.status")).toBe(
      "COMPLETED",
    );
    await waitUntil(() => !existsSync(join(root, "b", "imports", "aborted.csv")));
  });
});

test("a bulk action continues after a crash", async () => {
  makeFolder("a");
  const first = await openIn("a");
  const lines = Array.from({ length: 3000 }, (_, i) => `person-${i}@x.io`).join("\n");
  await runImport(first, `email\n${lines}\n`);
  const ids = first.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM contacts ORDER BY seq")
    .all()
    .map(({ id }) => id);
  const bulk = { action: "unsubscribe", ids: [...ids, "unknown"] };
  const answer = await first.call("POST", "/contacts/bulk", bulk);
  const processedIds = () =>
    first.db.sqlite
      .query<{ n: number }, []>("SELECT processed AS n FROM jobs WHERE kind = 'BULK'")
      .get()?.n ?? 0;
  await waitUntil(() => processedIds() > 0);
  const reached = processedIds();
  crashImage("a", "b");
  const second = await openIn("b");
  await second.app.start();
  const progress = await waitForJob(second, answer.text("data.jobId"), "bulk");
  expect(reached).toBeGreaterThan(0);
  expect(progress.at("data")).toMatchObject({
    status: "COMPLETED",
    processed: 3001,
    total: 3001,
    updated: 3000,
    failed: 1,
  });
  const unsubscribed = second.eventNames().filter((name) => name === "contact.unsubscribed");
  expect(unsubscribed.length).toBe(3000);
});
