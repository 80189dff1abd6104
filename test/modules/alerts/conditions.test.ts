/** Each condition raises one alert and clears it once, and each target is told of both once. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { recordBackup, recordBackupFailure } from "../../../src/backup/state.ts";
import { storeInstallationValue } from "../../../src/db/installation-values.ts";
import { CONDITIONS } from "../../../src/modules/alerts/conditions.ts";
import { holdQueue, queueHold, releaseQueue } from "../../../src/outbox/queue-hold.ts";
import { type AlertApp, alertApp, alertTargetServers, OPERATOR } from "./alert-app.ts";

let servers: Awaited<ReturnType<typeof alertTargetServers>>;
let a: AlertApp;

beforeAll(async () => {
  servers = await alertTargetServers();
});
afterAll(() => servers.close());
beforeEach(async () => {
  servers.web.requests.length = 0;
  servers.sink.messages.length = 0;
  a = await alertApp(servers);
});
afterEach(() => a.close());

const DAY_MS = 24 * 60 * 60_000;

const run = (sql: string, ...values: (string | number | null)[]) => a.t.db.sqlite.run(sql, values);

const setHours = (columns: string, ...values: number[]) => {
  run("DELETE FROM project_hours");
  const hour = a.clock.now() - (a.clock.now() % 3_600_000);
  run(
    `INSERT INTO project_hours (project_seq, hour, ${columns}) VALUES (1, ${hour}, ${values.join(", ")})`,
  );
};

const backup = (at: number) => ({
  name: "b",
  createdAt: at,
  verifiedAt: at,
  bytes: 1,
  sha256: "0",
});

const placeOf = ({ app }: { app: { config: { backupTo: string | null } } }): string =>
  app.config.backupTo ?? "";

type Case = {
  name: string;
  /** Makes the condition hold. */
  begin: () => unknown;
  /** Minutes after which there is no alert yet, and after which there is one. */
  quiet: number;
  raised: number;
  /** Changes the value, but not by enough to clear the alert. */
  ease?: () => unknown;
  end: () => unknown;
  cleared: number;
  finding: string;
};

