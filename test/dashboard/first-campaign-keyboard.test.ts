/**
 * The journey to a first campaign by keyboard alone: no test clicks, and none sets the focus. Each
 * continues in the page of the one before.
 */

import { afterAll, afterEach, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium, type OpenedPage, openPage } from "../support/browser.ts";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { type Keyboard, keyboardOf } from "../support/keyboard.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import {
  buyersOf,
  chooseFile,
  csvFile,
  EDITOR,
  isSubscribed,
  type Journey,
  makePeople,
  openMail,
  type Person,
  PIXEL,
  START_LIMIT_MS,
  startJourney,
} from "./campaign-journey.ts";
import { openAs, PASSWORD } from "./people.ts";

const PEOPLE = makePeople(120);
const BUYERS = buyersOf(PEOPLE);
const RECIPIENTS = BUYERS.filter(isSubscribed);
/** The first of them opens the mail. */
const REMINDED = RECIPIENTS.slice(1);
const SENDER = "news@acme.example";
const SHOP = "https://shop.example/spring";

let journey: Journey;
let opened: OpenedPage;
let page: Page;
let keys: Keyboard;

beforePages(async () => {
  journey = await startJourney("127.0.0.43");
  opened = await openPage(`${journey.server.url}/app/login`);
  ({ page } = opened);
  keys = await keyboardOf(page);
});
afterEach(() => {
  if (!hasChromium) return;
  const isExpected = (problem: string) => /status of 4(?:12|22)/.test(problem);
  expect(opened.problems.filter((problem) => !isExpected(problem))).toEqual([]);
});
afterAll(async () => {
  if (!hasChromium) return;
  await opened.close();
  await journey.close();
});

const heading = (name: string, on = page) =>
  on.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const saved = (on = page) =>
  on
    .locator(".save-state")
    .getByText(/^Saved/)
    .waitFor();
const preview = () => page.frameLocator(".preview-stage iframe:not(.preview-next)");
const valueOf = (label: string) => page.locator(`input[aria-label="${label}"]`).inputValue();

/** Presses the keys of a page, and then `c`, which creates something there. */
async function createOn(key: string, name: string): Promise<void> {
  await keys.press("g", key);
  await heading(name);
  await keys.press("c");
}

/** Opens the report of a campaign, and waits until it is sent. */
async function openReport(name: string): Promise<void> {
  await keys.press("g", "m");
  await heading("Campaigns");
  await page.getByRole("link", { name, exact: true }).waitFor();
  await keys.tabTo(`link ${name}`);
  await keys.press("Enter");
  await heading(name);
  await page.getByRole("heading", { name: "Who got it" }).waitFor({ timeout: START_LIMIT_MS });
  await expectFocus("content");
}

const addresses = (people: readonly Person[]) => people.map(({ email }) => email).toSorted();

/** Reads who got a mail whose subject begins so. */
const lettersOf = (subject: string) => async () =>
  (await journey.arrived())
    .filter((mail) => mail.subject.startsWith(`${subject}, `))
    .map(({ to }) => to);

/** From the content of the page, Tab goes on to its first element. */
const expectFocus = (name: string) => expectSoon(keys.focused, name);

