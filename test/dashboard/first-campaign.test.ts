/**
 * The journey of a new user, from the sign-in page to the report of the first campaign, without a
 * line of code: people from a file, those of a city who bought lately, a letter in blocks, a
 * rehearsal, a test, and the mails at the server of the recipients. Each test continues in the page
 * of the one before.
 */

import { afterAll, afterEach, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium, type OpenedPage, openPage } from "../support/browser.ts";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import {
  buyersOf,
  chooseFile,
  csvFile,
  EDITOR,
  followLink,
  isSubscribed,
  type Journey,
  makePeople,
  openMail,
  PIXEL,
  START_LIMIT_MS,
  startJourney,
  unsubscribe,
} from "./campaign-journey.ts";
import { PASSWORD } from "./people.ts";

const PEOPLE = makePeople(500);
const BUYERS = buyersOf(PEOPLE);
const RECIPIENTS = BUYERS.filter(isSubscribed);
const SENDER = "news@acme.example";
const SHOP = "https://shop.example/autumn";
const CODE = "Body, HTML with Liquid";

let journey: Journey;
let opened: OpenedPage;

beforePages(async () => {
  journey = await startJourney("127.0.0.41");
  opened = await openPage(`${journey.server.url}/app/login`);
});
afterEach(() => {
  if (!hasChromium) return;
  // The inbox shows images of the web only when it is asked to.
  const isExpected = (problem: string) => /status of 422|"img-src data:"/.test(problem);
  expect(opened.problems.filter((problem) => !isExpected(problem))).toEqual([]);
});
afterAll(async () => {
  if (!hasChromium) return;
  await opened.close();
  await journey.close();
});

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
const goToPage = (page: Page, name: string) =>
  page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
const saved = (page: Page) =>
  page
    .locator(".save-state")
    .getByText(/^Saved/)
    .waitFor();
const preview = (page: Page) => page.frameLocator(".preview-stage iframe:not(.preview-next)");