const CASES: readonly Case[] = [
  {
    name: "queue_stalled",
    begin: () =>
      a.t.create(
        "/v1/send",
        { to: "a@b.co", from: "a@acme.test", subject: "s", body: "b" },
        "data.emails.0.email",
      ),
    quiet: 4,
    raised: 5,
    end: () => run("UPDATE emails SET next_at = NULL, status = 'CANCELLED'"),
    cleared: 6,
    finding: "Transactional mail has been due for 5 minutes",
  },
  {
    name: "queue_held",
    begin: async () => {
      holdQueue(a.t.db, a.clock.now());
      await queueHold(a.app).refresh();
    },
    quiet: 15,
    raised: 16,
    end: async () => {
      releaseQueue(a.t.db);
      await queueHold(a.app).refresh();
    },
    cleared: 1,
    finding: "no mail and no webhook leaves",
  },
  {
    name: "relay_down",
    begin: () =>
      (a.world.hold = { at: "relay", name: "relay:587", reason: "refused", retryAfterMs: 1 }),
    quiet: 15,
    raised: 16,
    end: () => (a.world.hold = null),
    cleared: 6,
    finding: "It cannot be reached: refused",
  },
  {
    name: "relay_fallback",
    begin: () =>
      (a.world.replaced = { at: "relay", name: "relay:587", reason: "refused", retryAfterMs: 1 }),
    quiet: 15,
    raised: 16,
    end: () => (a.world.replaced = null),
    cleared: 6,
    finding: "It cannot be reached: refused",
  },
  {
    name: "bounce_rate",
    begin: () => setHours("sent, bounced", 95, 6),
    quiet: 0,
    raised: 1,
    ease: () => setHours("sent, bounced", 95, 5),
    end: () => setHours("sent, bounced", 120, 4),
    cleared: 61,
    finding: "6 of 101 mails of the last 24 hours bounced (5.9 %)",
  },
  {
    name: "complaint_rate",
    begin: () => setHours("sent, complained", 1_900, 2),
    quiet: 0,
    raised: 1,
    ease: () => setHours("sent, complained", 2_100, 2),
    end: () => setHours("sent, complained", 3_000, 2),
    cleared: 61,
    finding: "2 of 1900 mails of the last 24 hours were reported as spam (0.11 %)",
  },
  {
    name: "domain_lost",
    begin: () => run("UPDATE domains SET failing_since = ?", a.clock.now()),
    quiet: 10,
    raised: 11,
    ease: () => run("UPDATE domains SET status = 'FAILED'"),
    end: () => run("UPDATE domains SET failing_since = NULL, status = 'VERIFIED'"),
    cleared: 1,
    finding: "missing or wrong in the DNS since 2026-03-02 10:00 UTC",
  },
  {
    name: "certificate",
    begin: () => {
      const to = a.clock.now() + 14 * DAY_MS;
      a.world.certificates = [
        { name: "SMTP", life: { from: to - 90 * DAY_MS, to }, failure: null },
      ];
    },
    quiet: 0,
    raised: 1,
    end: () => {
      const to = a.clock.now() + 16 * DAY_MS;
      a.world.certificates = [
        { name: "SMTP", life: { from: to - 90 * DAY_MS, to }, failure: null },
      ];
    },
    cleared: 1,
    finding: "It ends on 2026-03-16 10:00 UTC.",
  },
  {
    name: "certificate",
    begin: () => {
      a.world.certificates = [
        { name: "HTTPS", life: null, failure: { count: 3, message: "no port 80" } },
      ];
    },
    quiet: 0,
    raised: 1,
    end: () => {
      a.world.certificates = [
        { name: "HTTPS", life: null, failure: { count: 2, message: "no port 80" } },
      ];
    },
    cleared: 1,
    finding: "The last 3 tries failed. The CA gave none: no port 80",
  },
  {
    name: "backup",
    begin: () =>
      recordBackupFailure(a.t.db, placeOf(a), {
        at: 0,
        error: "The disk is full.",
        suggestion: "Free some.",
      }),
    quiet: 0,
    raised: 1,
    end: () => recordBackup(a.t.db, placeOf(a), backup(a.clock.now())),
    cleared: 1,
    finding: "The last one failed: The disk is full. Free some.",
  },
  {
    name: "backup",
    begin: () => recordBackup(a.t.db, placeOf(a), backup(a.clock.now() - 36 * 3_600_000)),
    quiet: 0,
    raised: 1,
    end: () => recordBackup(a.t.db, placeOf(a), backup(a.clock.now())),
    cleared: 1,
    finding: "The newest one is of 2026-02-28 22:00 UTC.",
  },
  {
    name: "disk_low",
    begin: () => (a.world.space.freeBytes = 4.9e9),
    quiet: 0,
    raised: 1,
    ease: () => (a.world.space.freeBytes = 6e9),
    end: () => (a.world.space.freeBytes = 7.1e9),
    cleared: 6,
    finding: "4.9 GB are free, 4.9 % of the disk.",
  },
  {
    name: "webhook_failing",
    begin: async () => {
      const hook = { url: "https://hooks.example.com/secret", events: ["email.sent"] };
      await a.t.create("/webhooks", hook, "data.id");
      run("UPDATE webhooks SET failing_since = ?", a.clock.now());
    },
    quiet: 59,
    raised: 60,
    ease: () => run("UPDATE webhooks SET is_enabled = 0, disabled_reason = 'FAILING'"),
    end: () =>
      run("UPDATE webhooks SET is_enabled = 1, disabled_reason = NULL, failing_since = NULL"),
    cleared: 1,
    finding: "No call has succeeded since 2026-03-02 10:00 UTC (project acme).",
  },
  {
    name: "update_available",
    begin: () =>
      storeInstallationValue(a.t.db, "known_release", `{"version":"99.1.0","askedAt":1}`),
    quiet: 0,
    raised: 1,
    end: () => storeInstallationValue(a.t.db, "known_release", `{"version":"0.0.1","askedAt":1}`),
    cleared: 1,
    finding: "What is new: https://",
  },
];

