/** The page of suppressions: its states, adding and removing, its search, and what roles may do. */

import { describe, expect } from "bun:test";
import { openData } from "../support/dashboard-server.ts";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { RECIPIENT, standard } from "../protocols/dsn/corpus/build.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { send } from "./email-server.ts";
import { expectNoFaults } from "./layouts.ts";
import {
  failingList,
  openAs,
  type PeopledProject,
  statusOf,
  newProjectWithPeople,
} from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

const LONG = `${"a-very-long-local-part-".repeat(2)}x@${"long.".repeat(20)}example`;

beforePages(async () => {
  server = await newProjectWithPeople();
  const [mail = ""] = await send(server, [
    { to: "gone@acme.example", subject: "Your order", body: "<p>Thank you.</p>" },
  ]);
  // The data of the mail is changed when nothing else changes it.
  while (stringAt(await server.call("GET", `/emails/${mail}`), "data.status") !== "SENT") {
    await Bun.sleep(50);
  }
  suppressAfterBounce(mail);
  for (const [email, reason] of [
    ["grace@example.com", "COMPLAINT"],
    [LONG, "SOFT_BOUNCE"],
    ["ada@example.com", "MANUAL"],
  ]) {
    await server.call("POST", "/suppressions", { email, reason });
  }
});

/** Writes what a refusal of the mail by its server leaves behind. */
function suppressAfterBounce(emailId: string): void {
  using db = openData(server);
  db.run("UPDATE emails SET last_error = ? WHERE id = ?", ["550 5.1.1 No such user", emailId]);
  db.run(
    `INSERT INTO suppressions (project_seq, email, reason, created_at, email_seq)
     SELECT project_seq, 'gone@acme.example', 'HARD_BOUNCE', 1767348000000, seq
     FROM emails WHERE id = ?`,
    [emailId],
  );
}

const rows = (page: Page) => page.locator("[data-row]");
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });

