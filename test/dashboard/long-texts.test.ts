/** Long names and subjects, from right to left or in one word, in lists, previews and drawers. */

import { describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import {
  hasChromium,
  BROWSER_LIMIT_MS,
  faultsOf,
  type Layout,
  NO_FAULTS,
  openPage,
} from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { listAt, stringAt } from "../support/json.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

const ARABIC = `مرحبا ${"بكم في متجرنا ".repeat(15)}`.trim();
const WORD = "w".repeat(300);
const KEY = "k".repeat(90);

let server: DashboardProject;
let template = "";
let email = "";

beforePages(async () => {
  server = await newProject();
  const mail = { subject: ARABIC, body: "<p>Hi</p>", from: "news@acme.example" };
  const campaign = { name: ARABIC, ...mail, audienceType: "ALL" };
  await server.call("POST", "/campaigns", campaign);
  await server.call("POST", "/segments", { name: ARABIC, type: "STATIC" });
  const made = { name: ARABIC, ...mail, subject: "Words ".repeat(40), type: "MARKETING" };
  template = stringAt(await server.call("POST", "/templates", made), "data.id");
  const contact = { email: "ada@example.com", data: { [KEY]: ARABIC } };
  await server.call("POST", "/contacts", contact);
  const to = ["ada@example.com"];
  await server.call("POST", "/v1/send", { to, ...mail, subject: WORD });
  email = stringAt(listAt(await server.call("GET", "/emails"), "data.items")[0], "id");
  await server.call("POST", "/v1/send", { to, ...mail });
});

const open = (path: string, layout: Layout) =>
  openPage(`${server.url}/app/p/${server.project}${path}`, {
    cookie: server.cookie,
    layout,
  });

/** Whether the first character of a text is in the visible part of its cell. */
const isStartVisible = (text: Locator) =>
  text.evaluate((element) => {
    const range = element.ownerDocument.createRange();
    range.setStart(element.firstChild ?? element, 0);
    range.setEnd(element.firstChild ?? element, 1);
    const start = range.getBoundingClientRect();
    const cell = element.closest("td")?.getBoundingClientRect();
    return cell !== undefined && start.left >= cell.left && start.right <= cell.right;
  });

describe("a long text from right to left", () => {
  test.skipIf(!hasChromium).each([
    ["/campaigns", "light"],
    ["/campaigns", "phone"],
    ["/segments", "light"],
    ["/segments", "phone"],
    ["/templates", "light"],
    ["/templates", "phone"],
    ["/emails", "light"],
    ["/emails", "phone"],
    ["/contacts", "light"],
  ] satisfies [string, Layout][])(
    "shows its beginning in %s (%s)",
    async (path, layout) => {
      const opened = await open(path, layout);
      const text = opened.page.locator("[data-row]").getByText(ARABIC, { exact: true }).first();
      await text.waitFor();
      expect(await isStartVisible(text)).toBe(true);
      await opened.screenshot(`rtl-${path.slice(1, 6)}`);
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.close();
    },
    BROWSER_LIMIT_MS,
  );
});

describe("on a phone", () => {
  pageTest("the label of a subject of several lines stays in one line", async () => {
    const opened = await open(`/templates/${template}`, "phone");
    const label = opened.page.locator(".contact-preview-subject > span");
    await label.waitFor();
    const box = await label.boundingBox();
    expect(box?.width).toBeGreaterThan(40);
    await opened.screenshot("long-subject-preview");
    await opened.close();
  });

  pageTest("a long key does not widen the choice of columns", async () => {
    const opened = await open("/contacts", "phone");
    await opened.page.getByRole("button", { name: "Columns" }).click();
    const picker = opened.page.getByRole("dialog", { name: "Columns" });
    await picker.getByText(KEY).waitFor();
    const share = await picker.getByText("100%").boundingBox();
    const box = await picker.boundingBox();
    expect([box !== null, share !== null]).toEqual([true, true]);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    expect((share?.x ?? 0) + (share?.width ?? 0)).toBeLessThanOrEqual(
      (box?.x ?? 0) + (box?.width ?? 0),
    );
    await opened.screenshot("long-key-columns");
    await opened.close();
  });

  pageTest("a long word as the subject does not run under the buttons of the drawer", async () => {
    const opened = await open(`/emails?email=${email}`, "phone");
    const { page } = opened;
    const title = page.getByRole("dialog").getByRole("heading", { name: WORD });
    await title.waitFor();
    const button = page.getByRole("dialog").getByRole("link", { name: "Open as a page" });
    const [text, first] = [await title.locator(".cut").boundingBox(), await button.boundingBox()];
    expect((text?.x ?? 0) + (text?.width ?? 0)).toBeLessThanOrEqual(first?.x ?? 0);
    await opened.screenshot("long-subject-drawer");
    await opened.close();
  });
});

describe("a campaign that is being sent", () => {
  const COUNTS = { totalRecipients: 1_010_600, queued: 100_000, sent: 899_120, bounced: 8_000 };

  pageTest("shows how many mails left, not how many are settled, and the figures fit", async () => {
    for (const layout of ["light", "phone"] as const) {
      const { page, screenshot, close } = await openPage(
        `${server.url}/app/p/${server.project}/campaigns`,
        {
          cookie: server.cookie,
          layout,
          prepare: async (each) => {
            await each.route("**/campaigns/summaries?*", async (route) => {
              const response = await route.fetch();
              const body: unknown = await response.json();
              const items = listAt(body, "data.items").map((item) =>
                Object.assign({}, item, COUNTS, {
                  status: "SENDING",
                  startedAt: "2026-01-02T10:00:00.000Z",
                }),
              );
              await route.fulfill({ response, json: { success: true, data: { items } } });
            });
          },
        },
      );
      const figure = page.locator("[data-row]").getByText("899,120 of 1,010,600").first();
      await figure.waitFor();
      const cell = "document.querySelector('[data-row] td:nth-child(5)')";
      if (layout === "light") {
        expect(await page.evaluate(`${cell}.scrollWidth <= ${cell}.clientWidth`)).toBe(true);
      } else {
        expect(await figure.textContent()).toMatch(/^899,120 of 1,010,600 sent, /);
      }
      await screenshot("campaign-figures");
      await close();
    }
  });
});
