/** Jobs that go on after the server stopped or was killed, and the files of uploads. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testApp } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";
import {
  type CrashImages,
  createCrashImages,
  jobRows,
  makeContactsFile,
  processedRows,
} from "./crash-images.ts";
import { storedContacts, waitForJob, runImport, upload } from "./upload.ts";

let images: CrashImages;
beforeEach(() => {
  images = createCrashImages();
});
afterEach(() => images.remove());

/** More than one change writes. */
const LINES = 1_500;

describe("an import", () => {
  test("stops between two changes when the server stops, and continues at the next start", async () => {
    const whole = await testApp();
    await runImport(whole, makeContactsFile(LINES));
    images.makeFolder("a");
    const first = await images.openIn("a");
    const answer = await upload(first, makeContactsFile(LINES));
    await first.app.start();
    await waitUntil(() => processedRows(first) > 0);
    await images.close(first);
    const second = await images.openIn("a");
    const reached = processedRows(second);
    expect(reached).toBeGreaterThan(0);
    expect(reached).toBeLessThan(LINES);
    await second.app.start();
    await waitForJob(second, answer.text("data.jobId"));
    expect(storedContacts(second)).toEqual(storedContacts(whole));
    expect(jobRows(second)).toEqual(jobRows(whole));
    await whole.close();
  });

  test("ends as FAILED with a message if its file no longer exists", async () => {
    const folder = images.makeFolder("a");
    const app = await images.openIn("a");
    const answer = await upload(app, makeContactsFile(10));
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
    const folder = images.makeFolder("a");
    const app = await images.openIn("a");
    const answer = await upload(app, makeContactsFile(10));
    expect(names(folder)).toEqual([`${answer.text("data.jobId")}.csv`]);
    await app.app.start();
    await waitForJob(app, answer.text("data.jobId"));
    await waitUntil(() => names(folder).length === 0);
  });

  test("are removed if they are refused", async () => {
    const folder = images.makeFolder("a");
    const app = await images.openIn("a");
    expect((await upload(app, "plan\npro\n")).status).toBe(422);
    expect(names(folder)).toEqual([]);
  });

  test("are removed if their request repeats an earlier one", async () => {
    const folder = images.makeFolder("a");
    const app = await images.openIn("a");
    const headers = { "idempotency-key": "k" };
    await upload(app, makeContactsFile(10), { headers });
    await upload(app, makeContactsFile(10), { headers });
    expect(names(folder).length).toBe(1);
  });

  test("of uploads that a crash aborted are removed at the next start, those of queued jobs are not", async () => {
    const folder = images.makeFolder("a");
    const first = await images.openIn("a");
    const answer = await upload(first, "email\nada@x.io\n");
    writeFileSync(join(folder, "imports", "aborted.csv"), "email\n");
    const copy = images.copy("a", "b");
    const second = await images.openIn("b");
    await second.app.start();
    expect((await waitForJob(second, answer.text("data.jobId"))).at("data.status")).toBe(
      "COMPLETED",
    );
    await waitUntil(() => !existsSync(join(copy, "imports", "aborted.csv")));
  });
});

test("a bulk action continues after a crash", async () => {
  images.makeFolder("a");
  const first = await images.openIn("a");
  const lines = Array.from({ length: LINES }, (_, i) => `person-${i}@x.io`).join("\n");
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
  images.copy("a", "b");
  const second = await images.openIn("b");
  await second.app.start();
  const progress = await waitForJob(second, answer.text("data.jobId"), "bulk");
  expect(reached).toBeGreaterThan(0);
  expect(progress.at("data")).toMatchObject({
    status: "COMPLETED",
    processed: LINES + 1,
    total: LINES + 1,
    updated: LINES,
    failed: 1,
  });
  const unsubscribed = second.eventNames().filter((name) => name === "contact.unsubscribed");
  expect(unsubscribed.length).toBe(LINES);
});
