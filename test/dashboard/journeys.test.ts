/**
 * The journeys of people through the dashboard, from the first start of a server to the record of a
 * mail. `bun scripts/journeys.ts` runs them against the executable.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import type { Page } from "playwright-core";
import {
  BROWSER_LIMIT_MS,
  faultsOf,
  hasChromium,
  NO_FAULTS,
  openPage,
} from "../support/browser.ts";
import { type Running, startMailstead } from "../support/cli.ts";
import { stringAt } from "../support/json.ts";
import { type Sink, startSink } from "../support/smtp-sink.ts";
import { expectSoon } from "../support/eventually.ts";
import { expectFaultless } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

const PASSWORD = "the harbour is quiet at night";
const EMAIL = "ada@harbour.example";
/** The receiving server takes so long that a person can watch the delivery. */
const ANSWER_AFTER_MS = 1_500;
/** An address of this machine that browsers do not know as local: it has no secure context. */
const LAN_HOST = "0.0.0.0";
/** How the banner of a lost connection begins. */
const LOST = "The server cannot be reached. The page shows";

let folder: string;
beforePages(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-journeys-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

const isReady = (greeting: string) => greeting.endsWith("}\n");
const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

/** Marks the document, so that a reload is noticed. */
const mark = (page: Page) => page.evaluate("window.isSameDocument = true");
const isSameDocument = (page: Page) => page.evaluate("window.isSameDocument === true");

async function signIn(page: Page): Promise<void> {
  await heading(page, "Sign in");
  await page.getByLabel("Email address").fill(EMAIL);
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.keyboard.press("Enter");
}

describe.skipIf(!hasChromium)("mailstead serve", () => {
  let sink: Sink;
  let server: Running;
  let url: string;
  let setUpUrl: string;

  /** Starts the server on the port, with the data of the one before. */
  async function start(port: string): Promise<void> {
    const relay = ["--transport", "relay", "--relay-url", `smtp://127.0.0.1:${sink.port}?tls=none`];
    const words = ["serve", "--json", "--data", join(folder, "data"), "--port", port, ...relay];
    const environment = { MAILSTEAD_REQUIRE_VERIFIED_DOMAIN: "false" };
    server = await startMailstead(words, isReady, { environment });
  }

  beforeAll(async () => {
    sink = await startSink({ answerAfterMs: ANSWER_AFTER_MS });
    await start("0");
    setUpUrl = stringAt(JSON.parse(server.greeting), "setUpUrl");
    url = new URL(setUpUrl).origin;
  }, BROWSER_LIMIT_MS);
  afterAll(async () => {
    await server.stop();
    await sink.close();
  });

  pageTest(
    "the first ten minutes: owner, project, domain, and a mail whose transcript appears",
    async () => {
      const opened = await openPage(setUpUrl);
      const { page, screenshot } = opened;
      await heading(page, "Set up Mailstead");
      await page.getByLabel("Your name").fill("Ada Lovelace");
      await page.getByLabel("Email address").fill(EMAIL);
      await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
      await press(page, "Create the account");
      await heading(page, "Name your project");
      await page.getByLabel("Project name").fill("Harbour Books");
      await press(page, "Create the project");
      await heading(page, "How mail leaves");
      await page.getByText("This server sends through the SMTP relay").waitFor();
      await press(page, "Continue");
      await heading(page, "Your domain");
      await expectSoon(
        () => page.getByLabel("Domain", { exact: true }).inputValue(),
        "harbour.example",
      );
      await press(page, "Add the domain");
      await page.getByText("Add this record at the provider").waitFor();
      await page.getByRole("button", { name: /^Copy the value of .*_domainkey/ }).waitFor();
      await screenshot("welcome-domain");
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await press(page, "Continue");
      await heading(page, "Send yourself a mail");
      await expectSoon(() => page.getByLabel("From").inputValue(), "hello@harbour.example");
      await press(page, "Send the mail");
      await page.getByRole("link", { name: "Watch its delivery" }).click();
      await heading(page, "Hello from Mailstead");
      await mark(page);
      await page.getByRole("link", { name: "Transcript", exact: true }).click();
      await page.getByText("250 2.0.0 Ok: taken").waitFor();
      await screenshot("welcome-transcript");
      expect(await isSameDocument(page)).toBe(true);
      expect(sink.messages.map(({ from, to }) => [from !== "", to])).toEqual([[true, [EMAIL]]]);
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.close();
    },
  );

  pageTest(
    "a server that is killed and started again leaves a banner, and nothing typed is lost",
    async () => {
      const { page, close } = await openPage(`${url}/app/account`);
      await signIn(page);
      await heading(page, "Account");
      await page.getByLabel("Name", { exact: true }).fill("Ada King");
      server.child.kill("SIGKILL");
      await server.child.exited;
      await press(page, "Save");
      await page.getByText(LOST).waitFor();
      await start(new URL(url).port);
      await page.getByText(LOST).waitFor({ state: "hidden" });
      await expectSoon(() => page.getByLabel("Name", { exact: true }).inputValue(), "Ada King");
      await press(page, "Save");
      await page.getByRole("button", { name: "Account: Ada King" }).waitFor();
      await close();
    },
  );

  pageTest(
    "a session that is ended in another tab asks for the password and keeps the page",
    async () => {
      const { page, close } = await openPage(`${url}/app/account`);
      await signIn(page);
      await heading(page, "Account");
      await page.getByLabel("Name", { exact: true }).fill("Ada Byron");
      const other = await page.context().newPage();
      await other.goto(`${url}/app/account`);
      await other.getByRole("button", { name: /^Account: / }).click();
      await other.getByRole("menuitem", { name: "Sign out" }).click();
      await heading(other, "Sign in");
      await press(page, "Save");
      const dialog = page.getByRole("dialog", { name: "Your session has ended" });
      await dialog.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "hidden" });
      await expectSoon(() => page.getByLabel("Name", { exact: true }).inputValue(), "Ada Byron");
      expect(await page.getByRole("alert").count()).toBe(0);
      await press(page, "Save");
      await page.getByRole("button", { name: "Account: Ada Byron" }).waitFor();
      await close();
    },
  );

  pageTest(
    "over plain HTTP under another name everything works, and a banner asks for TLS",
    async () => {
      const lan = url.replace("127.0.0.1", LAN_HOST).replace("localhost", LAN_HOST);
      const { page, problems, close } = await openPage(`${lan}/app/account`);
      await signIn(page);
      await heading(page, "Account");
      expect(await page.evaluate("window.isSecureContext")).toBe(false);
      await page.getByText("This connection is not encrypted").waitFor();
      await page.getByRole("button", { name: "Hide" }).click();
      await page.keyboard.press("g");
      await page.keyboard.press("e");
      await heading(page, "Emails");
      await page.getByText("Hello from Mailstead").first().waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest("by keyboard alone: palette, search, a mail beside the list, and back", async () => {
    const { page, problems, close } = await openPage(`${url}/app/account`);
    await signIn(page);
    await heading(page, "Account");
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Search pages, contacts, projects and actions").waitFor();
    await page.keyboard.type("emails");
    await page.keyboard.press("Enter");
    await heading(page, "Emails");
    await page.getByText("Hello from Mailstead").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("subject:hello");
    await page.keyboard.press("Enter");
    await page.waitForURL(/subject=hello/);
    await page.getByText("Hello from Mailstead").first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".filter-bar input:focus").waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await page.locator("[data-primary]:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("heading", { name: "Hello from Mailstead" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "a forged request with the session of the owner is refused and changes nothing",
    async () => {
      const { page, close } = await openPage(`${url}/app/account`);
      await signIn(page);
      await heading(page, "Account");
      const cookies = await page.context().cookies();
      const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
      const send = (headers: Record<string, string>) =>
        fetch(`${url}/app/api/account`, {
          method: "PATCH",
          headers: { cookie, "content-type": "application/json", ...headers },
          body: JSON.stringify({ name: "Mallory" }),
        });
      const own = { origin: url, "x-requested-with": "mailstead" };
      for (const forged of [
        {},
        { origin: url },
        { "x-requested-with": "mailstead" },
        { ...own, origin: "https://evil.example" },
      ]) {
        expect((await send(forged)).status).toBe(403);
      }
      await page.reload();
      await page.getByRole("button", { name: /^Account: Ada / }).waitFor();
      await close();
    },
  );
});

describe.skipIf(!hasChromium)("mailstead dev", () => {
  let server: Running;
  let dashboard: string;
  let smtp: URL;
  beforeAll(async () => {
    const ports = ["--port", "0", "--capture-smtp", "127.0.0.1:0"];
    server = await startMailstead(["dev", "--json", "--data", "temporary", ...ports], isReady);
    const info: unknown = JSON.parse(server.greeting);
    dashboard = stringAt(info, "dashboard");
    smtp = new URL(`smtp://${stringAt(info, "smtp")}`);
  }, BROWSER_LIMIT_MS);
  afterAll(async () => void (await server.stop()));

  async function sendMail(subject: string, text = "Hello Ada", name = "Ada"): Promise<void> {
    const transport = createTransport({ host: smtp.hostname, port: Number(smtp.port) });
    const to = { name, address: "ada@example.com" };
    await transport.sendMail({ from: "shop@example.com", to, subject, text });
    transport.close();
  }

  /** Each link works once, so the session of the first page is used for the others. */
  let cookie = "";
  const open = (prepare?: (page: Page) => Promise<void>) =>
    openPage(`${new URL(dashboard).origin}/app`, {
      cookie,
      ...(prepare === undefined ? {} : { prepare }),
    });

  pageTest(
    "one link signs in, the inbox is open, and the first mail appears without a reload",
    async () => {
      const opened = await openPage(dashboard);
      const { page } = opened;
      await heading(page, "Inbox");
      const [session] = await page.context().cookies();
      cookie = `${session?.name}=${session?.value}`;
      await page.getByRole("heading", { name: "Send a mail and it appears here" }).waitFor();
      for (const language of ["curl", "Python", "PHP", "TypeScript"]) {
        await press(page, language);
        await page.locator(".code pre", { hasText: smtp.port }).waitFor();
      }
      await mark(page);
      await sendMail("Your sign-in code", "Your code is 482913.");
      await page.locator(".inbox-row", { hasText: "Your sign-in code" }).click();
      await page.getByRole("button", { name: "Copy the code 482913" }).waitFor();
      expect(await isSameDocument(page)).toBe(true);
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.close();
    },
  );

  pageTest(
    "subjects and names of 10,000 characters, in any direction, fit the window",
    async () => {
      const [long, arabic, faces] = [
        "0123456789".repeat(1_000),
        "مرحبا ".repeat(200),
        "👩‍👩‍👧‍👦".repeat(300),
      ];
      await sendMail(`Long ${long}`, "Hello", long);
      await sendMail(`Arabic ${arabic}`, arabic, arabic);
      await sendMail(`Faces ${faces}`, faces, faces);
      const opened = await open();
      const { page } = opened;
      await expectFaultless(opened, {
        name: "inbox-long",
        isShown: (shown) => shown.locator(".inbox-row", { hasText: "Faces" }).waitFor(),
      });
      for (const subject of ["Long", "Arabic", "Faces"]) {
        await page.locator(".inbox-row", { hasText: subject }).click();
        await page.getByRole("article").getByRole("heading", { name: subject }).waitFor();
        expect([subject, await faultsOf(opened)]).toEqual([subject, NO_FAULTS]);
        await page.getByRole("button", { name: "Back to the list" }).click();
      }
      await opened.close();
    },
  );

  test.each([
    ["three hours slow", -3],
    ["two days fast", 48],
  ])(
    "a computer whose clock is %s shows how long ago a message arrived",
    async (_, hours) => {
      await sendMail("Sent at this moment");
      const { page, discard } = await open((opened) =>
        opened.clock.setSystemTime(Date.now() + hours * 3_600_000),
      );
      const row = page.locator(".inbox-row", { hasText: "Sent at this moment" }).first();
      await row.getByText("just now").waitFor();
      await discard();
    },
    BROWSER_LIMIT_MS,
  );
});
