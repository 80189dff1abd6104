/**
 * Jobs across a kill -9. A crash image is what lies in the data folder at some moment between two
 * changes; a new process has nothing else.
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
import { contactsOf, ended, imported, upload } from "./upload.ts";

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

/** What a process that dies right now leaves behind. */
function crashImage(from: string, to: string): void {
  cpSync(join(root, from), join(root, to), { recursive: true });
}

const LINES = 6000;
/** Several processes and databases in files, on a machine that may be busy. */
const SLOW_MS = 30_000;

/** Some addresses twice, some faults, in no order. */
function file(): string {
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

/** What an import that nothing disturbed leaves. */
async function undisturbed() {
  const app = await testApp();
  apps.push(app);
  await imported(app, file());
  return { contacts: contactsOf(app), jobs: counters(app), events: eventCount(app) };
}

describe("an import", () => {
  test(
    "goes on where it was after each of many crashes: nothing lost, nothing counted twice",
    async () => {
      const expected = await undisturbed();
      makeFolder("0");
      let app = await openIn("0");
      const answer = await upload(app, file());
      const jobId = answer.text("data.jobId");
      let crashes = 0;
      for (let reached = 0; ; crashes++) {
        await app.app.start();
        const before = reached;
        await waitUntil(() => processed(app) > before);
        reached = processed(app);
        if (reached >= LINES - 1000) break;
        crashImage(String(crashes), String(crashes + 1));
        app = await openIn(String(crashes + 1));
        expect(processed(app)).toBe(reached);
      }
      await ended(app, jobId);
      expect(crashes).toBeGreaterThan(1);
      expect({ contacts: contactsOf(app), jobs: counters(app), events: eventCount(app) }).toEqual(
        expected,
      );
    },
    SLOW_MS,
  );

  test("stops between two changes when the server stops, and goes on at the next start", async () => {
    const expected = await undisturbed();
    makeFolder("a");
    const first = await openIn("a");
    const answer = await upload(first, file());
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
    await ended(second, answer.text("data.jobId"));
    expect(contactsOf(second)).toEqual(expected.contacts);
    expect(counters(second)).toEqual(expected.jobs);
  });

  test("whose file is gone ends as FAILED and says so", async () => {
    const folder = makeFolder("a");
    const app = await openIn("a");
    const answer = await upload(app, file());
    rmSync(join(folder, "imports"), { recursive: true });
    await app.app.start();
    const progress = await ended(app, answer.text("data.jobId"));
    expect(progress.at("data")).toMatchObject({
      status: "FAILED",
      errors: [{ line: null, message: expect.stringContaining("not there any more") }],
    });
  });
});

describe("uploaded files", () => {
  const names = (folder: string) => readdirSync(join(folder, "imports"));

  test("are removed when their job ends", async () => {
    const folder = makeFolder("a");
    const app = await openIn("a");
    const answer = await upload(app, file());
    expect(names(folder)).toEqual([`${answer.text("data.jobId")}.csv`]);
    await app.app.start();
    await ended(app, answer.text("data.jobId"));
    await waitUntil(() => names(folder).length === 0);
  });

  test("that were refused leave nothing behind", async () => {
    const folder = makeFolder("a");
    const app = await openIn("a");
    expect((await upload(app, "plan\npro\n")).status).toBe(422);
    expect(names(folder)).toEqual([]);
  });

  test("of a request that was answered before leave nothing behind", async () => {
    const folder = makeFolder("a");
    const app = await openIn("a");
    const headers = { "idempotency-key": "k" };
    await upload(app, file(), { headers });
    await upload(app, file(), { headers });
    expect(names(folder).length).toBe(1);
  });

  test("that broke off in a crash are removed at the next start, those of waiting jobs are not", async () => {
    const folder = makeFolder("a");
    const first = await openIn("a");
    const answer = await upload(first, "email\nada@x.io\n");
    writeFileSync(join(folder, "imports", "broken-off.csv"), "email\n");
    crashImage("a", "b");
    const second = await openIn("b");
    await second.app.start();
    expect((await ended(second, answer.text("data.jobId"))).at("data.status")).toBe("COMPLETED");
    await waitUntil(() => !existsSync(join(root, "b", "imports", "broken-off.csv")));
  });
});

test("a bulk action goes on where it was", async () => {
  makeFolder("a");
  const first = await openIn("a");
  const lines = Array.from({ length: 3000 }, (_, i) => `person-${i}@x.io`).join("\n");
  await imported(first, `email\n${lines}\n`);
  const ids = first.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM contacts ORDER BY seq")
    .all()
    .map(({ id }) => id);
  const bulk = { action: "unsubscribe", ids: [...ids, "nobody"] };
  const answer = await first.call("POST", "/contacts/bulk", bulk);
  const done = () =>
    first.db.sqlite
      .query<{ n: number }, []>("SELECT processed AS n FROM jobs WHERE kind = 'BULK'")
      .get()?.n ?? 0;
  await waitUntil(() => done() > 0);
  const reached = done();
  crashImage("a", "b");
  const second = await openIn("b");
  await second.app.start();
  const progress = await ended(second, answer.text("data.jobId"), "bulk");
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
