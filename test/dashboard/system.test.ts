/** The page of the installation: for owners, with problems, while the checks run, and broken. */

import { describe, expect } from "bun:test";
import { openPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const open = (path: string, person: "owner" | "admin") =>
  openPage(`${server.url}/app${path}`, { cookie: server.people[person] });

const SICK = {
  version: "1.4.0",
  revision: "3f0c1a9",
  startedAt: "2026-01-02T10:00:00.000Z",
  transport: "direct",
  hostname: "mail.acme.example",
  url: "https://mail.acme.example",
  storage: { folder: "/var/lib/mailstead", usedBytes: 5_400_000_000, freeBytes: 420_000_000 },
  queue: {
    waiting: 12_431,
    inProgress: 1,
    oldestDueAt: "2026-01-02T10:00:00.000Z",
    stalledSeconds: 600,
    heldSince: null,
  },
  pausedSites: [{ name: "example.net", until: "2099-01-02T10:00:00.000Z" }],
  update: {
    version: "1.5.0",
    changesUrl: "https://releases.example/v1.5.0",
    command: "mailstead upgrade",
  },
  backup: {
    target: "s3://backups/shop",
    keep: { days: 7, weeks: 4, months: 6 },
    running: null,
    nextAt: "2099-01-03T03:17:00.000Z",
    last: {
      name: "mailstead-1a2b3c4d-20260102T031700Z",
      createdAt: "2026-01-02T03:17:00.000Z",
      verifiedAt: "2026-01-02T03:18:00.000Z",
      bytes: 21_900_000,
      sha256: "0",
    },
    failure: {
      at: "2026-01-02T09:00:00.000Z",
      error: "the disk is full",
      suggestion: "free some space",
    },
  },
  checks: {
    checkedAt: "2026-01-02T10:00:00.000Z",
    isRunning: false,
    findings: [
      { level: "ok", what: "clock", finding: "is correct", fix: null, page: null },
      {
        level: "fail",
        what: "port 25",
        finding: "no server answers on it",
        fix: "ask the provider of this machine to open the port",
        page: null,
      },
      {
        level: "warn",
        what: "reports of Amazon SES",
        finding: "its bounces, complaints and deliveries are not counted here",
        fix: "set up its webhooks, as docs/relay-reports.md says",
        page: "relay-reports",
      },
    ],
  },
};
const RUNNING = { ...SICK, checks: { checkedAt: null, isRunning: true, findings: [] } };
const HELD = { ...SICK, queue: { ...SICK.queue, heldSince: "2026-01-02T10:00:00.000Z" } };
const MOVING = { ...SICK, queue: { ...SICK.queue, waiting: 7, stalledSeconds: 0 } };
const UPLOADING = {
  ...SICK,
  backup: {
    ...SICK.backup,
    running: {
      startedAt: "2026-01-02T10:00:00.000Z",
      phase: "upload",
      bytes: 5_000_000,
      totalBytes: 20_000_000,
    },
  },
};
const KEPT = [
  {
    name: "mailstead-1a2b3c4d-20260102T031700Z",
    path: "s3://backups/shop/mailstead-1a2b3c4d-20260102T031700Z",
    contents: {
      createdAt: "2026-01-02T03:17:00.000Z",
      verifiedAt: "2026-01-02T03:18:00.000Z",
      version: "1.4.0",
      bytes: 21_900_000,
    },
    fault: null,
  },
  {
    name: "mailstead-1a2b3c4d-20260101T031700Z",
    path: "s3://backups/shop/mailstead-1a2b3c4d-20260101T031700Z",
    contents: null,
    fault: "Its manifest is damaged.",
  },
];
const ALERT = {
  id: "a1",
  condition: "relay_down",
  severity: "critical",
  title: "The relay smtp.acme.example:587 takes no mail",
  finding: "It cannot be reached: connection refused",
  fix: "Look at the state of the relay.",
  raisedAt: "2026-01-02T09:00:00.000Z",
  clearedAt: null,
};
const ALERTS = {
  open: [ALERT],
  history: Array.from({ length: 7 }, (_, i) => ({
    ...ALERT,
    id: `h${i}`,
    title: `Earlier alert ${i + 1}`,
    clearedAt: "2026-01-02T09:30:00.000Z",
  })),
  targets: [
    { kind: "EMAIL", label: "ops@acme.example", waiting: 0, last: null },
    {
      kind: "SLACK",
      label: "hooks.slack.com",
      waiting: 2,
      last: { at: "2026-01-02T09:00:00.000Z", isDelivered: false, reply: "404 no_team" },
    },
  ],
  heartbeat: {
    label: "hc-ping.com",
    everyMinutes: 5,
    at: "2026-01-02T09:00:00.000Z",
    failure: "An alert is open: The relay smtp.acme.example:587 takes no mail",
  },
};
const TESTED = [
  { kind: "EMAIL", label: "ops@acme.example", isDelivered: true, reply: "250 OK", durationMs: 9 },
  { kind: "SLACK", label: "hooks.slack.com", isDelivered: false, reply: "410 gone", durationMs: 9 },
];
const ALERTS_API = (url: URL) => url.pathname === "/system/alerts";
const TEST_API = (url: URL) => url.pathname === "/system/alerts/test";

/** Not the page, whose address ends in the same way. */
const API = (url: URL) => url.pathname === "/system";

const RELEASE = (url: URL) => url.pathname === "/system/queue/release";
const BACKUPS = (url: URL) => url.pathname === "/system/backups";

describe("the page of the installation", () => {
  pageTest(
    "can be tried again, follows the checks and the queue, and names problems first",
    async () => {
      const { page, problems, discard } = await open("/account", "owner");
      await page.clock.install();
      let answer: object | null = null;
      await page.route(BACKUPS, (route) =>
        route.request().method() === "POST"
          ? route.fulfill({ status: 204 })
          : route.fulfill({ json: { success: true, data: KEPT } }),
      );
      await page.route(API, (route) =>
        route.fulfill(
          answer ? { json: { success: true, data: answer } } : { status: 500, json: {} },
        ),
      );
      await page.getByRole("button", { name: /^Account:/ }).click();
      await page.getByRole("menuitem", { name: "System", exact: true }).click();
      await page.getByText("The server answered with status 500.").waitFor();
      answer = RUNNING;
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("The checks are running…").waitFor();
      answer = SICK;
      await page.clock.fastForward(2_000);
      await page.getByText("1 problem and 1 warning in 3 checks.").waitFor();
      const shown = await page.locator(".system-finding strong").allInnerTexts();
      expect(shown).toEqual(["Port 25", "Reports of Amazon SES", "Clock"]);
      const link = page.getByRole("link", { name: "Open Relay reports" });
      expect(await link.getAttribute("href")).toMatch(/\/app\/p\/[^/]+\/relay-reports$/);
      await page.getByRole("heading", { name: "Version 1.5.0 is available" }).waitFor();
      const news = page.getByRole("link", { name: "what is new" });
      expect(await news.getAttribute("href")).toBe("https://releases.example/v1.5.0");
      await page.getByText("mailstead upgrade", { exact: true }).waitFor();
      await page.getByText("Due mail has not moved for 10 minutes.").waitFor();
      await page.getByText("12,431 emails").waitFor();
      await page.getByText("420.0 MB").waitFor();
      await page.getByText("5.4 GB").waitFor();
      await page.getByText("21.9 MB, encrypted and verified").waitFor();
      await page.getByText(": The disk is full. Free some space.").waitFor();
      await page.getByText("7 daily, 4 weekly, 6 monthly").waitFor();
      await page.getByText("21.9 MB, version 1.4.0").waitFor();
      await page.getByText("Cannot be used: Its manifest is damaged.").waitFor();
      const started = page.waitForRequest(
        (request) => request.url().endsWith("/system/backups") && request.method() === "POST",
      );
      await page.getByRole("button", { name: "Run now" }).click();
      expect((await started).method()).toBe("POST");
      answer = UPLOADING;
      await page.clock.fastForward(5_000);
      await page.getByText("Uploading: 5.0 MB of 20.0 MB").waitFor();
      answer = HELD;
      await page.clock.fastForward(5_000);
      await page.getByText(/The queue is held since .*: no mail and no webhook leaves/).waitFor();
      await page.route(RELEASE, (route) => route.fulfill({ status: 204 }));
      await page.getByRole("button", { name: "Release the queue" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("12,431 emails may leave").waitFor();
      answer = MOVING;
      await dialog.getByRole("button", { name: "Release the queue" }).click();
      await dialog.waitFor({ state: "hidden" });
      await page.unroute(RELEASE);
      await page.clock.fastForward(5_000);
      await page.getByText("7 emails").waitFor();
      await page.getByText("Moving", { exact: true }).waitFor();
      expect(await page.getByRole("button", { name: "Check again" }).isEnabled()).toBe(true);
      await page.unroute(API);
      await page.clock.fastForward(5_000);
      await page.getByText("0 emails").first().waitFor();
      await page.getByText("Captured: no mail leaves this server").waitFor();
      await page.getByText(/Checked/).waitFor();
      await page.getByRole("button", { name: "Check again" }).click();
      expect(problems.filter((problem) => !problem.includes("status of 500"))).toEqual([]);
      await discard();
    },
  );

  pageTest("shows the alerts, who is told, and the replies to a test", async () => {
    const { page, problems, close } = await open("/account", "owner");
    const fulfil = (data: object) => ({ json: { success: true, data } });
    await page.route(ALERTS_API, (route) => route.fulfill(fulfil(ALERTS)));
    await page.route(TEST_API, (route) => route.fulfill(fulfil({ targets: TESTED })));
    await page.getByRole("button", { name: /^Account:/ }).click();
    await page.getByRole("menuitem", { name: "System", exact: true }).click();
    await page
      .getByText("The relay smtp.acme.example:587 takes no mail", { exact: true })
      .waitFor();
    await page.getByText("Look at the state of the relay.").waitFor();
    await page.getByText("Was told nothing yet").waitFor();
    await page.getByText(/: 404 no_team \(2 waiting\)/).waitFor();
    await page.getByText("Does not beat").waitFor();
    await expectSoon(() => page.getByText(/^Earlier alert \d/).count(), 5);
    await page.getByRole("button", { name: "Show all 7" }).click();
    await expectSoon(() => page.getByText(/^Earlier alert \d/).count(), 7);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("Test taken").waitFor();
    await page.getByText("410 gone").waitFor();
    await page.unroute(ALERTS_API);
    await page.reload();
    await page.getByText("No alert is open.").waitFor();
    await page.getByText(/^Nobody: alerts are only shown here/).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("tells others whom to ask", async () => {
    const { page, problems, close } = await open("/admin/system", "admin");
    await page.getByText("This page is for owners of the installation").waitFor();
    await page.getByRole("button", { name: /^Account:/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    const item = page.getByRole("menuitem", { name: "System", exact: true });
    await expectSoon(() => item.count(), 0);
    expect(problems).toEqual([]);
    await close();
  });
});
