/** The inbox of captured mail in a browser, with mail over SMTP. */

import { beforeEach, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium } from "../support/browser.ts";
import { newProject, startDashboard } from "../support/dashboard-server.ts";
import { expectSoon, waitUntilRead } from "../support/eventually.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { startSink } from "../support/smtp-sink.ts";
import { inboxLogin, type InboxProject, openInbox, totalOf, withInbox } from "./inbox-server.ts";

const MESSAGES = 120;
const MAX_ROWS = 60;
/** A place in the middle of the list. */
const SCROLL_PX = 4_000;

let server: InboxProject;
beforePages(async () => {
  server = await withInbox(await newProject());
});
beforeEach(async () => {
  if (hasChromium) await server.call("DELETE", "/inboxes/default/messages", { all: true });
});

const rows = (page: Page) => page.locator(".inbox-row");
const tab = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).click();

const CODE_MAIL = {
  subject: "Your sign-in code",
  to: "Ada Lovelace <ada@example.com>",
  text: "Your code is 482913.",
  html: '<p style="display:grid">Your code is <b>482913</b>.</p><a href="https://shop.example/login?token=8f14e45fceea167a">Sign in</a><img width="1">',
  headers: { "X-Tags": "signup" },
};

describe("the inbox", () => {
  pageTest(
    "shows how to send a mail, and all parts of the first one without a reload",
    async () => {
      const { page, problems, close } = await openInbox(server);
      await page.getByRole("heading", { name: "Send a mail and it appears here" }).waitFor();
      await page.getByText(String(server.smtp.port), { exact: true }).waitFor();
      await page.getByText("Not needed; any are accepted").waitFor();
      for (const language of ["curl", "Python", "PHP", "TypeScript"]) {
        await page.getByRole("button", { name: language }).click();
        await page.locator(".code pre", { hasText: String(server.smtp.port) }).waitFor();
      }
      const attachments = [{ filename: "orders.csv", content: "a,b\n1,2\n" }];
      await server.mail([{ ...CODE_MAIL, attachments }]);
      await rows(page).first().waitFor();
      await page.getByText("1 message", { exact: false }).waitFor();
      await rows(page).first().click();
      await page.getByRole("button", { name: "Copy the code 482913" }).waitFor();
      await page.frameLocator("iframe").getByText("482913").waitFor();
      await page.locator(".inbox-row:not([data-unread])").waitFor();
      await tab(page, "Text");
      await page.getByRole("region", { name: "Text part" }).getByText("Your code is").waitFor();
      await tab(page, "Source");
      await page.getByRole("region", { name: "Source" }).getByText("multipart/mixed").waitFor();
      await tab(page, "Headers");
      await page.locator(".headers").getByText("X-Tags").waitFor();
      await tab(page, "Attachments 1");
      await page.getByText("SHA-256").waitFor();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Download orders.csv" }).click(),
      ]);
      expect(await Bun.file(await download.path()).text()).toBe("a,b\n1,2\n");
      await tab(page, "Links");
      await page.getByText("Signs in or confirms").waitFor();
      let answerChecks = () => {};
      const answered = new Promise<void>((resolve) => (answerChecks = resolve));
      await page.route(/\/checks$/, async (route) => {
        await answered;
        await route.continue();
      });
      await tab(page, "Checks");
      await page.getByText("Alternative texts").waitFor();
      // The checks of the message are shown while the DNS is asked.
      await page.getByText("Asking the DNS…").waitFor();
      await page.getByText(/On average, a feature .* is supported by \d+ % of mail/).waitFor();
      answerChecks();
      await page.getByText("DMARC", { exact: true }).waitFor();
      await tab(page, "SMTP");
      await page.getByText("RCPT TO:<ada@example.com>").waitFor();
      await page.getByRole("button", { name: "Release", exact: true }).click();
      // The setting that allows it.
      await page.getByText("--transport relay").waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "searches with chips in the URL, finds new mails that match, and tries again after an error",
    async () => {
      await server.mail([
        { subject: "Order 1", to: "ada@example.com" },
        { subject: "Order 2", to: "grace@example.com" },
        CODE_MAIL,
      ]);
      const { page, problems, close } = await openInbox(server);
      await page.getByText("3 messages").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type('subject:"Order 2"');
      await page.keyboard.press("Enter");
      await page.getByText("1 message found").waitFor();
      expect(new URL(page.url()).searchParams.get("q")).toBe('subject:"Order 2"');
      await page.keyboard.press("Backspace");
      await page.keyboard.type("to:grace");
      await page.keyboard.press("Enter");
      await page.getByText("1 message found").waitFor();
      await server.mail([{ subject: "Later", to: "grace@example.com" }, { subject: "Other" }]);
      await rows(page).getByText("Later").waitFor();
      await page.getByText("2 messages found").waitFor();
      await expectSoon(() => rows(page).count(), 2);
      const error = { code: "X", message: "The list is not available.", requestId: "r-1" };
      await page.route("**/inboxes/default/messages?*", (route) =>
        route.fulfill({ status: 500, json: { success: false, error } }),
      );
      await page.keyboard.type("nothing-like-this");
      await page.keyboard.press("Enter");
      await page.getByText("r-1").waitFor();
      await page.unroute("**/inboxes/default/messages?*");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByText("5 messages").waitFor();
      expect(problems.filter((text) => !text.includes("status of 500"))).toEqual([]);
      await close();
    },
  );

  pageTest(
    "marks, pins and tags a message, deletes it with a time to undo, and others after a question",
    async () => {
      await server.mail([{ subject: "First" }, { subject: "Second" }, CODE_MAIL]);
      const { page, problems, close } = await openInbox(server);
      await rows(page).getByText("Second").click();
      await page.getByRole("heading", { name: "Second" }).waitFor();
      const row = page.locator('.inbox-row[aria-current="true"]');
      await row.and(page.locator(":not([data-unread])")).waitFor();
      await page.keyboard.press("u");
      await row.and(page.locator("[data-unread]")).waitFor();
      await page.keyboard.press("s");
      await row.getByLabel("Pinned").waitFor();
      await page.getByLabel("Add a tag").fill("checkout");
      await page.keyboard.press("Enter");
      await row.getByText("checkout").waitFor();
      const id = String(new URL(page.url()).searchParams.get("message"));
      await server.call("PATCH", `/inboxes/default/messages/${id}`, { tags: ["elsewhere"] });
      const tagButton = page.getByRole("button", { name: "Remove the tag elsewhere" });
      await tagButton.click();
      await tagButton.waitFor({ state: "detached" });
      await page.getByLabel("Add a tag").blur();

      await page.keyboard.press("#");
      await page.getByText("2 messages").waitFor();
      // The next message is open.
      await page.getByRole("heading", { name: "First" }).waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("3 messages").waitFor();
      expect(await totalOf(server)).toBe(3);
      const first = String(new URL(page.url()).searchParams.get("message"));
      await page.keyboard.press("#");
      await page.getByText("2 messages").waitFor();
      // Leaving the page deletes at once.
      await page.goto("about:blank");
      await waitUntilRead(async () => (await totalOf(server)) === 2);

      const search = `q=tag%3Asignup&message=${first}`;
      await page.goto(`${server.url}/app/p/${server.project}/inboxes?${search}`);
      await page.getByText("This message is gone").waitFor();
      await page.getByText("1 message found").waitFor();
      await page.getByRole("button", { name: "More actions of the inbox" }).click();
      await page.getByRole("menuitem", { name: "Delete all that match…" }).click();
      await page.getByText("that match tag:signup will be deleted").waitFor();
      await page.getByRole("button", { name: "Delete 1 message" }).click();
      await page.getByText("No rows match").waitFor();
      await waitUntilRead(async () => (await totalOf(server)) === 1);
      expect(problems.filter((text) => !text.includes("404"))).toEqual([]);
      await close();
    },
  );

  pageTest(
    "Esc closes a list before its drawer, a menu before its message, one by one",
    async () => {
      await server.mail([{ subject: "Layers" }]);
      const { page, problems, close } = await openInbox(server, "?panel=rules");
      const rules = page.getByRole("dialog", { name: "Failure rules" });
      await rules.getByRole("combobox", { name: "Stage" }).click();
      const choices = page.getByRole("listbox", { name: "Stage" });
      await choices.waitFor();
      await page.keyboard.press("Escape");
      await choices.waitFor({ state: "hidden" });
      await rules.getByRole("heading", { name: "New rule" }).waitFor();
      const palette = page.getByPlaceholder("Search pages, contacts, projects and actions");
      await page.keyboard.press("Control+k");
      await palette.waitFor();
      await page.keyboard.press("Escape");
      await palette.waitFor({ state: "hidden" });
      await rules.getByRole("heading", { name: "New rule" }).waitFor();
      await page.keyboard.press("Escape");
      await rules.waitFor({ state: "detached" });

      await rows(page).getByText("Layers").click();
      const message = page.getByRole("article", { name: "Layers" });
      await message.getByRole("button", { name: "More actions" }).click();
      const action = page.getByRole("menuitem", { name: "Download .eml" });
      await action.waitFor();
      await page.keyboard.press("Escape");
      await action.waitFor({ state: "detached" });
      await message.waitFor();
      await page.keyboard.press("Escape");
      await message.waitFor({ state: "detached" });
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "shows a message that arrived before its connection for live messages was open",
    async () => {
      const opened = Promise.withResolvers<void>();
      await server.mail([{ subject: "Before" }]);
      const { page, problems, close } = await openInbox(server, "", {
        prepare: async (blank) => {
          await blank.route("**/inboxes/*/events*", async (route) => {
            await opened.promise;
            await route.continue();
          });
        },
      });
      await rows(page).getByText("Before").waitFor();
      await server.mail([{ subject: "In between" }]);
      expect(await rows(page).getByText("In between").count()).toBe(0);
      opened.resolve();
      await rows(page).getByText("In between").waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "creates and deletes an isolated inbox with its user, and failure rules that count their uses",
    async () => {
      await server.mail([{ subject: "For the default inbox" }]);
      const { page, problems, findings, close } = await openInbox(server);
      await page.getByRole("button", { name: "Inbox: default" }).click();
      await page.getByRole("menuitem", { name: "New inbox…" }).click();
      await page.getByLabel("Name").fill("not a name");
      await page.getByRole("button", { name: "Create the inbox" }).click();
      await page.locator("[aria-invalid=true]").waitFor();
      await page.getByLabel("Name").fill("signup-test");
      await page.getByRole("button", { name: "Create the inbox" }).click();
      const settings = page.getByRole("dialog", { name: "Settings of the inbox signup-test" });
      await settings.waitFor();
      const login = await inboxLogin(server, "signup-test");
      await settings.getByText(login.user, { exact: true }).waitFor();
      await settings.getByText(login.pass, { exact: true }).waitFor();
      await page.keyboard.press("Escape");
      await server.mail([{ subject: "Isolated" }], login);
      await rows(page).getByText("Isolated").waitFor();
      await expectSoon(() => rows(page).count(), 1);
      await page.getByRole("button", { name: "Connect" }).click();
      await settings.getByRole("button", { name: "Delete signup-test" }).click();
      await page.getByRole("button", { name: "Delete the inbox" }).click();
      await rows(page).getByText("For the default inbox").waitFor();

      await page.getByRole("button", { name: "Failure rules" }).click();
      const rules = page.getByRole("dialog", { name: "Failure rules" });
      await rules.getByText("There are no rules").waitFor();
      await rules.getByLabel("is", { exact: true }).fill("*@slow.example");
      await rules.getByLabel("Reply", { exact: true }).last().fill("999 no reply");
      await rules.getByRole("button", { name: "Create the rule" }).click();
      await rules.getByText(/must be a reply/).waitFor();
      await rules.getByRole("button", { name: "451 4.7.1 Try again later" }).click();
      await rules.getByLabel("How often").fill("2");
      await rules.getByRole("button", { name: "Create the rule" }).click();
      await rules.getByText("at RCPT TO, if recipient *@slow.example").waitFor();
      const refused = await server.mail([{ to: "x@slow.example" }]).catch(String);
      expect(refused).toContain("451 4.7.1");
      await page.keyboard.press("Escape");
      await rules.waitFor({ state: "detached" });
      // While a rule is on, each page says so.
      await page.locator(".side-badge", { hasText: "1 failure rule is on" }).waitFor();
      await page.getByRole("button", { name: "Failure rules: 1 failure rule is on" }).click();
      await rules.getByText("Fired 1 time").waitFor();
      await rules.getByText("1 left").waitFor();
      await rules.locator(".refused button", { hasText: "451 4.7.1" }).click();
      await rules.getByText("RCPT TO:<x@slow.example>").waitFor();
      expect(await findings()).toEqual([]);
      await rules.getByRole("button", { name: /^Delete the rule/ }).click();
      await rules.getByText("There are no rules").waitFor();
      await page.locator(".side-badge").waitFor({ state: "detached" });
      // A rule that a script creates is told to open pages, and so is what it refuses.
      const rule = { stage: "rcpt", match: { to: "y@slow.example" }, action: { reply: "550 No" } };
      await server.call("POST", "/inboxes/default/rules", rule);
      await page.locator(".side-badge", { hasText: "1 failure rule is on" }).waitFor();
      await server.mail([{ to: "y@slow.example" }]).catch(String);
      await rules.locator(".refused button", { hasText: "550 No" }).waitFor();
      await server.call("DELETE", "/inboxes/default/rules");
      await rules.getByText("There are no rules").waitFor();
      await server.mail([{ to: "x@slow.example", subject: "Now accepted" }]);
      expect(await totalOf(server)).toBe(2);
      expect(problems.filter((text) => !text.includes("422"))).toEqual([]);
      await close();
    },
  );

  pageTest(
    `shows ${MESSAGES} messages that arrive while the list is open in at most ${MAX_ROWS} rows`,
    async () => {
      const { page, problems, close } = await openInbox(server);
      await page.getByRole("heading", { name: "Send a mail and it appears here" }).waitFor();
      await server.mail(Array.from({ length: MESSAGES }, (_, i) => ({ subject: `No. ${i}` })));
      await page.getByText(`${MESSAGES} messages`).waitFor();
      expect(await rows(page).count()).toBeWithin(5, MAX_ROWS);
      // The message that is read stays where it is while a new message arrives above it.
      await page.evaluate(
        `document.querySelector(".inbox-scroll").scrollTo({ top: ${SCROLL_PX} })`,
      );
      const firstVisible = () => page.evaluate(FIRST_VISIBLE);
      const scrollTop = () => page.evaluate("document.querySelector('.inbox-scroll').scrollTop");
      await waitUntilRead(async () => (await scrollTop()) === SCROLL_PX);
      // The rows at this position are drawn later.
      await waitUntilRead(async () => (await firstVisible()) !== null);
      const before = await firstVisible();
      await server.mail([{ subject: "The newest" }]);
      await page.getByRole("button", { name: "1 new" }).waitFor();
      await expectSoon(() => firstVisible(), before);
      expect(await rows(page).count()).toBeWithin(5, MAX_ROWS);
      await page.getByRole("button", { name: "1 new" }).click();
      await rows(page).getByText("The newest").waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest("releases a message to an address, with the conversation", async () => {
    const relay = await startSink();
    const url = `smtp://127.0.0.1:${relay.port}?tls=none`;
    const dashboard = await startDashboard(["--transport", "relay", "--relay-url", url]);
    try {
      await release(await withInbox(dashboard));
      expect(relay.messages.map(({ to }) => to)).toEqual([["grace@example.com"]]);
    } finally {
      await Promise.all([dashboard.stop(), relay.close()]);
    }
  });
});

async function release(sending: InboxProject): Promise<void> {
  await sending.mail([{ subject: "To be released" }]);
  const { page, problems, close } = await openInbox(sending);
  await rows(page).getByText("To be released").click();
  await page.getByRole("button", { name: "Release", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Release to an address" });
  await dialog.getByLabel("Addresses").fill("not an address");
  await dialog.getByRole("button", { name: "Release" }).click();
  await dialog.locator("[aria-invalid=true]").waitFor();
  await dialog.getByLabel("Addresses").fill("grace@example.com");
  await dialog.getByRole("button", { name: "Release" }).click();
  await dialog.getByText("Accepted", { exact: true }).waitFor();
  await dialog.getByText("RCPT TO:<grace@example.com>").waitFor();
  expect(problems.filter((text) => !text.includes("422"))).toEqual([]);
  await close();
}

/** The id and the place of the row at the middle of the list; null while none is drawn. */
const FIRST_VISIBLE = `(() => {
  const list = document.querySelector(".inbox-scroll").getBoundingClientRect();
  const row = [...document.querySelectorAll(".inbox-row")].find(
    (each) => each.getBoundingClientRect().bottom > list.top + list.height / 2,
  );
  return row === undefined ? null : [row.dataset.id, Math.round(row.getBoundingClientRect().top)];
})()`;
