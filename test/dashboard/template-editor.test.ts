/** Templates and layouts are written in the dashboard, and lose nothing. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { goTo } from "./go-to.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let project: PeopledProject;
beforePages(async () => {
  project = await newProjectWithPeople();
  const ada = { email: "ada@x.io", data: { name: "Ada", plan: "pro" } };
  await project.call("POST", "/contacts", ada);
});

const CODE = "Body, HTML with Liquid";
const SENDER = "shop@acme.example";

/** Replaces the text of the code editor as a paste does. */
async function paste(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: CODE }).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

const saveState = (page: Page) => page.locator(".save-state");
const preview = (page: Page) => page.frameLocator(".preview-stage iframe:not(.preview-next)");
const saved = (page: Page) =>
  saveState(page)
    .getByText(/^Saved/)
    .waitFor();

async function createTemplate(fields: object = {}): Promise<string> {
  const template = {
    name: "Receipt",
    subject: "Your order",
    body: "<p>One</p>",
    type: "TRANSACTIONAL",
    from: SENDER,
    ...fields,
  };
  return stringAt(await project.call("POST", "/templates", template), "data.id");
}

const read = async (id: string, field: string): Promise<unknown> =>
  valueAt(await project.call("GET", `/templates/${id}`), `data.${field}`);