/** Chooses an option of a select. */
async function select(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole("combobox", { name: label, exact: true }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

/** The mails of the campaign, by their recipients in order. */
const letters = async () =>
  (await journey.arrived()).filter(({ subject }) => subject.startsWith("Autumn, "));

const NUMBERS = ["Sent", "Delivered", "Opened", "Clicked", "Bounced", "Complained", "Unsubscribed"];

/** Expects these numbers in the report, and zero for the others. */
async function expectNumbers(page: Page, numbers: Readonly<Record<string, number>>): Promise<void> {
  const figures = page.getByRole("region", { name: "Numbers" }).locator(".figure-count");
  await expectSoon(
    () => figures.allTextContents(),
    NUMBERS.map((name) => String(numbers[name] ?? 0)),
  );
}

describe("a new user", () => {
  pageTest("signs in and imports 500 people, of whom some have left", async () => {
    const { page } = opened;
    await heading(page, "Sign in");
    await page.getByLabel("Email address").fill(EDITOR);
    await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await goToPage(page, "Contacts");
    await page.getByRole("link", { name: "Import contacts" }).click();
    const choose = page.getByRole("button", { name: "Choose a file" });
    await chooseFile(page, () => choose.click(), csvFile(PEOPLE));
    await page.getByText("500 new contacts will be added: 440 subscribed, 60 not").waitFor();
    await page.getByText("10 addresses will be suppressed").waitFor();
    await page.getByRole("button", { name: "Import 500 contacts" }).click();
    await page.getByRole("heading", { name: "The import is complete" }).waitFor();
    await page.getByRole("link", { name: "Show the contacts" }).click();
    await page.getByText("500 contacts").waitFor();
  });

  pageTest("selects those in Berlin who bought in the last month", async () => {
    const { page } = opened;
    await goToPage(page, "Segments");
    await page.getByRole("link", { name: "Create a segment" }).click();
    await page.getByLabel("Name").fill("Berlin, bought lately");
    await select(page, "Field of Condition 1", "City");
    await page.getByLabel("Value of Condition 1").fill("Berlin");
    await page.getByText("100 contacts").waitFor();
    await page.getByRole("button", { name: "Add a condition" }).click();
    await select(page, "Field of Condition 2", "Last Purchase");
    // The values are dates, so the condition begins with "in the last".
    await page.getByLabel("Value of Condition 2").fill("30");
    await page.getByText(`${BUYERS.length} contacts`).waitFor();
    await page.getByRole("button", { name: "Create the segment" }).click();
    await heading(page, "Berlin, bought lately");
    await page.getByText("Last Purchase is a date in the last 30 days").waitFor();
    await page.getByRole("link", { name: `${BUYERS.length} members` }).waitFor();
  });

  pageTest("writes a letter in blocks: a variable, a button and an image", async () => {
    const { page } = opened;
    await goToPage(page, "Templates");
    await page.getByRole("link", { name: "Create a template" }).click();
    await page.getByRole("radio", { name: "Marketing" }).check();
    await page.getByRole("button", { name: /^Blank, visual/ }).click();
    await page.getByLabel("Name of the template").fill("Autumn letter");
    await page.getByLabel("Subject").fill("Autumn, ");
    await page.getByRole("button", { name: "Insert a variable here" }).first().click();
    await page.getByRole("option", { name: /^First Name/ }).click();
    expect(await page.getByLabel("Subject").inputValue()).toBe("Autumn, {{ First Name }}");
    const letter = page.getByRole("textbox", { name: "Body", exact: true });
    await letter.click();
    await page.keyboard.type("Dear ");
    await page.getByRole("button", { name: "Insert a variable ({{)" }).click();
    await page.getByRole("option", { name: /^First Name/ }).click();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Insert a block (/)" }).click();
    await page.getByRole("menuitem", { name: "Button", exact: true }).click();
    await page.keyboard.type("To the shop");
    await page.getByRole("region", { name: "Button" }).getByLabel("Opens").fill(SHOP);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await page.keyboard.press("ControlOrMeta+End");
    await page.getByRole("button", { name: "Insert a block (/)" }).click();
    const image = page.getByRole("menuitem", { name: "Image", exact: true });
    await chooseFile(page, () => image.click(), PIXEL);
    await page.getByLabel("Alternative text").fill("The sea in October");
    await saved(page);
    await page.getByText("Preview", { exact: true }).click();
    await page.getByRole("combobox", { name: "Preview as" }).fill("person45");
    await page.getByRole("option", { name: "person45@people.example" }).click();
    await preview(page).getByText("Dear Zoë <b>O'Neil</b>").waitFor();
    await preview(page).getByAltText("The sea in October").waitFor();
  });

  pageTest("makes a campaign of both, and sees who is left out and why", async () => {
    const { page } = opened;
    await goToPage(page, "Campaigns");
    await page.getByRole("button", { name: "Create a campaign" }).click();
    await page.getByLabel("Name of the campaign").fill("Autumn");
    await page.getByText("A segment", { exact: true }).click();
    await select(page, "Segment", `Berlin, bought lately (${BUYERS.length})`);
    await page.getByRole("combobox", { name: "From" }).fill(SENDER);
    await page.getByRole("button", { name: "Start from a template" }).click();
    await page.getByRole("button", { name: /^Autumn letter/ }).click();
    const funnel = page.getByRole("group", { name: "Who would get it now" });
    await funnel.getByText(`= ${RECIPIENTS.length}`).waitFor();
    await funnel
      .getByRole("link", { name: String(BUYERS.length - RECIPIENTS.length) })
      .first()
      .click();
    const drawer = page.getByRole("dialog", { name: "Not subscribed" });
    await drawer.getByText("person0@people.example").waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    await page.getByText("checks of structure and headers passed").waitFor();
    await saved(page);
  });

  pageTest("rehearses it, reads a mail of the rehearsal, and sends a test", async () => {
    const { page } = opened;
    await page.getByRole("button", { name: "Rehearse" }).click();
    const table = page.getByRole("table", { name: "The campaign for different contacts" });
    await table.getByRole("cell", { name: "Autumn, Zoë <b>O'Neil</b>", exact: true }).waitFor();
    await table.getByRole("link", { name: "Mail to person45@people.example" }).click();
    await heading(page, "Inbox");
    await page.getByRole("article").getByRole("heading", { name: "Autumn, Zoë" }).waitFor();
    await page.goBack();
    await table.getByRole("cell", { name: "Autumn, Zoë <b>O'Neil</b>", exact: true }).waitFor();
    expect(await journey.arrived()).toEqual([]);

    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByRole("combobox", { name: "With the data of" }).fill("person45");
    await page.getByRole("option", { name: "person45@people.example" }).click();
    await page.getByRole("button", { name: "Send the test" }).click();
    await page.getByText(`The test was sent to ${EDITOR}.`).waitFor();
    await expectSoon(
      async () => (await journey.arrived()).map(({ to, subject }) => [to, subject]),
      [[EDITOR, "[TEST] Autumn, Zoë <b>O'Neil</b>"]],
    );
  });

  pageTest("sends it, and writes the next template as code meanwhile", async () => {
    const { page } = opened;
    await page.getByRole("button", { name: "Review and send" }).click();
    const review = page.getByRole("dialog", { name: "Review and send" });
    await review.getByText(`${RECIPIENTS.length} contacts`, { exact: true }).waitFor();
    await review.getByRole("button", { name: `Send to ${RECIPIENTS.length} contacts` }).click();
    await page.getByText(/^Sending in \d+ s$/).waitFor();

    await goToPage(page, "Templates");
    await page.getByRole("link", { name: "Create a template" }).click();
    await page.getByRole("button", { name: /^Blank, as code/ }).click();
    const code = page.getByRole("textbox", { name: CODE });
    await code.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText("<p>Hello {{{ First Name }}}</p>");
    const faults = page.getByRole("list", { name: "Faults" });
    await faults.getByRole("button", { name: "Line 1" }).click();
    await page.locator(".cm-lint-marker-error").waitFor();
    await faults.getByText("write {{ First Name | raw }}", { exact: false }).waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText("<p>Hello {{ First Name ?? you }}</p>");
    await preview(page).getByText("Hello you").waitFor();
    await page.getByRole("link", { name: "name one here" }).click();
    await page.getByLabel("Sender", { exact: true }).fill(SENDER);
    await page.getByRole("button", { name: "Send me this" }).click();
    await page.getByText(`Sent to ${EDITOR}.`).waitFor();
    await expectSoon(
      async () => (await journey.arrived()).filter(({ html }) => html.includes("Hello you")).length,
      1,
    );
  });

  pageTest("has sent exactly the letter, to exactly those who should get it", async () => {
    const { page } = opened;
    await goToPage(page, "Campaigns");
    await page.getByRole("link", { name: "Autumn", exact: true }).click();
    await page.getByRole("heading", { name: "Who got it" }).waitFor({ timeout: START_LIMIT_MS });
    await expectNumbers(page, { Sent: RECIPIENTS.length, Delivered: RECIPIENTS.length });
    await expectSoon(
      async () => (await letters()).map(({ to }) => to),
      RECIPIENTS.map(({ email }) => email).toSorted(),
    );
    const byAddress = new Map(RECIPIENTS.map((person) => [person.email, person]));
    for (const { to, subject, html, text, hrefs } of await letters()) {
      const { name = "" } = byAddress.get(to) ?? {};
      expect(subject).toBe(`Autumn, ${name}`);
      expect(html).toContain(`Dear ${Bun.escapeHTML(name)}</p>`);
      expect(text).toStartWith(`Dear ${name}\n\nTo the shop [${SHOP}]\nThe sea in October\n`);
      expect(hrefs.length).toBe(2);
    }
  });

  pageTest("sees in the report what the recipients did", async () => {
    const { page } = opened;
    const sent = RECIPIENTS.length;
    // Opens in the first seconds of a mail count as those of programs.
    using db = openData(journey.server);
    db.run("UPDATE emails SET sent_at = sent_at - 60000");
    const [first, second, third] = await letters();
    if (first === undefined || second === undefined || third === undefined)
      throw new Error("there are no mails");
    await openMail(first);
    await openMail(second);
    expect(await followLink(second)).toBe(SHOP);
    expect(await unsubscribe(third)).toBe(200);
    const numbers = { Sent: sent, Delivered: sent, Opened: 2, Clicked: 1, Unsubscribed: 1 };
    await expectNumbers(page, numbers);
    await page.getByRole("region", { name: "Links" }).getByText("/autumn").waitFor();

    // The reminder goes to those who have neither opened it nor unsubscribed.
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Send to those who did not open" }).click();
    await heading(page, "Autumn (not opened)");
    const funnel = page.getByRole("group", { name: "Who would get it now" });
    await funnel.getByText(`= ${sent - 3}`).waitFor();
  });
});
