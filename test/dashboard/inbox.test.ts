/** The inbox of captured mail in a browser, against `mailstead dev` and mail over SMTP. */

import { afterAll, beforeEach, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium, LAYOUT_NAMES } from "../support/browser.ts";
import { expectSoon, waitUntilRead } from "../support/eventually.ts";
import { valueAt } from "../support/json.ts";
import { type InboxServer, inboxValue, openInbox, startInbox } from "./inbox-server.ts";
import { expectNoFaults } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: InboxServer;
beforePages(async () => {
  server = await startInbox();
});
afterAll(async () => {
  if (!hasChromium) return;
  await server.stop();
});
beforeEach(async () => {
  if (hasChromium) await server.call("DELETE", "/inboxes/default/messages", { all: true });
});

const rows = (page: Page) => page.locator(".inbox-row");
const tab = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).click();
const total = async () =>
  Number(valueAt(await server.call("GET", "/inboxes/default/messages"), "data.total"));

const CODE_MAIL = {
  subject: "Your sign-in code",
  to: "Ada Lovelace <ada@example.com>",
  text: "Your code is 482913.",
  html: '<p style="display:grid">Your code is <b>482913</b>.</p><a href="https://shop.example/login?token=8f14e45fceea167a">Sign in</a><img width="1">',
  headers: { "X-Tags": "signup" },
};

/** The tabs share their frame, so two layouts are enough for each. */
const TAB_LAYOUTS = ["light", "phone-dark"] as const;
/** Name of the screenshots, path, a text that it shows, and whether there are messages. */
const VIEWS = [
  ["inbox-empty", "", "Send a mail and it appears here", false],
  ["inbox-list", "", "Order 3", true],
  ["inbox-no-match", "?q=nothing", "Clear filters", true],
  ["inbox-html", "?message=latest", "Copy the code", true],
  ["inbox-source", "?message=latest&tab=source", "Content-Type", true],
  ["inbox-headers", "?message=latest&tab=headers", "X-Tags", true],
  ["inbox-parts", "?message=latest&tab=parts", "SHA-256", true],
  ["inbox-links", "?message=latest&tab=links", "Signs in or confirms", true],
  ["inbox-checks", "?message=latest&tab=checks", "Alternative texts", true],
  ["inbox-smtp", "?message=latest&tab=smtp", "RCPT TO", true],
  ["inbox-connect", "?panel=connect", "Not needed; any are accepted", true],
  ["inbox-rules", "?panel=rules", "New rule", true],
] as const;

describe("every layout is accessible, quiet and fits the window", () => {
  for (const [name, path, text, isFilled] of VIEWS) {
    pageTest(name, async () => {
      const orders = [1, 2, 3].map((i) => ({ subject: `Order ${i} has been shipped` }));
      const attachments = [{ filename: "orders.csv", content: "a,b" }];
      if (isFilled) await server.mail([...orders, { ...CODE_MAIL, attachments }]);
      await expectNoFaults(await openInbox(server, path), {
        name,
        layouts: path.includes("tab=") ? TAB_LAYOUTS : LAYOUT_NAMES,
        isShown(page) {
          const found = page.getByText(text).or(page.getByRole("button", { name: text }));
          return found.filter({ visible: true }).first().waitFor();
        },
      });
    });
  }
});

