/** The page of suppressions: adding and removing, its search, and what roles may do. */

import { describe, expect } from "bun:test";
import { openData } from "../support/dashboard-server.ts";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { RECIPIENT, standard } from "../protocols/dsn/corpus/build.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { send } from "./email-server.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

const LONG = `${"a-very-long-local-part-".repeat(2)}x@${"long.".repeat(20)}example`;

beforePages(async () => {
  server = await newProjectWithPeople();
  suppressAfterBounce(await sendMail("gone@acme.example"));
  for (const [email, reason] of [
    ["grace@example.com", "COMPLAINT"],
    [LONG, "SOFT_BOUNCE"],
    ["ada@example.com", "MANUAL"],
  ]) {
    await server.call("POST", "/suppressions", { email, reason });
  }
});

/** Sends a mail and returns its id once it left, because nothing else changes its data then. */
async function sendMail(to: string): Promise<string> {
  const [id = ""] = await send(server, [{ to, subject: "Your order", body: "<p>Thank you.</p>" }]);
  const status = async () => stringAt(await server.call("GET", `/emails/${id}`), "data.status");
  await expectSoon(status, "SENT");
  return id;
}

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

  pageTest(
    "a viewer is offered no change, and sees an address that a bounce suppresses",
    async () => {
      const mail = await sendMail(RECIPIENT);
      const path = "/suppressions?address=ada@example.com";
      const { page, problems, close } = await openAs(server, path, {
        person: "viewer",
        isLive: true,
      });
      await page.getByText("added this address").waitFor();
      expect(await page.getByRole("button", { name: "Remove the suppression" }).count()).toBe(0);
      await page.keyboard.press("Escape");
      await rows(page).first().waitFor();
      expect(await page.getByRole("button", { name: "Suppress an address" }).count()).toBe(0);
      expect(await rows(page).getByText(RECIPIENT).count()).toBe(0);
      const answer = await fetch(`${server.url}/v1/bounces`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${server.secretKey}`,
          "content-type": "message/rfc822",
        },
        body: standard({ general: [`Original-Envelope-Id: ${mail}`], returned: null }),
      });
      expect([answer.status, valueAt(await answer.json(), "data.matched")]).toEqual([200, true]);
      await rows(page).getByText(RECIPIENT).waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );
});
