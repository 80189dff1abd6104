/** The emails of a year: a long list, mails that were refused or wait, and what they show. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { seedDemo } from "../../scripts/seed/demo.ts";
import { DEMO_SCALES } from "../../scripts/seed/demo/year.ts";
import { BROWSER_LIMIT_MS, buildDashboard, hasChromium, startBrowser } from "../support/browser.ts";
import { startMailstead } from "../support/cli.ts";
import { openEmails } from "./email-server.ts";

/** Rows that may be in the document, of any number of mails. */
const MAX_ROWS = 60;

let browser: Browser;
let server: Awaited<ReturnType<typeof startMailstead>> & { url: string; secretKey: string };
const folder = mkdtempSync(join(tmpdir(), "mailstead-emails-"));

beforeAll(async () => {
  if (!hasChromium) return;
  buildDashboard();
  const demo = await seedDemo(folder, { sizes: DEMO_SCALES.small, untilMs: Date.now() });
  const running = await startMailstead(
    ["serve", "--transport", "capture", "--data", folder, "--port", "0"],
    (greeting) => /listening +http\S+\n/.test(greeting),
  );
  const [, url = ""] = /listening +(http\S+)\n/.exec(running.greeting) ?? [];
  server = { ...running, url, secretKey: demo.secretKey };
  browser = await startBrowser();
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  if (hasChromium) await Promise.all([browser.close(), server.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const rows = (page: Page) => page.locator(".email-table [data-row]");

describe.skipIf(!hasChromium)("the emails of a year", () => {
  test(
    "a list of 20,000 mails has few rows in the document, also at its end",
    async () => {
      const { page, problems, close } = await openEmails(browser, server, "/emails");
      await page.getByText(/\d\d,\d{3} emails/).waitFor();
      const table = page.locator(".email-table .table-scroll");
      for (let i = 0; i < 8; i++) {
        await Promise.all([
          page.waitForResponse(/\/emails\?.*cursor=/),
          table.evaluate((element) => element.scrollTo(0, element.scrollHeight)),
        ]);
        expect(await rows(page).count()).toBeWithin(10, MAX_ROWS + 1);
      }
      expect(problems).toEqual([]);
      await close();
    },
    BROWSER_LIMIT_MS,
  );

  for (const [status, badge, text] of [
    ["bounced", "Bounced", /is permanent: /],
    ["queued", "Deferred", /is temporary: /],
  ] as const) {
    test(
      `a ${status} mail shows its transcript first, with the reply in plain words`,
      async () => {
        for (const layout of ["light", "phone-dark"] as const) {
          const path = `/emails?status=${status}`;
          const { page, ...opened } = await openEmails(browser, server, path, { layout });
          const row = rows(page).filter({ hasText: badge }).first();
          await row.locator("[data-primary]").click();
          const drawer = page.getByRole("dialog");
          await drawer.getByText(text).first().waitFor();
          await drawer.getByText("RCPT TO:").first().waitFor();
          await opened.screenshot(`email-${status}`);
          expect([layout, await opened.findings()]).toEqual([layout, []]);
          expect([layout, opened.problems]).toEqual([layout, []]);
          expect([layout, await opened.overflowPx()]).toEqual([layout, 0]);
          await opened.close();
        }
      },
      BROWSER_LIMIT_MS,
    );
  }

  test(
    "the mails of a campaign are found by its name",
    async () => {
      const { page, problems, close } = await openEmails(browser, server, "/emails");
      await rows(page).first().waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("campaign:advent");
      await page.getByRole("option", { name: "Advent calendar" }).click();
      await page.getByText("campaign: Advent calendar").waitFor();
      await page.getByRole("cell", { name: "Twenty-four doors" }).first().waitFor();
      expect(problems).toEqual([]);
      await close();
    },
    BROWSER_LIMIT_MS,
  );
});
