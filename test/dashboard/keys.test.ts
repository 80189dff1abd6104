/** The page of API keys: a new key by mouse, by keyboard and after the password, and other roles. */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expiryOf, NEVER, ON_A_DAY } from "../../src/dashboard/pages/keys/expiry.ts";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import {
  ageSessions,
  openAs,
  PASSWORD,
  type PeopledProject,
  statusOf,
  newProjectWithPeople,
} from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const rows = (page: Page) => page.locator("[data-row]");
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

/** The text of the new key in the dialog that shows it. */
const shownKey = (page: Page) =>
  dialog(page, "Save this key now").getByLabel("The new key").inputValue();

async function statusWith(key: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(server.url + path, { headers })).status;
}

/** By mouse, a secret key is copied, works, is listed and is revoked. */
async function createSecretKey(page: Page): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByText("No API keys yet").waitFor();
  await page.getByRole("button", { name: "Create a key" }).first().click();
  await page.getByLabel("Name").fill("Checkout");
  await page.getByRole("radio", { name: "Everything" }).check();
  await press(page, "Create the key");
  const key = await shownKey(page);
  expect(key).toStartWith("sk_");
  // Before the key was copied, only the button closes the dialog.
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await expectSoon(() => shownKey(page), key);
  await press(page, "Copy the key");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await expectSoon(() => page.evaluate("navigator.clipboard.readText()"), key);
  await page.keyboard.press("Escape");
  await dialog(page, "Save this key now").waitFor({ state: "detached" });

  expect(await statusWith(key, "/emails?limit=1")).toBe(200);
  const row = rows(page).filter({ hasText: "Checkout" });
  await row.getByText(`sk_…${key.slice(-4)}`).waitFor();
  await row.getByRole("button", { name: "Revoke Checkout" }).click();
  await dialog(page, "Revoke Checkout?").getByRole("button", { name: "Revoke the key" }).click();
  await row.getByText("Revoked").waitFor();
  expect(await statusWith(key, "/emails?limit=1")).toBe(401);
  await expectSoon(() => row.getByRole("button").count(), 0);
}

/** By keyboard, a public key with its web sites and a last day. */
async function createPublicKey(page: Page): Promise<void> {
  await page.keyboard.press("c");
  await dialog(page, "Create an API key").locator("input:focus").waitFor();
  await page.keyboard.type("Landing page");
  await page.keyboard.press("Tab");
  // From the first choice to the last one.
  await page.keyboard.press("ArrowUp");
  await page.getByLabel("Web sites").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("shop");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("option", { name: "After a certain day" }).waitFor();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByLabel("Last day").fill("2999-12-31");
  await page.keyboard.press("Enter");
  await page.getByText("This must be a web origin").waitFor();
  // The focus goes to the faulty field, after the message is shown.
  await page.getByLabel("Web sites").and(page.locator(":focus")).waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("https://shop.example");
  await page.getByLabel("Last day").press("Enter");
  expect(await shownKey(page)).toStartWith("pk_");
  // The focus is on "Copy the key"; Shift+Tab leaves it for the key.
  await page.keyboard.press("Shift+Tab");
  await expectSoon(
    () => page.evaluate("document.activeElement.getAttribute('aria-label')"),
    "The new key",
  );
  await page.getByRole("button", { name: "I have it" }).press("Enter");
  const row = rows(page).filter({ hasText: "Landing page" });
  await row.getByText("only on shop.example").waitFor();
  await row.getByText("2999").waitFor();
}

/** An SMTP password for one domain and some addresses. A fault in them is shown at the field. */
async function createSmtpPassword(page: Page): Promise<void> {
  await page.keyboard.press("c");
  await page.getByLabel("Name").fill("Blog");
  await page.getByRole("radio", { name: "SMTP password" }).check();
  await page.getByRole("textbox", { name: "IP addresses" }).fill("203.0.113.0/24\nblog");
  await press(page, "Create the key");
  await page.getByText("This must be an IP address or a range").waitFor();
  await page.getByRole("textbox", { name: "IP addresses" }).fill("203.0.113.0/24\n2001:db8::1");
  await press(page, "Create the key");
  const key = await shownKey(page);
  expect(key).toStartWith("smtp_");
  await page.getByText(`Password  ${key}`).waitFor();
  await press(page, "I have it");
  const row = rows(page).filter({ hasText: "Blog" });
  await row.getByText("only from 203.0.113.0/24, 2001:db8::1").waitFor();
  await row.getByText("SMTP", { exact: true }).waitFor();
  expect(await statusWith(key, "/emails?limit=1")).toBe(403);
}

/** A session that is not fresh needs the password, and then creates the key. */
async function createAfterPassword(page: Page): Promise<void> {
  ageSessions(server);
  // The dialog starts again with a form.
  await page.keyboard.press("c");
  await dialog(page, "Create an API key").waitFor();
  await page.getByLabel("Name").fill("After the password");
  await page.keyboard.press("Enter");
  const question = dialog(page, "Enter your password");
  await question.getByRole("textbox", { name: "Password" }).fill("a wrong password");
  await page.keyboard.press("Enter");
  await question.getByText("The address or the password is wrong.").waitFor();
  await question.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.keyboard.press("Enter");
  expect(await shownKey(page)).toStartWith("sk_");
  await press(page, "I have it");
  await rows(page).filter({ hasText: "After the password" }).waitFor();
}

describe("the page of API keys", () => {
  pageTest("admins create keys by mouse, by keyboard and after the password", async () => {
    removeKeys();
    const { page, problems, close } = await openAs(server, "/keys");
    await createSecretKey(page);
    await createPublicKey(page);
    await createSmtpPassword(page);
    await createAfterPassword(page);
    // The browser logs refused requests: a faulty field, an old session, a wrong password.
    expect(problems.filter((problem) => !/status of (?:401|403|422)/.test(problem))).toEqual([]);
    await close();
  });

  pageTest("editors are offered no keys, and the server refuses them and viewers", async () => {
    const { page, problems, close } = await openAs(server, "/keys", { person: "editor" });
    await page.getByText("This page is for admins").waitFor();
    expect(await page.getByRole("button", { name: "Create a key" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "API keys" }).count()).toBe(0);
    // The page did not even ask.
    expect(problems).toEqual([]);
    await close();
    for (const person of ["editor", "viewer"] as const) {
      expect(await statusOf(server, person, ["GET", "/keys"])).toBe(403);
      expect(await statusOf(server, person, ["POST", "/keys", { name: "Forced" }])).toBe(403);
      expect(await statusOf(server, person, ["DELETE", "/keys/1"])).toBe(403);
    }
    expect(await statusOf(server, "admin", ["GET", "/keys"])).toBe(200);
  });
});

/** A revoked key stays in the list, so that a list without keys is that of a new project. */
function removeKeys(): void {
  using db = openData(server);
  db.run("DELETE FROM api_keys WHERE project_seq = (SELECT seq FROM projects WHERE id = ?)", [
    server.project,
  ]);
}

describe("the expiry of a key", () => {
  const NOW_MS = Date.parse("2026-03-01T12:00:00.000Z");

  test.each([
    [NEVER, "", null],
    ["30", "", "2026-03-31T12:00:00.000Z"],
  ])("%s", (choice, day, expected) => {
    expect(expiryOf(choice, day, NOW_MS)).toBe(expected);
  });

  test("the last day is a whole day in the zone of the browser", () => {
    const end = new Date(2026, 2, 31, 23, 59, 59).toISOString();
    expect(expiryOf(ON_A_DAY, "2026-03-31", NOW_MS)).toBe(end);
  });
});
