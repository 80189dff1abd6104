/**
 * Long and hostile names and subjects in lists, previews and drawers: from right to left, in one word,
 * as HTML. One tab shows them in a wide window, then on a phone.
 */

import { afterAll, beforeEach, describe, expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { hasChromium, type OpenedPage, openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { goTo } from "./go-to.ts";

const ARABIC = `مرحبا ${"بكم في متجرنا ".repeat(15)}`.trim();
const WORD = "w".repeat(255);
const HTML = '<img src=x onerror="alert(1)"><b>bold</b> {{ 7 | times: 7 }}';
const NAMES = [HTML, ARABIC, "👩‍👩‍👧‍👦".repeat(20), WORD];
const LISTS = ["campaigns", "templates", "workflows", "segments"];
const KEY = "k".repeat(90);

let server: DashboardProject;
let opened: OpenedPage;
let page: Page;
let email = "";

beforePages(async () => {
  server = await newProject();
  const mail = { subject: ARABIC, body: "<p>Hi</p>", from: "news@acme.example" };
  const steps = [{ id: "end", type: "EXIT", config: {} }];
  const trigger = { type: "EVENT", eventName: "x" };
  const marketing = { ...mail, type: "MARKETING" };
  for (const name of NAMES) {
    await server.call("POST", "/campaigns", { name, ...mail, audienceType: "ALL" });
    await server.call("POST", "/templates", { name, ...marketing });
    await server.call("POST", "/workflows", { name, trigger, steps, transitions: [] });
    await server.call("POST", "/segments", { name, type: "STATIC" });
  }
  const contact = { email: "ada@example.com", data: { [KEY]: ARABIC } };
  await server.call("POST", "/contacts", contact);
  const to = ["ada@example.com"];
  await server.call("POST", "/v1/send", { to, ...mail, subject: WORD });
  email = stringAt(listAt(await server.call("GET", "/emails"), "data.items")[0], "id");
  await server.call("POST", "/v1/send", { to, ...mail });
  opened = await openPage(`${server.url}/app/p/${server.project}`, { cookie: server.cookie });
  ({ page } = opened);
});
beforeEach(() => {
  if (hasChromium) opened.problems.length = 0;
});
afterAll(async () => {
  if (hasChromium) await opened.close();
});

const open = (path: string) => goTo(page, `/p/${server.project}${path}`);
const cell = (text: string) => page.locator("[data-row]").getByText(text, { exact: true }).first();

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

/** Each list shows its names from their beginning, and nothing of them is run or too wide. */
async function expectLists(others: readonly string[]): Promise<void> {
  for (const list of [...LISTS, ...others]) {
    await open(`/${list}`);
    const texts = LISTS.includes(list) ? NAMES : [ARABIC];
    for (const text of texts) await cell(text).waitFor();
    expect([list, await isStartVisible(cell(ARABIC))]).toEqual([list, true]);
    expect([list, await opened.overflowPx(), opened.problems]).toEqual([list, 0, []]);
  }
}

describe("a name in any form", () => {
  pageTest("is shown in each list and as the heading, and does nothing", async () => {
    await expectLists(["emails", "contacts"]);
    for (const list of LISTS) {
      await open(`/${list}`);
      await cell(HTML).click();
      await page.getByRole("heading", { level: 1, name: HTML }).waitFor();
      expect([list, await opened.overflowPx(), opened.problems]).toEqual([list, 0, []]);
    }
  });

  pageTest("is shown in each list on a phone", async () => {
    await opened.setLayout("phone");
    await expectLists(["emails"]);
  });
});

describe("on a phone", () => {
  pageTest("a long key does not widen the choice of columns", async () => {
    await opened.setLayout("phone");
    await open("/contacts");
    await page.getByRole("button", { name: "Columns" }).click();
    const picker = page.getByRole("dialog", { name: "Columns" });
    await picker.getByText(KEY).waitFor();
    const share = await picker.getByText("100%").boundingBox();
    const box = await picker.boundingBox();
    expect([box !== null, share !== null]).toEqual([true, true]);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    expect((share?.x ?? 0) + (share?.width ?? 0)).toBeLessThanOrEqual(
      (box?.x ?? 0) + (box?.width ?? 0),
    );
  });

  pageTest("a long word as the subject does not run under the buttons of the drawer", async () => {
    await opened.setLayout("phone");
    await open(`/emails?email=${email}`);
    const title = page.getByRole("dialog").getByRole("heading", { name: WORD });
    await title.waitFor();
    const button = page.getByRole("dialog").getByRole("link", { name: "Open as a page" });
    const [text, first] = [await title.locator(".cut").boundingBox(), await button.boundingBox()];
    expect([text !== null, first !== null]).toEqual([true, true]);
    expect((text?.x ?? 0) + (text?.width ?? 0)).toBeLessThanOrEqual(first?.x ?? 0);
  });
});

describe("a campaign that is being sent", () => {
  const COUNTS = { totalRecipients: 1_010_600, queued: 100_000, sent: 899_120, bounced: 8_000 };

  pageTest("shows how many mails left, not how many are settled, and the figures fit", async () => {
    const summaries = "**/campaigns/summaries?*";
    await page.route(summaries, async (route) => {
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
    await opened.setLayout("light");
    await open("/campaigns?q=www");
    const figure = page.locator("[data-row]").getByText("899,120 of 1,010,600").first();
    await figure.waitFor();
    const figures = "document.querySelector('[data-row] td:nth-child(5)')";
    expect(await page.evaluate(`${figures}.scrollWidth <= ${figures}.clientWidth`)).toBe(true);
    await opened.setLayout("phone");
    await expectSoon(
      () => figure.textContent(),
      expect.stringMatching(/^899,120 of 1,010,600 sent, /),
    );
    await page.unroute(summaries);
  });
});
