/** The weekly digest: one for each week through restarts, and its figures. The heartbeat of a healthy server. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { recordBackupFailure } from "../../../src/backup/state.ts";
import { queueDigest } from "../../../src/modules/alerts/digest-schedule.ts";
import { beat, heartbeatState } from "../../../src/modules/alerts/heartbeat.ts";
import type { Config } from "../../../src/config/settings.ts";
import { type AlertApp, alertApp, alertTargetServers, MINUTE_MS, OPERATOR } from "./alert-app.ts";

let servers: Awaited<ReturnType<typeof alertTargetServers>>;
let apps: AlertApp[] = [];

beforeAll(async () => {
  servers = await alertTargetServers();
});
afterAll(() => servers.close());
beforeEach(() => {
  servers.web.requests.length = 0;
  servers.sink.messages.length = 0;
  servers.web.answer = () => ({});
});
afterEach(async () => {
  for (const app of apps) await app.close();
  apps = [];
});

const DAY_MS = 24 * 60 * MINUTE_MS;
/** In the time zone of the system, as the digest is. */
const MONDAY = new Date(2026, 2, 9, 8, 0).getTime();

async function start(config: Partial<Config> = {}, before?: AlertApp): Promise<AlertApp> {
  const kept = before === undefined ? {} : { db: before.t.db, clock: before.clock };
  const app = await alertApp(servers, { ...kept, config });
  apps.push(app);
  app.sender.start();
  return app;
}

/** Lets the time pass until `at`, and looks once more than once a day whether a digest is due. */
async function passUntil(app: AlertApp, at: number): Promise<number> {
  for (let left = at - app.clock.now(); left > 0; left = at - app.clock.now()) {
    app.clock.advance(Math.min(left, DAY_MS / 2));
    await queueDigest(app.app);
    await app.sender.idle();
  }
  return servers.sink.messages.length;
}

describe("the weekly digest", () => {
  test("is sent on Monday at 08:00, once for each week, also through restarts", async () => {
    const first = await start();
    await queueDigest(first.app);
    expect(await passUntil(first, MONDAY - 1)).toBe(0);
    expect(await passUntil(first, MONDAY)).toBe(1);
    expect(await passUntil(first, MONDAY + 3 * DAY_MS)).toBe(1);
    const second = await start({}, first);
    expect(await passUntil(second, MONDAY + 6 * DAY_MS)).toBe(1);
    // A server that was off for three weeks sends one at its start.
    second.clock.advance(21 * DAY_MS);
    const third = await start({}, second);
    await queueDigest(third.app);
    await third.sender.idle();
    expect(servers.sink.messages).toHaveLength(2);
    expect(await passUntil(third, MONDAY + 27 * DAY_MS)).toBe(2);
    expect(await passUntil(third, MONDAY + 28 * DAY_MS)).toBe(3);
    expect(servers.sink.messages.map(({ to }) => to)).toEqual([[OPERATOR], [OPERATOR], [OPERATOR]]);
    expect(servers.web.requests).toEqual([]);
  });

  test("is not sent with --weekly-digest false, and not late when it is wanted again", async () => {
    const first = await start();
    await queueDigest(first.app);
    const off = await start({ weeklyDigest: false }, first);
    expect(await passUntil(off, MONDAY + DAY_MS)).toBe(0);
    const on = await start({}, off);
    expect(await passUntil(on, MONDAY + 2 * DAY_MS)).toBe(0);
    expect(await passUntil(on, MONDAY + 7 * DAY_MS)).toBe(1);
  });

  test("has the figures of the week and of the week before, and what needs the operator", async () => {
    const app = await start();
    const { sqlite } = app.t.db;
    await queueDigest(app.app);
    const put = (at: number, counts: string) => {
      const hour = at - (at % 3_600_000);
      sqlite.run(`INSERT INTO project_hours
        (project_seq, hour, sent, bounced, bounced_later, complained) VALUES (1, ${hour}, ${counts})`);
    };
    put(MONDAY - 8 * DAY_MS, "500, 50, 0, 5");
    put(MONDAY - 6 * DAY_MS, "1200, 24, 4, 3");
    put(MONDAY - 2 * DAY_MS, "800, 6, 6, 1");
    sqlite.run("UPDATE domains SET failing_since = ?", [app.clock.now()]);
    recordBackupFailure(app.t.db, app.app.config.backupTo ?? "", {
      at: 0,
      error: "No space <left>.",
      suggestion: null,
    });
    await app.minutes(11);
    await passUntil(app, MONDAY);
    const message = servers.sink.messages.find(({ data }) =>
      Buffer.from(data).toString().includes("The week from"),
    );
    const text = Buffer.from(message?.data ?? "")
      .toString()
      .replaceAll("=\r\n", "");
    expect(text).toContain(
      "Subject: [sender.test] The week from 2026-03-02 to 2026-03-09: 2,000 mails",
    );
    expect(text).toContain("Mails sent: 2,000 (week before: 500)");
    // 30 bounces, of which 10 were reported later, of 2,020 mails.
    expect(text).toContain("Bounces: 1.49 % (week before: 9.09 %)");
    expect(text).toContain("Complaints: 0.20 % (week before: 1.00 %)");
    expect(text).toContain("- acme: 2,000 mails");
    expect(text).toContain("- acme.test (project acme): its DKIM record is missing or wrong");
    expect(text).toContain("The latest one failed on 1970-01-01 00:00 UTC: No space <left>.");
    expect(text).toContain("No space &lt;left&gt;.");
    expect(text).toMatch(/- Backups are not made, since 2026-03-02 10:01 UTC/);
  });
});

describe("the heartbeat", () => {
  test("is requested every few minutes, only while the server is ready and no critical alert is open", async () => {
    const app = await start({ heartbeatUrl: `${servers.web.origin}/beat`, heartbeatMinutes: 3 });
    let obstacle: string | null = null;
    const beats = () => servers.web.requests.filter(({ path }) => path === "/beat").length;
    async function minutes(count: number): Promise<number> {
      for (let i = 0; i < count; i++) {
        await app.minutes(1);
        await beat(app.app, async () => obstacle);
      }
      return beats();
    }
    expect(await minutes(1)).toBe(1);
    expect(await minutes(2)).toBe(1);
    expect(await minutes(6)).toBe(3);
    obstacle = "The queue does not run.";
    expect(await minutes(6)).toBe(3);
    expect(heartbeatState(app.app)?.failure).toBe("The queue does not run.");
    obstacle = null;
    expect(await minutes(1)).toBe(4);
    app.world.space.freeBytes = 1;
    expect(await minutes(6)).toBe(4);
    expect(heartbeatState(app.app)?.failure).toBe("An alert is open: The disk is almost full");
    app.world.space.freeBytes = 50e9;
    expect(await minutes(6)).toBe(5);
    servers.web.answer = () => ({ status: 500 });
    await minutes(3);
    expect(heartbeatState(app.app)?.failure).toBe("The monitor answered 500.");
  });
});
