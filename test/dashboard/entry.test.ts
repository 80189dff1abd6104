/**
 * The ways into a server: the set-up of its owner, the first mail, the password, sessions that end, and
 * a server that is started again. All tests but the last continue in the page of the one before.
 */

import { afterAll, describe, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { hasChromium, type OpenedPage, openPage } from "../support/browser.ts";
import { type Running, startMailstead } from "../support/cli.ts";
import { startDnsServer, type TestDns } from "../support/dns-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { type Sink, startSink } from "../support/smtp-sink.ts";
import { publish } from "../support/zone.ts";

const PASSWORD = "the harbour is quiet at night";
const EMAIL = "ada@harbour.example";
/** The receiving server takes so long that a person can watch the delivery. */
const ANSWER_AFTER_MS = 1_500;
/** An address of this machine that browsers do not know as local: it has no secure context. */
const LAN_HOST = "0.0.0.0";
/** The beginning of the banner of a lost connection. */
const LOST = "The server cannot be reached. The page shows";

let folder: string;
let dns: TestDns;
let sink: Sink;
let server: Running;
let url: string;
let setUpUrl: string;
let opened: OpenedPage;

/** Starts the server on the port, with the data of the one before. */
async function start(port: string, words: readonly string[] = []): Promise<void> {
  server = await startMailstead(
    ["serve", "--json", "--data", join(folder, "data"), "--port", port, ...words],
    (greeting) => greeting.endsWith("}\n"),
  );
}

beforePages(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-entry-"));
  [dns, sink] = await Promise.all([
    startDnsServer(),
    startSink({ answerAfterMs: ANSWER_AFTER_MS }),
    start("0"),
  ]);
  setUpUrl = stringAt(JSON.parse(server.greeting), "setUpUrl");
  url = new URL(setUpUrl).origin;
  opened = await openPage(setUpUrl);
});
afterAll(async () => {
  if (!hasChromium) return;
  await opened.close();
  await server.stop();
  await Promise.all([dns.close(), sink.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const nameField = (page: Page) => page.getByLabel("Name", { exact: true });
const hrefOf = (page: Page, name: string) =>
  page.getByRole("link", { name, exact: true }).getAttribute("href");

async function enterPassword(page: Page, password = PASSWORD): Promise<void> {
  await page.getByRole("textbox", { name: "Password", exact: true }).fill(password);
  await page.keyboard.press("Enter");
}

async function signIn(page: Page, password = PASSWORD): Promise<void> {
  await heading(page, "Sign in");
  await page.getByLabel("Email address").fill(EMAIL);
  await enterPassword(page, password);
}

/** Sends a request in the session of the page, but not from the page. */
async function request(method: string, path: string, project = ""): Promise<unknown> {
  const cookies = await opened.page.context().cookies();
  const response = await fetch(url + path, {
    method,
    headers: {
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
      origin: url,
      "x-requested-with": "mailstead",
      "x-project": project,
    },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  const answer: unknown = text === "" ? {} : JSON.parse(text);
  return answer;
}

describe("a server that catches mail", () => {
  pageTest("the printed link leads to the owner, a project, a domain and a mail", async () => {
    const { page, problems } = opened;
    await heading(page, "Set up Mailstead");
    await page.getByLabel("Your name").fill("Ada Lovelace");
    await page.getByLabel("Email address").fill(EMAIL);
    await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
    await press(page, "Create the account");
    await heading(page, "Name your project");
    await page.getByText("Recipients see it below marketing mail").waitFor();
    await page.getByLabel("Project name").fill("Harbour Books");
    await page.keyboard.press("Enter");
    await heading(page, "How mail leaves");
    await page.getByText("This server catches mail").waitFor();
    await press(page, "Continue");

    await heading(page, "Your domain");
    await expectSoon(
      () => page.getByLabel("Domain", { exact: true }).inputValue(),
      "harbour.example",
    );
    await press(page, "Add the domain");
    await page.getByText("Add this record at the provider").waitFor();
    await page.getByRole("button", { name: /^Copy the value of .*_domainkey/ }).waitFor();
    await page.reload();
    await page.getByText("Add this record at the provider").waitFor();
    await press(page, "Continue");

    await heading(page, "Send yourself a mail");
    await expectSoon(() => page.getByLabel("From").inputValue(), "hello@harbour.example");
    await page.getByText("it accepts mail to your own address only").waitFor();
    await page.goBack();
    await heading(page, "Your domain");
    await press(page, "Continue");
    await press(page, "Send the mail");
    await page.getByText(`The mail to ${EMAIL} is queued.`).waitFor();
    await page.getByRole("link", { name: "Watch its delivery" }).click();
    await heading(page, "Hello from Mailstead");
    await page.getByText("Sent", { exact: true }).first().waitFor();
    expect(problems).toEqual([]);
  });

  pageTest("the link works once; the owner signs out and in again", async () => {
    const { page, problems } = opened;
    await page.getByRole("button", { name: "Account: Ada Lovelace" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await heading(page, "Sign in");
    // A request of the page may be under way when its session ends.
    expect(problems.filter((problem) => !problem.includes("status of 401"))).toEqual([]);
    await page.goto(setUpUrl);
    await heading(page, "Mailstead is set up");
    await press(page, "Sign in");
    await signIn(page, "a wrong password");
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Email address").inputValue()).toBe(EMAIL);
    await page.goto(`${url}/app/account`);
    await signIn(page);
    await heading(page, "Account");
    await page.getByText("This browser").waitFor();
  });

  pageTest("a session that ends asks for the password and keeps the page", async () => {
    const { page } = opened;
    await nameField(page).fill("Ada Byron");
    await request("POST", "/app/api/logout");
    await press(page, "Save");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    await enterPassword(page);
    await dialog.waitFor({ state: "hidden" });
    await expectSoon(() => nameField(page).inputValue(), "Ada Byron");
    expect(await page.getByRole("alert").count()).toBe(0);
    await press(page, "Save");
    await page.getByRole("button", { name: "Account: Ada Byron" }).waitFor();
  });

  pageTest(
    "a server that is killed and started again leaves a banner, and nothing typed is lost",
    async () => {
      const { page } = opened;
      await nameField(page).fill("Ada King");
      server.child.kill("SIGKILL");
      await server.child.exited;
      await press(page, "Save");
      await page.getByText(LOST).waitFor();
      const relay = `smtp://127.0.0.1:${sink.port}?tls=none`;
      const names = `--dns=127.0.0.1:${dns.server.port}`;
      await start(new URL(url).port, ["--transport", "relay", "--relay-url", relay, names]);
      await page.getByText(LOST).waitFor({ state: "hidden" });
      await expectSoon(() => nameField(page).inputValue(), "Ada King");
      await press(page, "Save");
      await page.getByRole("button", { name: "Account: Ada King" }).waitFor();
    },
  );
});

describe("a server with a relay", () => {
  pageTest("asks for a domain and its record before it sends the first mail", async () => {
    const { page, problems } = opened;
    problems.length = 0;
    const state = await request("GET", "/app/api/state");
    const project = stringAt(state, "data.projects.0.id");
    const domains = async () => listAt(await request("GET", "/domains", project), "data.items");
    const [first] = await domains();
    await request("DELETE", `/domains/${stringAt(first, "id")}`, project);
    await page.goto(`${url}/app/welcome`);
    await page.getByText("This server sends through the SMTP relay 127.0.0.1.").waitFor();
    await page.getByText("Its limits are known to its operator.").waitFor();
    await press(page, "Continue");
    await press(page, "Skip this step");
    await page.getByText("this project has no domain yet").waitFor();
    expect(await hrefOf(page, "Add a domain")).toBe(`/app/p/${project}/domains`);
    expect(await hrefOf(page, "Go to the dashboard")).toBe(`/app/p/${project}`);
    await page.goBack();
    await press(page, "Add the domain");
    await press(page, "Continue");

    await page.getByText("You can send from harbour.example as soon as this record").waitFor();
    await page.getByText(/\._domainkey\.harbour\.example$/).waitFor();
    expect(await page.getByRole("button", { name: "Send the mail" }).count()).toBe(0);
    const [domain] = await domains();
    expect(await hrefOf(page, "Open the page of harbour.example")).toBe(
      `/app/p/${project}/domains/${stringAt(domain, "id")}`,
    );
    publish(dns.records, listAt(domain, "records"));
    await press(page, "Check again");
    await expectSoon(() => page.getByLabel("From").inputValue(), "hello@harbour.example");
    await press(page, "Send the mail");
    await page.getByRole("link", { name: "Watch its delivery" }).click();
    await heading(page, "Hello from Mailstead");
    await page.evaluate("window.isSameDocument = true");
    await page.getByRole("link", { name: "Transcript", exact: true }).click();
    await page.getByText("250 2.0.0 Ok: taken").waitFor();
    expect(await page.evaluate("window.isSameDocument")).toBe(true);
    expect(sink.messages.map(({ from, to }) => [from !== "", to])).toEqual([[true, [EMAIL]]]);
    expect(problems).toEqual([]);
  });

  pageTest("by keyboard alone: palette, search, a mail beside the list, and back", async () => {
    const { page, problems } = opened;
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
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Hello from Mailstead" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(problems).toEqual([]);
  });

  pageTest(
    "over plain HTTP under another name everything works, and a banner asks for TLS",
    async () => {
      const lan = url.replace("127.0.0.1", LAN_HOST).replace("localhost", LAN_HOST);
      await opened.close();
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
});
