/**
 * The second factor in a browser, with a virtual authenticator of Chromium: it is set up on the account
 * page, and asked for at the sign-in. The server is at a name, because passkeys work for names only.
 */

import { afterAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { totpCode, TOTP_STEP_MS } from "../../src/modules/accounts/totp.ts";
import { faultsOf, hasChromium, NO_FAULTS, type OpenedPage, openPage } from "../support/browser.ts";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { bytesOfBase32 } from "../support/base32.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { invite, PASSWORD, type PeopledServer, startWithPeople } from "./people.ts";

let server: PeopledServer;

beforePages(async () => {
  server = await startWithPeople(["--host", "localhost"]);
});
afterAll(async () => {
  if (hasChromium) await server.stop();
});

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });

const presentStep = () => Math.floor(Date.now() / TOTP_STEP_MS);

/** Opens the account page of a new user. */
async function openAccount(name: string): Promise<OpenedPage & { email: string }> {
  const cookie = (await invite(server, name, "EDITOR")) ?? "";
  const opened = await openPage(`${server.url}/app/account`, { cookie });
  await opened.page.getByRole("heading", { name: "Second factor" }).waitFor();
  return { ...opened, email: `${name.split(" ")[0]?.toLowerCase()}@acme.example` };
}

/** A security key that says that its owner was verified. */
async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Account: / }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await heading(page, "Sign in");
}

async function enterPassword(page: Page, email: string): Promise<void> {
  await page.getByLabel("Email address").fill(email);
  await page.getByRole("textbox", { name: "Password", exact: true }).fill(PASSWORD);
  await page.keyboard.press("Enter");
}

/** The recovery codes in the dialog, which is then closed. */
async function keepCodes(opened: OpenedPage): Promise<string[]> {
  const { page } = opened;
  await page.locator(".recovery-codes li").nth(9).waitFor();
  const codes = await page.locator(".recovery-codes li").allInnerTexts();
  expect(codes).toHaveLength(10);
  await press(page, "I have stored them");
  return codes;
}

/** Checks the page and saves it. All layouts are those of `scripts/pages.ts`. */
async function check(opened: OpenedPage, name: string): Promise<void> {
  expect([name, await faultsOf(opened)]).toEqual([name, NO_FAULTS]);
  await opened.screenshot(name);
}

pageTest("a passkey is made, signs in alone, and is the step after a password", async () => {
  const opened = await openAccount("Petra Passkey");
  const { page, email, problems } = opened;
  await addAuthenticator(page);
  await press(page, "Add a passkey");
  await dialog(page, "Add a passkey").getByLabel("Name of the passkey").fill("Work laptop");
  await press(page, "Make the passkey");
  await page.locator(".recovery-codes").waitFor();
  await check(opened, "second-factor-codes");
  const [code = ""] = await keepCodes(opened);
  await page.getByText("Passkey: Work laptop").waitFor();
  await page.getByText("10 of 10 are left").waitFor();

  await signOut(page);
  await press(page, "Sign in with a passkey");
  await page.getByRole("button", { name: "Account: Petra Passkey" }).waitFor();

  await signOut(page);
  await enterPassword(page, email);
  await heading(page, "Second step");
  await page.getByRole("button", { name: "Use a passkey" }).waitFor();
  await check(opened, "second-step");
  await press(page, "Use a passkey");
  await page.getByRole("button", { name: "Account: Petra Passkey" }).waitFor();

  await signOut(page);
  await enterPassword(page, email);
  await press(page, "Use a recovery code");
  await page.getByLabel("Recovery code").fill("wrong-wrong-wrong");
  await press(page, "Continue");
  await page.getByText("This is wrong, was used before, or is too old.").waitFor();
  await page.getByLabel("Recovery code").fill(code);
  await press(page, "Continue");
  await page.getByRole("button", { name: "Account: Petra Passkey" }).waitFor();
  // The browser itself reports the wrong code, and requests of the page before each sign-out.
  expect(problems.filter((text) => !/status of (?:401|422)/.test(text))).toEqual([]);
  await opened.discard();
});

pageTest("an authenticator app is set up with the QR code, and turned off", async () => {
  const opened = await openAccount("Theo Totp");
  const { page, email, problems } = opened;
  await press(page, "Set up");
  const setUp = dialog(page, "Set up an authenticator app");
  await setUp.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
  const secret = bytesOfBase32((await setUp.locator("code").innerText()).replaceAll(" ", ""));
  await check(opened, "second-factor-app");
  const first = presentStep();
  await setUp.getByLabel("Code that the app shows").fill(totpCode(secret, first));
  await page.keyboard.press("Enter");
  await keepCodes(opened);
  await page.getByText(/^On since/).waitFor();
  await check(opened, "second-factor");

  await signOut(page);
  await enterPassword(page, email);
  await heading(page, "Second step");
  await expectSoon(() => page.getByRole("button", { name: "Use a passkey" }).count(), 0);
  const code = page.getByLabel("Code of your authenticator app");
  await code.fill(totpCode(secret, first));
  await page.keyboard.press("Enter");
  await page.getByText("This is wrong, was used before, or is too old.").waitFor();
  // The next code is accepted before its time as well, for clocks that differ.
  await code.fill(totpCode(secret, Math.max(presentStep(), first + 1)));
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Account: Theo Totp" }).waitFor();
  expect(problems.filter((text) => !/status of (?:401|422)/.test(text))).toEqual([]);
  await opened.close();
});

pageTest("a user who must have one sets it up before the first page", async () => {
  const cookie = (await invite(server, "Erna Enrolment", "VIEWER")) ?? "";
  using db = openData(server);
  // As after a sign-in with --require-second-factor all.
  db.run(`UPDATE user_sessions SET step = 'ENROLMENT'
    WHERE user_seq = (SELECT seq FROM users WHERE email = 'erna@acme.example')`);
  const opened = await openPage(`${server.url}/app/account`, { cookie });
  const { page, problems } = opened;
  await heading(page, "Set up a second factor");
  await check(opened, "enrolment");
  await press(page, "Use an authenticator app");
  await press(page, "Cancel");
  await addAuthenticator(page);
  await press(page, "Use a passkey");
  await press(page, "Make the passkey");
  await heading(page, "Keep your recovery codes");
  await keepCodes(opened);
  await heading(page, "Account");
  await page.getByText(/^Passkey: /).waitFor();
  expect(problems).toEqual([]);
  await opened.discard();
});