describe("a template", () => {
  pageTest(
    "is created, mended at its line, shown as a contact gets it, and sent to oneself",
    async () => {
      const opened = await openAs(project, "/templates", { person: "editor" });
      const { page, problems } = opened;
      await page.getByRole("link", { name: "Create a template" }).click();
      await page.getByRole("button", { name: /^Welcome/ }).click();
      await page.getByRole("heading", { level: 1, name: "Welcome" }).waitFor();
      await preview(page).getByRole("heading", { name: "Welcome, friend" }).waitFor();
      await page.getByLabel("Name of the template").fill("First mail");

      await paste(page, "<p>Hello</p>\n<p>{{#if name}}you</p>");
      const faults = page.getByRole("list", { name: "Faults" });
      await faults.getByText("Mustache or Handlebars", { exact: false }).waitFor();
      await saveState(page)
        .getByText(/^Not saved: Body, line 2: /)
        .waitFor();
      await page.locator(".cm-lint-marker-error").waitFor();
      await faults.getByRole("button", { name: "Line 2" }).click();
      expect(await page.locator(":focus").getAttribute("aria-label")).toBe(CODE);
      await paste(page, "<p>Hello {{ name ?? friend }}</p>\n<p>Your plan: {{ plan }}</p>");
      await saved(page);
      await expectSoon(() => faults.getByRole("listitem").count(), 0);
      await preview(page).getByText("Hello friend").waitFor();

      await page.getByLabel("Subject").fill("Welcome, {{ name }}");
      await page.getByLabel("Preheader").fill("Your plan is {{ plan }}");
      await page.getByRole("combobox", { name: "Preview as" }).fill("ada");
      await page.getByRole("option", { name: "ada@x.io" }).click();
      await preview(page).getByText("Your plan: pro").waitFor();
      const line = page.getByRole("group", { name: "In the list of mails" });
      await line.getByText("Welcome, Ada").waitFor();
      await line.getByText("Your plan is pro").waitFor();
      await page.getByText("Phone", { exact: true }).click();
      await page.getByRole("switch", { name: "Dark" }).click();
      await expectSoon(
        async () => (await page.locator(".preview-stage iframe").first().boundingBox())?.width,
        375,
      );
      const { searchParams } = new URL(page.url());
      expect([searchParams.get("device"), searchParams.get("dark")]).toEqual(["phone", "true"]);
      await page.getByText("Text", { exact: true }).click();
      await preview(page).getByText("Your plan: pro").waitFor();

      await page.getByRole("link", { name: "Settings", exact: true }).last().click();
      await page.getByLabel("Sender", { exact: true }).fill(SENDER);
      await page.getByRole("button", { name: "Send me this" }).click();
      await page.getByText("Sent to eva@acme.example.").waitFor();
      await page.getByRole("button", { name: "Other ways to send a test" }).click();
      await page.getByRole("menuitem", { name: "Send a test to another address" }).click();
      await page.getByLabel("Email address").fill("bea@x.io");
      await page.getByRole("button", { name: "Send the test" }).click();
      await page.getByText("The test was sent.").waitFor();
      await expectSoon(
        async () => {
          const messages = await project.call("GET", "/inboxes/default/messages");
          return listAt(messages, "data.items").map((message) => stringAt(message, "subject"));
        },
        Array(2).fill(expect.stringContaining("Welcome, Ada")),
      );

      await page.getByRole("link", { name: "Checks" }).click();
      await page.getByRole("heading", { name: "Structure and headers" }).waitFor();
      await page.getByText("The mail has no links of its own.").waitFor();
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Duplicate" }).click();
      await page.getByRole("heading", { level: 1, name: /First mail.+/ }).waitFor();
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByRole("button", { name: "Delete the template" }).click();
      await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor();
      expect(problems.filter((text) => !text.includes("status of 422"))).toEqual([]);
      await opened.close();
    },
  );

  pageTest("that two people change at once keeps what both chose", async () => {
    const id = await createTemplate();
    const [one, two] = [
      await openAs(project, `/templates/${id}`, { person: "admin" }),
      await openAs(project, `/templates/${id}`, { person: "editor" }),
    ];
    for (const { page } of [one, two]) await page.getByRole("textbox", { name: CODE }).waitFor();
    // Different fields are joined without a question.
    await one.page.getByLabel("Subject").fill("Subject of one");
    await saved(one.page);
    await paste(two.page, "<p>Body of two</p>");
    await two.page.getByText("Somebody else has changed: Subject.", { exact: false }).waitFor();
    await expectSoon(() => read(id, "body"), "<p>Body of two</p>");
    expect(await read(id, "subject")).toBe("Subject of one");
    expect(await two.page.getByLabel("Subject").inputValue()).toBe("Subject of one");

    // The first page still has the body from before.
    await paste(one.page, "<p>Body of one</p>");
    const dialog = one.page.getByRole("dialog", { name: "Somebody else changed this template" });
    await dialog.getByText("<p>Body of two</p>").waitFor();
    expect(await read(id, "body")).toBe("<p>Body of two</p>");
    await dialog.getByRole("button", { name: "Decide later" }).click();
    await saveState(one.page).getByRole("button", { name: "Compare" }).click();
    await dialog.getByRole("radio", { name: "Keep mine" }).check();
    await dialog.getByRole("button", { name: "Save this choice" }).click();
    await expectSoon(() => read(id, "body"), "<p>Body of one</p>");
    await saved(one.page);

    await paste(two.page, "<p>Body of two again</p>");
    await two.page.getByRole("button", { name: "Take all of theirs" }).click();
    await preview(two.page).getByText("Body of one").waitFor();
    await saved(two.page);
    expect(await read(id, "body")).toBe("<p>Body of one</p>");
    await one.close();
    await two.close();
  });

  pageTest("that another person changes says so at once", async () => {
    const id = await createTemplate();
    const opened = await openAs(project, `/templates/${id}`, { person: "editor", isLive: true });
    const { page } = opened;
    await page.getByRole("textbox", { name: CODE }).waitFor();
    await project.call("PATCH", `/templates/${id}`, { subject: "From another tab" });
    await page.getByText("Somebody else has changed: Subject.", { exact: false }).waitFor();
    expect(await page.getByLabel("Subject").inputValue()).toBe("From another tab");
    await opened.close();
  });

  pageTest("gets an earlier version back, and the undo of that", async () => {
    const id = await createTemplate({ body: "<p>First</p>\n<p>Same</p>" });
    const opened = await openAs(project, `/templates/${id}`, { person: "editor" });
    const { page, problems } = opened;
    await paste(page, "<p>Second</p>\n<p>Same</p>");
    await saved(page);
    await page.getByRole("link", { name: "Versions" }).click();
    const versions = page.getByRole("list", { name: "Versions, newest first" });
    await versions.getByRole("button").nth(1).click();
    const diff = page.getByRole("region", { name: "This version and Now" });
    await diff.getByText("<p>First</p>").waitFor();
    await diff.getByText("<p>Second</p>").waitFor();
    await page.getByText("Changes that one person makes within five minutes").waitFor();
    await page.getByRole("button", { name: "Restore this version" }).click();
    await page.getByText("The version was restored.").waitFor();
    expect(await page.getByText("Somebody else has changed").count()).toBe(0);
    expect(await read(id, "body")).toBe("<p>First</p>\n<p>Same</p>");
    await page.getByRole("button", { name: "Undo" }).click();
    await expectSoon(() => read(id, "body"), "<p>Second</p>\n<p>Same</p>");
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.locator(".cm-line", { hasText: "<p>Second</p>" }).waitFor();
    expect(await page.getByText("Somebody else has changed").count()).toBe(0);
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("keeps what is typed without a connection, and saves it later", async () => {
    const id = await createTemplate();
    const opened = await openAs(project, `/templates/${id}`, { person: "editor" });
    const { page } = opened;
    await page.getByRole("textbox", { name: CODE }).waitFor();
    await page.context().setOffline(true);
    await paste(page, "<p>Typed in a tunnel</p>");
    await saveState(page).getByText("Kept in this browser", { exact: false }).waitFor();
    expect(await read(id, "body")).toBe("<p>One</p>");
    await page.context().setOffline(false);
    await saved(page);
    expect(await read(id, "body")).toBe("<p>Typed in a tunnel</p>");

    // The page is closed before the server can be reached again.
    await page.evaluate(`{
      const send = window.fetch;
      window.fetch = (url, init) =>
        init.method === "PATCH" ? Promise.reject(new TypeError("no network")) : send(url, init);
    }`);
    await paste(page, "<p>Typed before the battery was empty</p>");
    await saveState(page).getByText("Kept in this browser", { exact: false }).waitFor();
    expect(await read(id, "body")).toBe("<p>Typed in a tunnel</p>");
    await page.reload();
    await page.getByText("that were not saved are here again", { exact: false }).waitFor();
    await expectSoon(() => read(id, "body"), "<p>Typed before the battery was empty</p>");

    // A page that is left saves at once.
    await paste(page, "<p>Last words</p>");
    await goTo(page, `/p/${project.project}/templates`);
    await expectSoon(() => read(id, "body"), "<p>Last words</p>");
    await opened.discard();
  });

  pageTest("of the visual editor is written in blocks, and can become code", async () => {
    const opened = await openAs(project, "/templates/new", { person: "editor" });
    const { page, problems } = opened;
    await page.getByRole("button", { name: /^Blank, visual/ }).click();
    await page.getByLabel("Name of the template").fill("Letter in blocks");
    await page.locator(".visual-editor [contenteditable=true]").first().click();
    await page.keyboard.type("Written in blocks");
    await saved(page);
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await expectSoon(() => read(id, "body"), expect.stringContaining("Written in blocks"));
    expect(await read(id, "format")).toBe("VISUAL");
    await page.getByText("Preview", { exact: true }).click();
    await preview(page).getByText("Written in blocks").waitFor();
    await page.getByText("Write", { exact: true }).click();
    await page.getByText("Code", { exact: true }).click();
    expect(new URL(page.url()).searchParams.get("mode")).toBe("code");
    await page.getByRole("button", { name: "Edit as code" }).click();
    await page.getByRole("textbox", { name: CODE }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Visual", { exact: true }).click();
    await page.locator(".visual-editor").getByText("Written in blocks").waitFor();
    await page.getByText("Code", { exact: true }).click();
    await page.getByRole("button", { name: "Edit as code" }).click();
    await paste(page, "<p>Now it is code</p>");
    await expectSoon(() => read(id, "body"), "<p>Now it is code</p>");
    expect(await read(id, "format")).toBe("CODE");
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("is not written by viewers, and created from the palette by editors", async () => {
    const id = await createTemplate();
    const seen = await openAs(project, `/templates/${id}`, { person: "viewer" });
    await seen.page.frameLocator("iframe").getByText("One").waitFor();
    for (const path of [`/templates/${id}?tab=edit`, "/templates/new", "/templates/layouts"]) {
      await goTo(seen.page, `/p/${project.project}${path}`);
      await seen.page.getByRole("heading", { level: 1 }).waitFor();
      expect(await seen.page.locator(".cm-editor, .starter").count()).toBe(0);
      expect(await seen.page.getByRole("button", { name: /^(Create|Send)/ }).count()).toBe(0);
    }
    await seen.page.getByText("No layouts yet").waitFor();
    await seen.close();
    const { page, close } = await openAs(project, "", { person: "editor" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("dialog").getByRole("textbox").fill("create a templ");
    await page.locator("[data-action][data-selected]", { hasText: "Create a template" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Blank, as code/ }).waitFor();
    await close();
  });

  pageTest(
    "that is blank has a kind, says that it has no sender, and takes typed HTML",
    async () => {
      const opened = await openAs(project, "/templates/new", { person: "editor" });
      const { page, problems } = opened;
      await page.getByRole("radio", { name: "Marketing" }).check();
      await page.getByRole("button", { name: /^Blank, as code/ }).click();
      await page.getByRole("textbox", { name: CODE }).click();
      const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      expect([await read(id, "type"), await read(id, "subject")]).toEqual(["MARKETING", "Hello"]);

      const html = '<h1 class="a">Hello you</h1>\n<p>One <b>two</b></p>';
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type(html, { delay: 20 });
      await page.keyboard.press("ControlOrMeta+s");
      await expectSoon(() => read(id, "body"), html);
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type('<a target="');
      await page.keyboard.press("Enter");
      await page.keyboard.press("ControlOrMeta+s");
      await expectSoon(() => read(id, "body"), '<a target="\n  "');

      await page.getByText("No sender yet").waitFor();
      const forProject = page.getByRole("link", { name: "set one for the project" });
      expect(await forProject.getAttribute("href")).toEndWith("/settings/general");
      await page.getByRole("button", { name: "Send me this" }).click();
      await page.getByRole("alert").getByText("No sender yet: name one in the settings").waitFor();
      await page.getByRole("link", { name: "name one here" }).click();
      await page.getByLabel("Sender", { exact: true }).fill(SENDER);
      await page.getByRole("link", { name: "Edit", exact: true }).click();
      await page.getByRole("link", { name: SENDER }).waitFor();
      expect(problems.filter((text) => !text.includes("status of 422"))).toEqual([]);
      await opened.close();
    },
  );

  pageTest("is written by keyboard alone", async () => {
    const id = await createTemplate({ body: "<p>x</p>" });
    const opened = await openAs(project, `/templates/${id}`, { person: "editor" });
    const { page, problems } = opened;
    const code = page.getByRole("textbox", { name: CODE });
    await code.waitFor();
    await page.getByLabel("Preheader").focus();
    // Past the three buttons that insert something.
    for (let i = 0; i < 4; i++) await page.keyboard.press("Tab");
    await expectSoon(() => page.locator(":focus").getAttribute("aria-label"), CODE);
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("Hello {{ pl");
    await page.getByRole("option", { name: "plan" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("ControlOrMeta+s");
    await saved(page);
    expect(await read(id, "body")).toBe("Hello {{ plan }}");
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").getAttribute("aria-label")).toBe(CODE);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").getAttribute("aria-label")).not.toBe(CODE);
    expect(problems).toEqual([]);
    await opened.close();
  });
});

describe("a layout", () => {
  pageTest("is created, chosen by a template, and refused without its content", async () => {
    const id = await createTemplate();
    const opened = await openAs(project, "/templates/layouts", { person: "editor" });
    const { page, problems } = opened;
    await page.getByRole("button", { name: "Create a layout" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Letter");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Letter" }).waitFor();
    await preview(page).getByRole("heading", { name: "Your order 1001" }).waitFor();
    const code = page.getByRole("textbox", { name: "Body of the layout, HTML with Liquid" });
    await code.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText("<h1>Acme</h1>");
    await saveState(page)
      .getByText(/^Not saved: Body/)
      .waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText("<h1>Acme</h1>{{ content }}<p>Harbour Street</p>");
    await saved(page);
    await goTo(page, `/p/${project.project}/templates/${id}`);
    await page.getByRole("combobox", { name: "Layout" }).click();
    await page.getByRole("option", { name: "Letter" }).click();
    await preview(page).getByText("Harbour Street").waitFor();
    await saved(page);
    expect(await read(id, "layoutId")).toBeString();
    expect(problems.filter((text) => !text.includes("status of 422"))).toEqual([]);
    await opened.close();
  });
});