describe("the inbox", () => {
  pageTest("shows how to send a mail, and the first one without a reload", async () => {
    const { page, problems, close } = await openInbox(server);
    await page.getByRole("heading", { name: "Send a mail and it appears here" }).waitFor();
    await page.getByText(String(server.smtp.port), { exact: true }).waitFor();
    for (const language of ["curl", "Python", "PHP", "TypeScript"]) {
      await page.getByRole("button", { name: language }).click();
      await page.locator(".code pre", { hasText: String(server.smtp.port) }).waitFor();
    }
    await server.mail([CODE_MAIL]);
    await rows(page).first().waitFor();
    await page.getByText("1 message", { exact: false }).waitFor();
    await rows(page).first().click();
    await page.getByRole("button", { name: "Copy the code 482913" }).waitFor();
    await page.frameLocator("iframe").getByText("482913").waitFor();
    await page.locator(".inbox-row:not([data-unread])").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "shows text, source, headers, attachments, links, checks and the session of a message",
    async () => {
      await server.mail([
        { ...CODE_MAIL, attachments: [{ filename: "orders.csv", content: "a,b\n1,2\n" }] },
      ]);
      const { page, problems, close } = await openInbox(server);
      await rows(page).first().click();
      await tab(page, "Text");
      await page.getByRole("region", { name: "Text part" }).getByText("Your code is").waitFor();
      await tab(page, "Source");
      await page.getByRole("region", { name: "Source" }).getByText("multipart/mixed").waitFor();
      await tab(page, "Headers");
      await page.locator(".headers").getByText("X-Tags").waitFor();
      await tab(page, "Attachments 1");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Download orders.csv" }).click(),
      ]);
      expect(await Bun.file(await download.path()).text()).toBe("a,b\n1,2\n");
      await tab(page, "Links");
      await page.getByText("Signs in or confirms").waitFor();
      await tab(page, "Checks");
      await page.getByText("Alternative texts").waitFor();
      await page.getByText("DMARC", { exact: true }).waitFor();
      await page.getByText(/% of mail programs support/).waitFor();
      await tab(page, "SMTP");
      await page.getByText("RCPT TO:<ada@example.com>").waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "searches with chips, keeps them in the URL, and finds new mails that match",
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
      await page.keyboard.type("nothing-like-this");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByText("5 messages").waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest("deletes with a time to undo it, and what matches after a question", async () => {
    await server.mail([{ subject: "First" }, { subject: "Second" }, CODE_MAIL]);
    const { page, problems, close } = await openInbox(server);
    await rows(page).getByText("Second").click();
    await page.getByRole("heading", { name: "Second" }).waitFor();
    await page.keyboard.press("#");
    await page.getByText("2 messages").waitFor();
    // The next message is open.
    await page.getByRole("heading", { name: "First" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("3 messages").waitFor();
    await expectSoon(() => total(), 3);
    await page.keyboard.press("#");
    await page.getByText("2 messages").waitFor();
    // Leaving the page deletes at once.
    await page.goto("about:blank");
    await waitUntilRead(async () => (await total()) === 2);
    await page.goto(`${server.url}/app/p/${server.project}/inboxes?q=tag%3Asignup`);
    await page.getByText("1 message found").waitFor();
    await page.getByRole("button", { name: "More actions of the inbox" }).click();
    await page.getByRole("menuitem", { name: "Delete all that match…" }).click();
    await page.getByText("that match tag:signup will be deleted").waitFor();
    await page.getByRole("button", { name: "Delete 1 message" }).click();
    await page.getByText("No rows match").waitFor();
    await waitUntilRead(async () => (await total()) === 1);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("marks as unread, pins and tags, also from another place", async () => {
    await server.mail([{ subject: "Hello" }]);
    const { page, problems, close } = await openInbox(server);
    await rows(page).first().click();
    await page.locator(".inbox-row:not([data-unread])").waitFor();
    await page.getByRole("heading", { name: "Hello" }).waitFor();
    await page.keyboard.press("u");
    await page.locator(".inbox-row[data-unread]").waitFor();
    await page.keyboard.press("s");
    await rows(page).getByLabel("Pinned").waitFor();
    await page.getByLabel("Add a tag").fill("checkout");
    await page.keyboard.press("Enter");
    await rows(page).getByText("checkout").waitFor();
    await server.call("PATCH", "/inboxes/default/messages/latest", { tags: ["elsewhere"] });
    await page.getByRole("button", { name: "Remove the tag elsewhere" }).click();
    await page
      .getByRole("button", { name: "Remove the tag elsewhere" })
      .waitFor({ state: "detached" });
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("creates an isolated inbox, shows its user and password, and deletes it", async () => {
    await server.mail([{ subject: "For the default inbox" }]);
    const { page, problems, close } = await openInbox(server);
    await page.getByRole("button", { name: "Inbox: default" }).click();
    await page.getByRole("menuitem", { name: "New inbox…" }).click();
    await page.getByLabel("Name").fill("not a name");
    await page.getByRole("button", { name: "Create the inbox" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await page.getByLabel("Name").fill("signup-test");
    await page.getByRole("button", { name: "Create the inbox" }).click();
    const panel = page.getByRole("dialog", { name: "Settings of the inbox signup-test" });
    await panel.waitFor();
    const password = await inboxValue(server, "signup-test", "password");
    await panel.getByText(password, { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await server.mail([{ subject: "Isolated" }], {
      user: await inboxValue(server, "signup-test", "username"),
      pass: password,
    });
    await rows(page).getByText("Isolated").waitFor();
    await expectSoon(() => rows(page).count(), 1);
    await page.getByRole("button", { name: "Connect" }).click();
    await panel.getByRole("button", { name: "Delete signup-test" }).click();
    await page.getByRole("button", { name: "Delete the inbox" }).click();
    await rows(page).getByText("For the default inbox").waitFor();
    expect(problems.filter((text) => !text.includes("422"))).toEqual([]);
    await close();
  });

  pageTest("creates failure rules, shows how often they fired, and deletes them", async () => {
    const { page, problems, close } = await openInbox(server, "?panel=rules");
    const panel = page.getByRole("dialog", { name: "Failure rules" });
    await panel.getByText("There are no rules").waitFor();
    await panel.getByLabel("is", { exact: true }).fill("*@slow.example");
    await panel.getByLabel("Reply", { exact: true }).last().fill("999 no reply");
    await panel.getByRole("button", { name: "Create the rule" }).click();
    await panel.getByText(/must be a reply/).waitFor();
    await panel.getByRole("button", { name: "451 4.7.1 Try again later" }).click();
    await panel.getByLabel("How often").fill("2");
    await panel.getByRole("button", { name: "Create the rule" }).click();
    await panel.getByText("at RCPT TO, if recipient *@slow.example").waitFor();
    const refused = await server.mail([{ to: "x@slow.example" }]).catch(String);
    expect(refused).toContain("451 4.7.1");
    await page.reload();
    await panel.getByText("Fired 1 time").waitFor();
    await panel.getByText("1 left").waitFor();
    await panel.getByRole("button", { name: /^Delete the rule/ }).click();
    await panel.getByText("There are no rules").waitFor();
    await server.mail([{ to: "x@slow.example", subject: "Now accepted" }]);
    await expectSoon(() => total(), 1);
    expect(problems.filter((text) => !text.includes("422"))).toEqual([]);
    await close();
  });

  pageTest("says which setting allows the release of a message", async () => {
    await server.mail([{ subject: "Hello" }]);
    const { page, problems, close } = await openInbox(server);
    await rows(page).first().click();
    await page.getByRole("button", { name: "Release", exact: true }).click();
    await page.getByText("--transport relay").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("shows an error with a button to try again, and a message that is gone", async () => {
    await server.mail([{ subject: "Hello" }]);
    const { page, close } = await openInbox(server, "", {
      prepare: async (page) => {
        await page.route("**/inboxes/default/messages?*", (route) =>
          route.fulfill({
            status: 500,
            json: { success: false, error: { code: "X", message: "Broken.", requestId: "r-1" } },
          }),
        );
      },
    });
    await page.getByText("r-1").waitFor();
    await page.unroute("**/inboxes/default/messages?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await rows(page).first().waitFor();
    await page.goto(`${server.url}/app/p/${server.project}/inboxes?message=unknown`);
    await page.getByText("This message is gone").waitFor();
    await close();
  });
});
