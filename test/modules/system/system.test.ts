/** GET /system: the state of the installation, and its checks. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../../src/lib/log.ts";
import { createSystemChecks } from "../../../src/modules/system/checks.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { signIn } from "../../support/session.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { listAt, valueAt } from "../../support/json.ts";

let t: TestApp;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "system-"));
  writeFileSync(join(folder, "mailstead.db"), "x".repeat(3_000));
  writeFileSync(join(folder, "secret"), "y".repeat(40));
  t = await testApp({ folder, config: { transport: "capture" } });
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

describe("the state of the installation", () => {
  test("has version, storage and transport", async () => {
    const answer = await (await signIn(t)).get("/system");
    expect(answer.status).toBe(200);
    expect(answer.at("data")).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      startedAt: "2026-03-02T10:00:00.000Z",
      transport: "capture",
      hostname: "sender.test",
      storage: { folder, usedBytes: 3_040, freeBytes: expect.any(Number) },
      queue: { waiting: 0, inProgress: 0, oldestDueAt: null, stalledSeconds: 0 },
      pausedSites: [],
    });
  });

  test("counts the mails that wait, with the time of the next one", async () => {
    for (const to of ["a@b.co", "c@d.co"]) {
      const mail = { to, from: "a@acme.test", subject: "s", body: "b" };
      await t.create("/v1/send", mail, "data.emails.0.email");
    }
    t.clock.advance(5_000);
    expect((await (await signIn(t)).get("/system")).at("data.queue")).toMatchObject({
      waiting: 2,
      inProgress: 0,
      oldestDueAt: "2026-03-02T10:00:00.000Z",
    });
  });

  test("names the sites that are paused now, the longest pause first", async () => {
    const insert = (name: string, inMs: number | null) =>
      t.db.sqlite.run(
        `INSERT INTO direct_sites
           (name, has_good_session, mean_ms, mail_limit, pauses, paused_until, updated_at)
         VALUES (?, 1, NULL, 1, 1, ?, 0)`,
        [name, inMs === null ? null : t.clock.now() + inMs],
      );
    insert("over.test", -1);
    insert("none.test", null);
    insert("short.test", 60_000);
    insert("long.test", 3_600_000);
    expect((await (await signIn(t)).get("/system")).at("data.pausedSites")).toEqual([
      { name: "long.test", until: "2026-03-02T11:00:00.000Z" },
      { name: "short.test", until: "2026-03-02T10:01:00.000Z" },
    ]);
  });

  test("has the findings of the checks, without those that need another process", async () => {
    const answer = await (await signIn(t)).get("/system");
    const findings = listAt(answer.body, "data.checks.findings");
    const subjects = findings.map((finding) => valueAt(finding, "what"));
    expect(subjects).toEqual(expect.arrayContaining(["transport", "storage", "DNS resolver"]));
    expect(subjects).not.toContain("event loop");
    expect(subjects).not.toContain("recurring work");
    expect(findings).toContainEqual({
      level: "warn",
      what: "transport",
      finding: "mail is captured, not sent",
      fix: "set --transport relay or direct",
      page: "server-settings",
    });
    expect(answer.at("data.checks")).toMatchObject({
      checkedAt: "2026-03-02T10:00:00.000Z",
      isRunning: false,
    });
  });
});

describe("the checks", () => {
  const finding = {
    level: "ok",
    what: "clock",
    finding: "is correct",
    fix: null,
    page: null,
  } as const;

  function setup(run: () => Promise<(typeof finding)[]>) {
    const clock = manualClock();
    const lines: string[] = [];
    const log = { ...silentLog, error: (message: string) => void lines.push(message) };
    return { clock, lines, read: createSystemChecks({ clock, log, run }) };
  }

  test("run at most once a minute, and only when they are asked for", async () => {
    let runs = 0;
    const { clock, read } = setup(async () => {
      runs++;
      return [finding];
    });
    for (let i = 0; i < 5; i++) await read();
    expect(runs).toBe(1);
    clock.advance(59_999);
    await read();
    expect(runs).toBe(1);
    clock.advance(1);
    await read();
    clock.advance(600_000);
    expect(runs).toBe(2);
  });

  test("that take long are waited for three seconds; later requests get the result", async () => {
    const { promise, resolve } = Promise.withResolvers<(typeof finding)[]>();
    let runs = 0;
    const { clock, read } = setup(() => {
      runs++;
      return promise;
    });
    const first = read();
    const second = read();
    await settleEventLoop();
    clock.advance(3_000);
    const unknown = { checkedAt: null, isRunning: true, findings: [] };
    expect([await first, await second]).toEqual([unknown, unknown]);
    clock.advance(120_000);
    resolve([finding]);
    await settleEventLoop();
    const { checkedAt, isRunning, findings } = await read();
    expect([checkedAt === null, isRunning, findings]).toEqual([false, false, [finding]]);
    expect(runs).toBe(2);
  });

  test("that fail leave the earlier findings and a line in the log", async () => {
    let isBroken = false;
    const { clock, read, lines } = setup(async () => {
      if (isBroken) throw new Error("broken");
      return [finding];
    });
    await read();
    isBroken = true;
    clock.advance(60_000);
    expect((await read()).findings).toEqual([finding]);
    expect(lines).toEqual(["the checks of the installation failed"]);
  });
});