describe("by keyboard alone", () => {
  pageTest("a user signs in and imports a file", async () => {
    await heading("Sign in");
    await keys.type(EDITOR);
    await keys.press("Tab");
    await keys.type(PASSWORD);
    await keys.press("Enter");
    await heading("Inbox");
    await expectFocus("content");
    await keys.press("g", "c");
    await page.getByRole("link", { name: "Import contacts" }).waitFor();
    await keys.tabTo("link Import contacts");
    await keys.press("Enter");
    await page.getByText("Drop a CSV file here").waitFor();
    await expectFocus("content");
    await keys.tabTo("button Choose a file");
    await chooseFile(page, () => keys.press("Enter"), csvFile(PEOPLE));
    await page.getByText("120 new contacts will be added").waitFor();
    await expectFocus("content");
    await keys.tabTo("button Import 120 contacts");
    await keys.press("Enter");
    await page.getByRole("heading", { name: "The import is complete" }).waitFor();
    await expectFocus("content");
    await keys.tabTo("link Show the contacts");
    await keys.press("Enter");
    await page.getByText("120 contacts").waitFor();
    await expectFocus("content");
  });

  pageTest("a segment of two conditions is built, and one of them is removed", async () => {
    await createOn("s", "Segments");
    await expectFocus("textbox Name");
    await keys.type("Berlin, bought lately");
    await keys.tabTo("combobox Field of Condition 1");
    await keys.type("city");
    await keys.press("Enter");
    await keys.tabTo("textbox Value of Condition 1");
    await keys.type("Berlin");
    await page.getByText("24 contacts").waitFor();
    await keys.tabTo("button Add a condition");
    await keys.press("Enter");
    await expectFocus("combobox Field of Condition 2");
    await keys.type("purch");
    await keys.press("Enter");
    expect(await valueOf("Field of Condition 2")).toBe("Last Purchase");
    expect(await valueOf("Operator of Condition 2")).toBe("in the last");
    await keys.tabTo("textbox Value of Condition 2");
    await keys.type("30");
    await page.getByText(`${BUYERS.length} contacts`, { exact: true }).waitFor();
    await keys.tabTo("button Add a group");
    await keys.press("Enter");
    await expectFocus("combobox Field of Condition 3, part 1");
    await keys.tabTo("button Remove the group of Condition 3");
    await keys.press("Enter");
    await expectFocus("button Add a condition");
    await keys.tabTo("button Create the segment");
    await keys.press("Enter");
    await heading("Berlin, bought lately");
    await expectFocus("content");
  });

  pageTest("a letter is written in blocks", async () => {
    await createOn("t", "Templates");
    await heading("New template");
    await keys.tabTo("radio Transactional");
    await keys.press("ArrowDown");
    await expectFocus("radio Marketing");
    await keys.tabTo("button Blank, visual");
    await keys.press("Enter");
    await page.getByRole("textbox", { name: "Body", exact: true }).waitFor();
    await expectFocus("content");
    await keys.tabTo("textbox Name of the template");
    await keys.type("Spring letter");
    await keys.tabTo("textbox Subject");
    await keys.type("Spring, {{fir");
    await page.getByRole("option", { name: /^First Name/ }).waitFor();
    await keys.press("Enter");
    expect(await page.getByLabel("Subject").inputValue()).toBe("Spring, {{ First Name }}");
    await keys.tabTo("textbox Body");
    await keys.type("Dear {{fir");
    await page.getByRole("option", { name: /^First Name/, selected: true }).waitFor();
    await keys.press("Enter", "Enter");
    await keys.type("/button");
    await page.getByRole("option", { name: /^Button/, selected: true }).waitFor();
    await keys.press("Enter");
    await keys.type("To the shop");
    await keys.press("Alt+Enter");
    await expectFocus("textbox Opens");
    await keys.type(SHOP);
    await keys.press("Enter", "Escape");
    await expectFocus("textbox Body");
    await keys.press("Control+End");
    await keys.type("/image");
    await page.getByRole("option", { name: /^Image/, selected: true }).waitFor();
    await chooseFile(page, () => keys.press("Enter"), PIXEL);
    await expectFocus("textbox Alternative text");
    await keys.type("The first green");
    await keys.press("Escape");
    await expectFocus("textbox Body");
    await saved();
    await keys.tabBackTo("radio Write");
    await keys.press("ArrowRight");
    await keys.tabTo("combobox Preview as");
    await keys.type("person45");
    await keys.choose("person45@people.example");
    await preview().getByText("Dear Zoë <b>O'Neil</b>").waitFor();
    await keys.tabTo("radio Desktop");
  });

  pageTest("a campaign is made of both, rehearsed and tested", async () => {
    await createOn("m", "Campaigns");
    await page.getByRole("textbox", { name: "Name of the campaign" }).waitFor();
    await expectFocus("content");
    // The element that scrolls has the focus.
    const scrolled = () => page.evaluate(`document.querySelector(".page").scrollTop > 0`);
    await keys.press("PageDown");
    await expectSoon(scrolled, true);
    await keys.press("Home");
    await expectSoon(scrolled, false);
    await keys.tabTo("textbox Name of the campaign");
    await keys.type("Spring");
    await keys.tabTo("radio Everybody");
    await keys.press("ArrowRight");
    await expectFocus("radio A segment");
    await keys.tabTo("combobox Segment");
    await keys.type("Berlin");
    // The option is marked a moment after it is shown.
    await page.locator("[data-combobox-selected]", { hasText: "Berlin" }).waitFor();
    await keys.press("Enter");
    await page.getByText(`= ${RECIPIENTS.length}`).waitFor();
    await keys.tabTo("combobox From");
    await keys.type(SENDER);
    await keys.tabTo("button Start from a template");
    await keys.press("Enter");
    await expectFocus("textbox Search for a template");
    await keys.type("spring");
    await keys.tabTo("button Spring letter");
    await keys.press("Enter");
    await expectFocus("button Start from a template");
    await page.getByText("checks of structure and headers passed").waitFor();
    await saved();
    await keys.tabTo("button Rehearse");
    await keys.press("Enter");
    const table = page.getByRole("table", { name: "The campaign for different contacts" });
    await table.getByRole("cell", { name: "Spring, Zoë <b>O'Neil</b>", exact: true }).waitFor();
    await expectFocus("button Rehearse again");
    expect(await journey.arrived()).toEqual([]);

    await keys.tabBackTo("button Send a test");
    await keys.press("Enter");
    await expectFocus("textbox Email address");
    await page.getByRole("combobox", { name: "With the data of" }).waitFor();
    await keys.tabTo("combobox With the data of");
    await keys.type("person45");
    await keys.choose("person45@people.example");
    await keys.tabTo("button Send the test");
    await keys.press("Enter");
    await page.getByText(`The test was sent to ${EDITOR}.`).waitFor();
    await expectFocus("button Send a test");
    await expectSoon(
      async () => (await journey.arrived()).map(({ subject }) => subject),
      ["[TEST] Spring, Zoë <b>O'Neil</b>"],
    );
  });

  pageTest("it is sent, undone, and sent again", async () => {
    const send = `button Send to ${RECIPIENTS.length} contacts`;
    await keys.tabTo("button Review and send");
    await keys.press("Enter");
    await expectFocus("button Cancel");
    await keys.tabTo(send);
    await keys.press("Enter");
    await expectFocus("button Undo");
    await keys.press("Enter");
    await page.getByText("Nothing was sent.").waitFor();
    await expectFocus("button Review and send");
    await keys.press("Enter");
    await expectFocus("button Cancel");
    await keys.tabTo(send);
    await keys.press("Enter");
    await expectFocus("button Undo");
  });

  pageTest("meanwhile a template with an error is mended and sent to oneself", async () => {
    await createOn("t", "Templates");
    await heading("New template");
    await keys.tabTo("button Blank, as code");
    await keys.press("Enter");
    await page.getByRole("textbox", { name: "Body, HTML with Liquid" }).waitFor();
    await expectFocus("content");
    await keys.tabTo("link name one here");
    await keys.press("Enter");
    await page.getByLabel("Sender", { exact: true }).waitFor();
    await keys.tabTo("textbox Sender");
    await keys.type(SENDER);
    await keys.tabBackTo("link Edit");
    await keys.press("Enter");
    await keys.tabTo("textbox Body, HTML with Liquid");
    await keys.press("Control+a");
    await page.keyboard.insertText("<p>Hello {{#if name}}you</p>");
    const faults = page.getByRole("list", { name: "Faults" });
    await faults.getByRole("button", { name: "Line 1" }).waitFor();
    await keys.tabTo("button Line 1");
    await keys.press("Enter");
    await expectFocus("textbox Body, HTML with Liquid");
    await keys.press("Control+a");
    await page.keyboard.insertText("<p>Hello {{ First Name ?? you }}</p>");
    await preview().getByText("Hello you").waitFor();
    await saved();
    await keys.tabBackTo("button Send me this");
    await keys.press("Enter");
    await page.getByText(`Sent to ${EDITOR}.`).waitFor();
    await expectFocus("button Send me this");
    await expectSoon(
      async () => (await journey.arrived()).filter(({ html }) => html.includes("Hello you")).length,
      1,
    );
  });

  pageTest("the report is read, and those who did not open it get a reminder", async () => {
    await openReport("Spring");
    await expectSoon(lettersOf("Spring"), addresses(RECIPIENTS));
    const figures = page.getByRole("region", { name: "Numbers" }).locator(".figure-count");
    await expectSoon(() => figures.allTextContents(), ["3", "3", "0", "0", "0", "0", "0"]);
    // Opens in the first seconds of a mail count as those of programs.
    using db = openData(journey.server);
    db.run("UPDATE emails SET sent_at = sent_at - 60000");
    const opener = RECIPIENTS[0]?.email;
    const sent = (await journey.arrived()).find(({ to }) => to === opener);
    if (sent === undefined) throw new Error("there is no mail");
    await openMail(sent);
    await expectSoon(() => figures.allTextContents(), ["3", "3", "1", "0", "0", "0", "0"]);

    await keys.tabTo("button More actions");
    await keys.press("Enter");
    await expectFocus("menuitem Send to those who did not open");
    await keys.press("Enter");
    await heading("Spring (not opened)");
    await page.getByText(`= ${REMINDED.length}`).waitFor();
    await expectFocus("content");
    await keys.tabTo("textbox Subject");
    await keys.type("Reminder, {{ First Name ?? you }}");
    await keys.tabBackTo("button Review and send");
    await keys.press("Enter");
    await keys.tabTo(`button Send to ${REMINDED.length} contacts`);
    await keys.press("Enter");
    await expectFocus("button Undo");
  });

  pageTest("two people change one template, and the second decides", async () => {
    await keys.press("g", "t");
    await page.getByRole("link", { name: "Spring letter" }).waitFor();
    await keys.tabTo("link Spring letter");
    await keys.press("Enter");
    await page.getByRole("textbox", { name: "Body", exact: true }).waitFor();
    const { pathname } = new URL(page.url());
    const path = pathname.slice(pathname.indexOf("/templates/"));
    const theirs = await openAs(journey.server, path, { person: "admin", isLive: true });
    const other = await keyboardOf(theirs.page);
    await theirs.page.getByLabel("Subject").waitFor();
    await other.tabTo("textbox Subject");
    await page.bringToFront();
    await keys.tabTo("textbox Subject");
    // Both save their text to the same version.
    await other.type("Their subject");
    await keys.type("My subject");
    await saved(theirs.page);
    const dialog = page.getByRole("dialog", { name: "Somebody else changed this template" });
    await dialog.getByText("Their subject").waitFor();
    await expectFocus("radio Keep mine");
    await keys.press("Space");
    await keys.tabTo("button Save this choice");
    await keys.press("Enter");
    await dialog.waitFor({ state: "hidden" });
    await expectFocus("textbox Subject");
    await saved();
    await expectSoon(() => theirs.page.getByLabel("Subject").inputValue(), "My subject");
    expect(theirs.problems).toEqual([]);
    await theirs.close();
  });

  pageTest("the reminder has reached those who had not opened the first mail", async () => {
    await keys.tabTo("radio Visual");
    await openReport("Spring (not opened)");
    await expectSoon(lettersOf("Reminder"), addresses(REMINDED));
    expect(await lettersOf("Spring")()).toEqual(addresses(RECIPIENTS));
  });
});
