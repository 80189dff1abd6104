/** The page of the installation: for owners, with problems, while the checks run, and broken. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { openPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { expectNoFaults } from "./layouts.ts";
import { type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const open = (person: "owner" | "admin", prepare?: (page: Page) => Promise<void>) =>
  openPage(`${server.url}/app/admin/system`, {
    cookie: server.people[person],
    ...(prepare === undefined ? {} : { prepare }),
  });

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
  },
  pausedSites: [{ name: "example.net", until: "2099-01-02T10:00:00.000Z" }],
  checks: {
    checkedAt: "2026-01-02T10:00:00.000Z",
    isRunning: false,
    findings: [
      { level: "ok", what: "clock", finding: "is correct", fix: null },
      {
        level: "fail",
        what: "port 25",
        finding: "no server answers on it",
        fix: "ask the provider of this machine to open the port",
      },
      { level: "warn", what: "disk", finding: "has 420 MB left", fix: "make the disk larger" },
    ],
  },
};
/** Not the page, whose address ends in the same way. */
const API = (url: URL) => url.pathname === "/system";
const answer = (page: Page, data: object) =>
  page.route(API, (route) => route.fulfill({ json: { success: true, data } }));

describe("the page of the installation", () => {
  pageTest("shows an owner the real state, from the menu of the user", async () => {
    const opened = await openPage(`${server.url}/app/account`, {
      cookie: server.people.owner,
    });
    const { page, problems } = opened;
    await page.getByRole("button", { name: /^Account:/ }).click();
    await page.getByRole("menuitem", { name: "System", exact: true }).click();
    await page.getByRole("heading", { name: "Queue of all projects" }).waitFor();
    await page.getByText("0 emails").first().waitFor();
    await page.getByText("Captured: no mail leaves this server").waitFor();
    await page.getByText(/Checked/).waitFor();
    await page.getByRole("button", { name: "Check again" }).click();
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("names problems first and says what to do, in every layout", async () => {
    const opened = await open("owner", async (page) => void (await answer(page, SICK)));
    const { page } = opened;
    await page.getByText("1 problem and 1 warning in 3 checks.").waitFor();
    const shown = await page.locator(".system-finding strong").allInnerTexts();
    expect(shown).toEqual(["Port 25", "Disk", "Clock"]);
    await page.getByText("Due mail has not moved for 10 minutes.").waitFor();
    await page.getByText("420.0 MB").waitFor();
    await page.getByText("5.4 GB").waitFor();
    await expectNoFaults(opened, {
      name: "system",
      isShown: () => page.getByText("1 problem and 1 warning in 3 checks.").waitFor(),
    });
  });

  pageTest(
    "reads the queue again while the page is visible, and the button stays ready",
    async () => {
      const opened = await open("owner", async (page) => void (await answer(page, SICK)));
      const { page, problems } = opened;
      await page.getByText("12,431 emails").waitFor();
      await page.unroute(API);
      await answer(page, { ...SICK, queue: { ...SICK.queue, waiting: 7, stalledSeconds: 0 } });
      await page.getByText("7 emails").waitFor();
      await page.getByText("Moving", { exact: true }).waitFor();
      expect(await page.getByRole("button", { name: "Check again" }).isEnabled()).toBe(true);
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "asks again while the checks run; an error can be tried again; others see whom to ask",
    async () => {
      const running = { ...SICK, checks: { checkedAt: null, isRunning: true, findings: [] } };
      const opened = await open("owner", async (page) => void (await answer(page, running)));
      await opened.page.getByText("The checks are running…").waitFor();
      await opened.page.unroute(API);
      await answer(opened.page, SICK);
      await opened.page.getByText("1 problem and 1 warning in 3 checks.").waitFor();
      await opened.close();

      const broken = await open("owner", async (page) => {
        await page.route(API, (route) => route.fulfill({ status: 500, json: {} }));
      });
      await broken.page.getByText("The server answered with status 500.").waitFor();
      await broken.page.unroute(API);
      await broken.page.getByRole("button", { name: "Try again" }).click();
      await broken.page.getByRole("heading", { name: "Queue of all projects" }).waitFor();
      await broken.close();

      const admin = await open("admin");
      await admin.page.getByText("This page is for owners of the installation").waitFor();
      await admin.page.getByRole("button", { name: /^Account:/ }).click();
      await admin.page.getByRole("menuitem", { name: "Sign out" }).waitFor();
      await expectSoon(
        () => admin.page.getByRole("menuitem", { name: "System", exact: true }).count(),
        0,
      );
      expect(admin.problems).toEqual([]);
      await admin.close();
    },
  );
});