describe("the page of suppressions", () => {
  pageTest(
    "the command palette finds a suppressed address, and Enter opens the first row",
    async () => {
      const { page, problems, close } = await openAs(server, "/keys");
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("textbox", { name: /Search pages, contacts/ }).fill("ada@example");
      await page.getByRole("button", { name: "ada@example.com is suppressed" }).waitFor();
      await page.keyboard.press("Enter");
      await dialog(page, "Suppression").getByText("added this address").waitFor();
      expect(params(page)).toEqual({ address: "ada@example.com" });
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "searches by words and reason, shows an entry, and saves exactly the rows of the search",
    async () => {
      const { page, problems, close } = await openAs(server, "/suppressions");
      await rows(page).nth(3).waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("ACME reason:hard_bounce");
      await page.keyboard.press("Enter");
      await page.getByText("1 address", { exact: true }).waitFor();
      await expectSoon(() => params(page), { q: "ACME", reason: "hard_bounce" });
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Export CSV" }).click(),
      ]);
      const [, line = "", end] = readFileSync(await download.path(), "utf8").split("\r\n");
      expect(line).toStartWith("gone@acme.example,HARD_BOUNCE,2026-01-02T10:00:00.000Z,,");
      expect(end).toBe("");
      await page.keyboard.press("j");
      await page.locator("[data-primary]:focus").waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("A mail server answered that this address does not exist.").waitFor();
      expect(params(page)).toMatchObject({ address: "gone@acme.example" });
      await page.keyboard.press("Escape");
      await dialog(page, "Suppression").waitFor({ state: "detached" });
      await rows(page).getByRole("link", { name: "550 5.1.1 No such user" }).click();
      await page.getByRole("heading", { name: "Your order" }).waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "an editor adds an address, undoes it, and removes another after a warning",
    async () => {
      const { page, problems, close } = await openAs(server, "/suppressions", {
        person: "editor",
      });
      await rows(page).nth(3).waitFor();
      await page.keyboard.press("c");
      const add = dialog(page, "Suppress an address");
      await add.getByLabel("Email address").fill("no address@@");
      await add.getByRole("button", { name: "Suppress the address" }).click();
      await add.getByLabel("Email address").fill("new@example.com");
      await add.getByRole("button", { name: "Suppress the address" }).click();
      await page.getByText("new@example.com gets no more mail.").waitFor();
      await page.getByText("5 addresses").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("4 addresses").waitFor();

      // An entry that exists keeps its reason and is shown.
      await page.keyboard.press("c");
      await add.getByLabel("Email address").fill("grace@example.com");
      await page.keyboard.press("Enter");
      const drawer = dialog(page, "Suppression");
      await drawer.getByText("The recipient reported your mail as spam.").waitFor();
      await drawer.getByRole("button", { name: "Remove the suppression" }).click();
      const warning = dialog(page, "Send mail to this address again?");
      await warning.getByText("Another report harms the reputation").waitFor();
      await warning.getByRole("button", { name: "Remove the suppression" }).click();
      await page.getByText("3 addresses").waitFor();
      await expectSoon(() => params(page), {});
      expect(problems.filter((problem) => !problem.includes("status of 422"))).toEqual([]);
      await close();
    },
  );

  pageTest("a viewer is offered no change, and the server refuses it", async () => {
    const path = "/suppressions?address=ada@example.com";
    const { page, problems, close } = await openAs(server, path, { person: "viewer" });
    await page.getByText("added this address").waitFor();
    await expectSoon(() => page.getByRole("button", { name: "Remove the suppression" }).count(), 0);
    await page.keyboard.press("Escape");
    await rows(page).first().waitFor();
    await expectSoon(() => page.getByRole("button", { name: "Suppress an address" }).count(), 0);
    expect(problems).toEqual([]);
    await close();
    const entry = { email: "forced@example.com" };
    expect(await statusOf(server, "viewer", ["POST", "/suppressions", entry])).toBe(403);
    const remove = "/suppressions/ada@example.com";
    expect(await statusOf(server, "viewer", ["DELETE", remove])).toBe(403);
    expect(await statusOf(server, "viewer", ["GET", "/suppressions"])).toBe(200);
  });

  pageTest("shows an address that a bounce suppresses while the list is open", async () => {
    const [mail = ""] = await send(server, [
      { to: RECIPIENT, subject: "Your order", body: "<p>Thank you.</p>" },
    ]);
    while (stringAt(await server.call("GET", `/emails/${mail}`), "data.status") !== "SENT") {
      await Bun.sleep(50);
    }
    const opened = await openAs(server, "/suppressions", { isLive: true });
    await rows(opened.page).first().waitFor();
    await opened.page.getByText(RECIPIENT).waitFor({ state: "detached" });
    const report = standard({ general: [`Original-Envelope-Id: ${mail}`], returned: null });
    const answer = await fetch(`${server.url}/v1/bounces`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.secretKey}`,
        "content-type": "message/rfc822",
      },
      body: report,
    });
    expect([answer.status, valueAt(await answer.json(), "data.matched")]).toEqual([200, true]);
    await rows(opened.page).getByText(RECIPIENT).waitFor();
    expect(opened.problems).toEqual([]);
    await opened.close();
    await server.call("DELETE", `/suppressions/${RECIPIENT}`);
  });

  pageTest("shows a list that cannot be read, one without matches, and an empty one", async () => {
    const broken = await openAs(server, "/suppressions", {
      prepare: failingList("/suppressions"),
    });
    await broken.page.getByText("The list is not available.").waitFor();
    await broken.page.unroute("**/suppressions?*");
    await broken.page.getByRole("button", { name: "Try again" }).click();
    await rows(broken.page).first().waitFor();
    await broken.page.goto(`${broken.page.url()}?q=nowhere`);
    await broken.page.getByText("No rows match").waitFor();
    await broken.page.getByRole("button", { name: "Clear filters" }).click();
    await rows(broken.page).first().waitFor();
    await broken.close();

    const empty = { items: [], nextCursor: null, hasMore: false, total: 0 };
    const opened = await openAs(server, "/suppressions", {
      prepare: async (page) => {
        await page.route("**/suppressions?*", (route) =>
          route.fulfill({ json: { success: true, data: empty } }),
        );
      },
    });
    await expectNoFaults(opened, {
      name: "suppressions-empty",
      layouts: ["light", "phone"],
      isShown: (page) => page.getByText("No address is suppressed").waitFor(),
    });
  });
});
