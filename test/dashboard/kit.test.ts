/** The parts of the kit in a browser: the table with its keys, filters, drawer, forms and frames. */

import { afterAll, describe, expect } from "bun:test";
import { join } from "node:path";
import { Elysia } from "elysia";
import type { Page } from "playwright-core";
import { uiRoutes } from "../../src/http/ui.ts";
import {
  buildDashboard,
  faultsOf,
  hasChromium,
  NO_FAULTS,
  type OpenedPage,
  openPage,
} from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

const ROOT = join(import.meta.dir, "../..");
const OUTPUT = join(ROOT, "dist", "gallery");
const MAIL =
  "<p>Your order has been shipped.</p><script>document.body.textContent = 'ran'</script>";

let url: string;

async function findFile(name: string): Promise<Blob | null> {
  const file = Bun.file(join(OUTPUT, name));
  return (await file.exists()) ? file : null;
}

const app = new Elysia()
  .use(uiRoutes({ signInPath: async () => null, find: findFile }))
  .get("/mail", () => new Response(MAIL, { headers: { "Content-Type": "text/html" } }));

beforePages(async () => {
  buildDashboard(["--page", "test/dashboard/gallery/index.html", "--output", OUTPUT]);
  app.listen({ hostname: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${app.server?.port}/app`;
});
afterAll(async () => {
  if (!hasChromium) return;
  await app.stop(true);
});

describe("the table of the kit", () => {
  let opened: OpenedPage;
  let page: Page;
  beforePages(async () => {
    opened = await openPage(`${url}/table`);
    ({ page } = opened);
  });
  afterAll(async () => {
    if (hasChromium) await opened.close();
  });
  /** Resolves when the link of this row has the focus. */
  const focusOn = (text: string) => page.locator("a:focus", { hasText: text }).waitFor();

  pageTest(
    "j and k move the focus between rows, Enter opens one, Esc returns the focus",
    async () => {
      await page.locator("tr[data-row]").first().waitFor();
      for (const key of ["j", "j", "j", "k"]) await page.keyboard.press(key);
      await focusOn("reader1@example.com");
      await page.keyboard.press("Enter");
      const drawer = page.getByRole("dialog");
      await drawer.getByText("Your order 1001").waitFor();
      await page.keyboard.press("j");
      await drawer.getByText("Your order 1002").waitFor();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "hidden" });
      await focusOn("reader1@example.com");
    },
  );

  pageTest("x selects the row, and a click with Shift selects a range", async () => {
    const selected = page.locator("tr[aria-selected=true]");
    await page.locator("tr[data-row='1'] a").first().focus();
    await page.keyboard.press("x");
    await expectSoon(() => selected.count(), 1);
    await page.getByLabel("Select row 5").click({ modifiers: ["Shift"] });
    await expectSoon(() => selected.count(), 4);
  });

  pageTest("shortcuts do nothing in a field", async () => {
    const field = page.getByLabel("Search emails");
    await field.focus();
    await page.keyboard.type("jjx");
    await expectSoon(() => field.inputValue(), "jjx");
    await field.fill("");
  });

  pageTest("terms of the search become chips, which the keyboard removes", async () => {
    await page.getByLabel("Search emails").blur();
    await page.keyboard.press("/");
    await page.keyboard.type("status:BOUNCED to:reader5");
    await page.keyboard.press("Enter");
    await page.getByText("reader5@example.com").waitFor();
    await expectSoon(() => page.getByText("status: Bounced").count(), 1);
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    await page.getByText("20,000 emails").waitFor();
    await page.keyboard.type("to:nobody");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("20,000 emails").waitFor();
  });

  pageTest(
    "20,000 rows have at most 60 in the document, which says how many there are",
    async () => {
      const rows = page.locator("tr[data-row]");
      expect(await rows.count()).toBeWithin(10, 60);
      await expectSoon(() => page.getByRole("table").getAttribute("aria-rowcount"), "20001");
      await page.evaluate("document.querySelector('.table-scroll').scrollTop = 400_000");
      await page.getByText("reader10000@example.com").waitFor();
      expect(await rows.count()).toBeWithin(10, 60);
      await page.evaluate("document.querySelector('.table-scroll').scrollTop = 0");
    },
  );

  pageTest(
    "is accessible, and on phones a row is one cell, whose link covers the row",
    async () => {
      const cell = page.locator("tr[data-row='0'] td").nth(1);
      for (const layout of ["light", "phone-dark"] as const) {
        await opened.setLayout(layout);
        await cell.waitFor();
        expect([layout, await faultsOf(opened)]).toEqual([layout, NO_FAULTS]);
      }
      await expectSoon(async () => {
        const { width = 0 } = (await cell.boundingBox()) ?? {};
        return width >= 340 && width <= 350;
      }, true);
      await page.mouse.click(380, 400);
      await page.getByRole("dialog").waitFor();
    },
  );
});

describe("the parts of the kit", () => {
  let opened: OpenedPage;
  let page: Page;
  beforePages(async () => {
    opened = await openPage(`${url}/parts`);
    ({ page } = opened);
  });
  afterAll(async () => {
    if (hasChromium) await opened.close();
  });

  pageTest("a mail runs no script", async () => {
    const mail = page.frameLocator("iframe").locator("body");
    expect(await mail.textContent()).toContain("has been shipped");
  });

  pageTest("are accessible, quiet and fit the window", async () => {
    for (const layout of ["light", "phone-dark"] as const) {
      await opened.setLayout(layout);
      await page.getByRole("heading", { level: 1, name: "Parts" }).waitFor();
      const faults = await faultsOf(opened);
      // The frame of the mail tries a script, which its sandbox refuses.
      const problems = faults.problems.filter((text) => !text.includes("Blocked script"));
      expect([layout, { ...faults, problems }]).toEqual([layout, NO_FAULTS]);
    }
    await opened.setLayout("light");
  });

  pageTest("a refused form shows the message at its field, which has the focus", async () => {
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("This must be an email address.").waitFor();
    await page.locator("[aria-invalid=true]:focus").waitFor();
    const name = "document.activeElement.labels[0].textContent";
    await expectSoon(() => page.evaluate(name), "Email address");
  });

  pageTest("Copy says that it copied", async () => {
    await page.getByRole("button", { name: "Copy the id" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
  });

  pageTest("a confirmation needs the name, and shows the error of its action", async () => {
    await page.getByRole("button", { name: "Delete the project" }).click();
    const dialog = page.getByRole("dialog");
    const button = dialog.getByRole("button", { name: "Delete the project" });
    await expectSoon(() => button.isDisabled(), true);
    await dialog.getByLabel("Type Harbour Books").fill("Harbour Books");
    await button.click();
    await dialog.getByText("The storage cannot be written.").waitFor();
  });
});