describe("a condition raises one alert, and clears it once:", () => {
  for (const { name, begin, quiet, raised, ease, end, cleared, finding } of CASES) {
    test(`${name}: ${finding}`, async () => {
      await begin();
      await a.minutes(quiet);
      expect(a.alerts()).toEqual([]);
      await a.minutes(raised - quiet);
      expect(a.alerts()).toEqual([name]);
      await ease?.();
      await a.minutes(cleared + 4);
      expect(a.alerts()).toEqual([name]);
      await end();
      await a.minutes(cleared - 1);
      expect(a.alerts()).toEqual([name]);
      await a.minutes(1);
      expect(a.alerts()).toEqual([`${name} cleared`]);
      await a.minutes(5);
      a.sender.start();
      await a.sender.idle();
      const told = servers.web.requests.map(({ path }) => path).toSorted();
      expect(told).toEqual(["/hook", "/hook", "/slack", "/slack", "/topic", "/topic"]);
      const mails = servers.sink.messages.map(({ to, data }) => [to, Buffer.from(data).toString()]);
      expect(mails).toHaveLength(2);
      expect(mails.map(([to]) => to)).toEqual([[OPERATOR], [OPERATOR]]);
      const [first, second] = servers.web.requests
        .filter(({ path }) => path === "/hook")
        .map(({ body }) => JSON.parse(body));
      expect([first.type, second.type]).toEqual(["alert.raised", "alert.cleared"]);
      expect(first.data).toMatchObject({ condition: name, clearedAt: null });
      expect(first.data.finding).toContain(finding);
    });
  }

  test("disk_filling: by the line through the samples of six hours", async () => {
    for (let i = 0; i < 190; i++) {
      a.world.space.freeBytes -= 0.03e9;
      await a.minutes(1);
    }
    // 1.8 GB in an hour: 44.3 GB would last for a little more than a day.
    expect(a.alerts()).toEqual([]);
    for (let i = 0; i < 60; i++) {
      a.world.space.freeBytes -= 0.06e9;
      await a.minutes(1);
    }
    expect(a.alerts()).toEqual(["disk_filling"]);
    a.world.space.freeBytes = 90e9;
    await a.minutes(90);
    expect(a.alerts()).toEqual(["disk_filling cleared"]);
  });

  test("relay_down: for each relay of a project, once", async () => {
    await a.t.makeProject("other");
    await a.t.makeProject("third");
    for (const project of [2, 3]) {
      run(
        `INSERT INTO project_relays
           (id, project_seq, host, port, security, signed_by, created_at, changed_at)
         VALUES (?, ?, 'own', 587, 'STARTTLS', 'MAILSTEAD', 0, 0)`,
        `relay-${project}`,
        project,
      );
    }
    const down = { at: "relay", reason: "refused", retryAfterMs: 1 } as const;
    a.world.holdOfProject = (seq) => ({ ...down, name: `own-${seq > 1}:587` });
    await a.minutes(20);
    expect(a.alerts()).toEqual(["relay_down"]);
  });

  test("an alert whose condition a later version does not know is cleared", async () => {
    run(`INSERT INTO alerts (id, condition, subject, severity, title, finding, fix, raised_at)
         VALUES ('a', 'gone', '', 'info', 't', 'f', 'x', 0)`);
    await a.minutes(1);
    expect(a.alerts()).toEqual(["gone cleared"]);
  });

  test("every condition of the table", () => {
    const tested = new Set([...CASES.map(({ name }) => name), "disk_filling"]);
    expect(CONDITIONS.map(({ name }) => name).filter((name) => !tested.has(name))).toEqual([]);
  });
});

describe("no alert is raised", () => {
  test("by a condition that ends and begins again before its time", async () => {
    for (let i = 0; i < 4; i++) {
      a.world.hold = { at: "relay", name: "r", reason: "refused", retryAfterMs: 1 };
      await a.minutes(10);
      a.world.hold = null;
      await a.minutes(1);
    }
    expect(a.alerts()).toEqual([]);
  });

  test("by mail that was due long before the start, or before the release of a held queue", async () => {
    await a.t.create(
      "/v1/send",
      { to: "a@b.co", from: "a@acme.test", subject: "s", body: "b" },
      "data.emails.0.email",
    );
    run("UPDATE emails SET next_at = ?", a.clock.now() - 3_600_000);
    await a.minutes(4);
    holdQueue(a.t.db, a.clock.now());
    await queueHold(a.app).refresh();
    await a.minutes(3);
    releaseQueue(a.t.db);
    await queueHold(a.app).refresh();
    await a.minutes(4);
    expect(a.alerts()).toEqual([]);
    await a.minutes(1);
    expect(a.alerts()).toEqual(["queue_stalled"]);
  });

  test("by few mails", async () => {
    setHours("sent, bounced, complained", 50, 49, 40);
    await a.minutes(1);
    expect(a.alerts()).toEqual([]);
  });

  test("or cleared by a condition that cannot be read", async () => {
    run("UPDATE domains SET failing_since = ?", a.clock.now());
    await a.minutes(11);
    run("ALTER TABLE domains RENAME COLUMN failing_since TO other");
    await a.minutes(5);
    expect(a.alerts()).toEqual(["domain_lost"]);
    run("ALTER TABLE domains RENAME COLUMN other TO failing_since");
    await a.minutes(1);
    expect(a.alerts()).toEqual(["domain_lost"]);
  });
});
