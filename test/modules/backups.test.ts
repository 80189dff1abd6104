/** The scheduled backups of a server: made by a process of their own, which may be killed. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installationId, prefixOf } from "../../src/backup/stored.ts";
import { ARCHIVE_NAME } from "../../src/backup/manifest.ts";
import { backupState } from "../../src/backup/state.ts";
import { openStoredDatabase } from "../../src/db/open-stored.ts";
import { backupRunner } from "../../src/modules/backups.ts";
import { storeInstallationValue } from "../../src/db/installation-values.ts";
import { systemTimeZone } from "../../src/lib/time-zone.ts";
import { type TestApp, TEST_SECRET, testApp } from "../support/app.ts";
import { mailstead } from "../support/command-line.ts";
import { stringAt } from "../support/json.ts";
import { expectError } from "../support/refusal.ts";
import { signIn } from "../support/session.ts";

let parent: string;
let folder: string;
let backupTo: string;
let t: TestApp;
const environment = { MAILSTEAD_SECRET: TEST_SECRET };
const minuteOf = (time: Date): number =>
  Number(
    new Intl.DateTimeFormat("en", { minute: "numeric", timeZone: systemTimeZone() }).format(time),
  );
const names = () => readdirSync(backupTo);

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "scheduled-backups-"));
  [folder, backupTo] = [join(parent, "data"), join(parent, "backups")];
  await mailstead(["project", "create", "Shop", "--data", folder], environment);
  const db = openStoredDatabase(join(folder, "mailstead.db"));
  t = await testApp({
    folder,
    db,
    config: { backupTo, backupKeep: { days: 1, weeks: 0, months: 0 } },
  });
});
afterAll(async () => {
  await t.close();
  rmSync(parent, { recursive: true, force: true });
});

test("needs a recovery key, runs once at a time, and leaves no part after a kill", async () => {
  const runner = backupRunner(t.app.app);
  await runner.runScheduled();
  expect(backupState(t.db, backupTo).failure?.error).toContain("no recovery key");
  const { json } = await mailstead(["backup", "init", "--data", folder, "--json"], environment);
  storeInstallationValue(t.db, "backup_recipient", stringAt(json, "recipient"));

  const killed = runner.begin();
  expect(() => runner.begin()).toThrow("being made already");
  killed.kill();
  await killed.ended;
  expect(backupState(t.db, backupTo).failure?.error).toBe("It was stopped before its end.");
  // The retry comes before the scheduled one, and half an hour apart from it.
  const retryAt = new Date(await runner.nextAt());
  expect(minuteOf(retryAt)).toBe(47);
  expect(retryAt.getTime() - t.clock.now()).toBeLessThanOrEqual(3_600_000);

  const part = `${prefixOf(installationId(TEST_SECRET))}20260101T000000Z`;
  mkdirSync(join(backupTo, part), { recursive: true });
  writeFileSync(join(backupTo, part, ARCHIVE_NAME), "half");
  await t.start();
  expect(names()).toEqual([]);

  const owner = await signIn(t);
  expect((await owner.get("/system")).at("data.backup")).toMatchObject({
    target: backupTo,
    keep: { days: 1, weeks: 0, months: 0 },
    running: null,
    nextAt: expect.any(String),
    last: null,
    failure: { error: "It was stopped before its end.", suggestion: expect.any(String) },
  });
  const again = runner.runAgain();
  runner.running()?.kill();
  await again;
  expect((await owner.post("/system/backups")).status).toBe(204);
  expect(runner.running()).not.toBeNull();
  expect((await owner.get("/app/api/audit?action=startBackup")).at("data.total")).toBe(1);
  expectError(await owner.post("/system/backups"), { status: 409, code: "CONFLICT" });
  expect((await t.call("POST", "/system/backups", {})).status).toBe(403);
  await runner.running()?.ended;
  await runner.runAgain();
  expect(runner.running()).toBeNull();
  expect(minuteOf(new Date(await runner.nextAt()))).toBe(17);
  expect(backupState(t.db, backupTo)).toMatchObject({ last: { name: names()[0] }, failure: null });
  expect((await owner.get("/system")).at("data.backup")).toMatchObject({
    running: null,
    last: { name: names()[0], bytes: expect.any(Number), verifiedAt: expect.any(String) },
    failure: null,
  });
  const kept = await owner.get("/system/backups");
  expect(kept.at("data")).toEqual([
    {
      name: names()[0],
      path: join(backupTo, names()[0] ?? ""),
      contents: expect.objectContaining({ bytes: expect.any(Number) }),
      fault: null,
    },
  ]);
  expect((await t.call("GET", "/system/backups")).status).toBe(403);

  const file = join(backupTo, names()[0] ?? "", "manifest.json");
  writeFileSync(file, "{");
  expect((await owner.get("/system/backups")).at("data.0")).toMatchObject({
    contents: null,
    fault: expect.stringContaining(file),
  });
});

test("none are made without a folder for them", async () => {
  const other = await testApp();
  const owner = await signIn(other);
  expect((await owner.get("/system")).at("data.backup")).toBeNull();
  expectError(await owner.post("/system/backups"), { status: 409, code: "CONFLICT" });
  await other.close();
});
