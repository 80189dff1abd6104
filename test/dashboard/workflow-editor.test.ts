/** The editor of workflows: the example of docs/workflows.md made by mouse, and by keyboard alone. */

import { describe, expect } from "bun:test";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expectSoon } from "../support/eventually.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { isRecord } from "../../src/http/validation.ts";
import { keyboardOf } from "../support/keyboard.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let server: PeopledProject;
let template: string;

beforePages(async () => {
  server = await newProjectWithPeople();
  const body = {
    name: "Hello",
    subject: "Hello",
    body: "<p>Hello</p>",
    type: "TRANSACTIONAL",
    from: "hello@acme.example",
  };
  template = stringAt(await server.call("POST", "/templates", body), "data.id");
});

const dialog = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name });

/** The body of the request in docs/workflows.md, with the id of the template. */
async function documentedBody(): Promise<object> {
  const text = await Bun.file(join(import.meta.dir, "../../docs/workflows.md")).text();
  const [, body = ""] = /-d '(\{[^]*?\})'\n```/.exec(text) ?? [];
  const given: unknown = JSON.parse(body.replaceAll(`'"$TEMPLATE_ID"'`, template));
  if (!isRecord(given)) throw new Error("the example of the documentation is no object");
  return given;
}

/** The graph as the interface stores it; the order of transitions means nothing. */
async function storedGraph(id: string): Promise<object> {
  const stored = await server.call("GET", `/workflows/${id}`);
  const list = (path: string): unknown[] => {
    const found = valueAt(stored, path);
    return Array.isArray(found) ? found : [];
  };
  return {
    trigger: valueAt(stored, "data.trigger"),
    steps: list("data.steps"),
    transitions: list("data.transitions").toSorted((a, b) =>
      stringAt(a, "id").localeCompare(stringAt(b, "id")),
    ),
  };
}

/** The workflow of the page has the same graph as the example of the documentation. */
async function expectExample(page: Page): Promise<void> {
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const documented = await server.call("POST", "/workflows", await documentedBody());
  const example = stringAt(documented, "data.id");
  expect(await storedGraph(id)).toEqual(await storedGraph(example));
  await server.call("DELETE", `/workflows/${example}`);
}

/** Adds a step by the dialog that a button of the graph opens, and gives it an id. */
async function add(page: Page, after: string, kind: string, id: string): Promise<Locator> {
  await page
    .getByRole("region", { name: "Graph of the workflow" })
    .getByRole("button", { name: `Add a step after ${after}`, exact: true })
    .last()
    .click();
  await dialog(page, /^Add a step after/)
    .getByRole("button", { name: new RegExp(`^${kind} [A-Z]`) })
    .click();
  const panel = dialog(page, "Step");
  await panel.getByText("Advanced").click();
  const field = panel.getByRole("textbox", { name: "Id" });
  await field.fill(id);
  await field.press("Enter");
  await page.locator(`.step-box[data-step="${id}"]`).waitFor();
  return panel;
}

async function choose(page: Page, panel: Locator, name: string, option: string): Promise<void> {
  await panel.getByRole("combobox", { name }).click();
  await page.getByRole("option", { name: option }).click();
}

describe("the editor of workflows", () => {
  pageTest("makes the example of the documentation by mouse", async () => {
    const opened = await openAs(server, "/workflows", { person: "editor" });
    const { page, problems, close } = opened;
    await page.getByRole("link", { name: "Create a workflow" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Welcome");
    await page.getByRole("combobox", { name: "Event" }).fill("signed-up");
    await page.getByRole("button", { name: "Create the workflow" }).click();

    let panel = await add(page, "Trigger", "Send email", "hello");
    // A mail without a template is refused, and the problem leads to its step.
    await page.getByRole("button", { name: "Save changes" }).click();
    const problem = page.getByRole("button", { name: /Send email: the template/ });
    await expectSoon(() => page.locator(":focus").innerText(), await problem.innerText());
    await page.locator(".step-box[data-faulty]").waitFor();
    expect(await opened.findings()).toEqual([]);
    await problem.click();
    await choose(page, panel, "Template", "Hello");
    await expectSoon(() => problem.count(), 0);

    panel = await add(page, "Send email", "Wait for event", "opened");
    await panel.getByRole("combobox", { name: "Event" }).fill("email.opened");
    panel = await add(page, "Wait for event, at “In time”", "End", "done");
    await panel.getByRole("textbox", { name: "Reason" }).fill("opened");
    panel = await add(page, "Wait for event, at “Not in time”", "Send email", "again");
    await choose(page, panel, "Template", "Hello");
    // Both mails are called by their kind; the open end is that of the second.
    panel = await add(page, "Send email", "Call a URL", "crm");
    await panel.getByRole("textbox", { name: "URL" }).fill("https://crm.example/leads");
    panel = await add(page, "Call a URL", "Update contact", "mark");
    await panel.getByRole("button", { name: "Set a field" }).click();
    await panel.getByRole("combobox", { name: "Name of the field" }).fill("lead");
    await choose(page, panel, "Type of lead", "Yes or no");
    await panel.getByText("Yes", { exact: true }).click();

    // An undone edit comes back.
    await page.getByRole("button", { name: "Undo the edit" }).click();
    await page.getByRole("button", { name: "Redo the edit" }).click();
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText(/^Saved /).waitFor();
    await expectExample(page);

    // The contact does not open the first mail in the simulation, so that the second one follows.
    await page.getByRole("link", { name: "Simulate" }).click();
    const clock = page.getByRole("region", { name: "Clock of the simulation" });
    await clock.getByText("Waits for “email.opened”").waitFor();
    await clock.getByRole("button", { name: "To the end" }).click();
    await page.locator("[data-simulated=again]").waitFor();
    await page.locator("[data-simulated=mark]").waitFor();
    await page.getByRole("link", { name: "Graph" }).click();

    await page.getByRole("button", { name: "Enable" }).click();
    const question = dialog(page, "Enable Welcome?");
    await question.getByText("0 contacts").waitFor();
    await question.getByRole("button", { name: "Enable the workflow" }).click();
    await page.getByRole("button", { name: "Disable" }).waitFor();
    await server.call("POST", "/v1/track", { event: "signed-up", email: "ada@acme.example" });
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await expectSoon(async () => {
      const found = await server.call("GET", `/workflows/${id}/executions`);
      return [valueAt(found, "data.items.0.status"), valueAt(found, "data.items.0.currentStepId")];
    }, ["WAITING", "opened"]);
    expect(problems.filter((text) => !text.includes("status of 422"))).toEqual([]);
    await close();
  });

  pageTest("makes the same by keyboard alone, in the list of steps", async () => {
    const { page, problems, close } = await openAs(server, "/workflows/new", { person: "editor" });
    const keys = await keyboardOf(page);
    /** Adds a step from the list, and leaves the focus in its panel. */
    async function addByKeys(after: string, kind: string): Promise<void> {
      await keys.tabTo(`button Add a step after ${after}`);
      await keys.press("Enter");
      await dialog(page, /^Add a step after/).waitFor();
      await keys.tabTo(`button ${kind}`);
      await keys.press("Enter");
      await dialog(page, "Step")
        .getByText("What follows")
        .or(dialog(page, "Step").getByText("Reason"))
        .first()
        .waitFor();
    }
    async function chooseByKeys(name: string, option: string): Promise<void> {
      await keys.tabTo(`combobox ${name}`);
      await keys.type(option);
      await keys.choose(option);
    }
    async function nameAndLeave(id: string): Promise<void> {
      await keys.tabTo("DisclosureTriangle Advanced");
      await keys.press("Enter");
      await keys.tabTo("textbox Id");
      await keys.press("Control+a");
      await keys.type(id);
      await keys.press("Enter", "Escape");
      await dialog(page, "Step").waitFor({ state: "detached" });
      // The focus is on the new step, such as "button 2. Send email".
      await expectSoon(async () => /^button \d+\. /.test(await keys.focused()), true);
    }

    await page.getByRole("textbox", { name: "Name" }).waitFor();
    await keys.type("Welcome by keyboard");
    await keys.tabTo("combobox Event");
    await keys.type("signed-up");
    await keys.tabTo("button Create the workflow");
    await keys.press("Enter");
    await page.getByRole("region", { name: "Graph of the workflow" }).waitFor();
    await keys.tabTo("link Steps as a list");
    await keys.press("Enter");

    await addByKeys("Trigger", "Send email");
    await chooseByKeys("Template", "Hello");
    await nameAndLeave("hello");
    await addByKeys("Send email", "Wait for event");
    await keys.tabTo("combobox Event");
    await keys.type("email.opened");
    await nameAndLeave("opened");
    await addByKeys("Wait for event, at “In time”", "End");
    await keys.tabTo("textbox Reason");
    await keys.type("opened");
    await nameAndLeave("done");
    await addByKeys("Wait for event, at “Not in time”", "Send email");
    await chooseByKeys("Template", "Hello");
    await nameAndLeave("again");
    // The end after the second mail comes after that of the first.
    await keys.tabTo("button 5. Send email");
    await addByKeys("Send email", "Call a URL");
    await keys.tabTo("textbox URL");
    await keys.type("https://crm.example/leads");
    await nameAndLeave("crm");
    await addByKeys("Call a URL", "Update contact");
    await keys.tabTo("button Set a field");
    await keys.press("Enter");
    await keys.tabTo("combobox Name of the field");
    await keys.type("lead");
    await keys.tabTo("combobox Type of lead");
    await keys.press("ArrowDown", "ArrowDown", "ArrowDown", "Enter");
    await keys.tabTo("radio No");
    await keys.press("ArrowLeft");
    await nameAndLeave("mark");
    await keys.press("Control+s");
    await page.getByText(/^Saved /).waitFor();
    await expectExample(page);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "two people save; leaving asks and keeps the edits; all contacts enter; copy, deletion, series",
    async () => {
      const made = await server.call("POST", "/workflows", {
        name: "Pause",
        enabled: true,
        trigger: { type: "MANUAL" },
        steps: [{ id: "pause", type: "DELAY", name: "Pause", config: { amount: 1, unit: "days" } }],
      });
      const path = `/workflows/${stringAt(made, "data.id")}`;
      const { page, problems, close } = await openAs(server, path, { person: "editor" });
      const amount = dialog(page, "Step").getByRole("textbox", { name: "Wait for" });
      await page.locator(".step-box", { hasText: "Pause" }).click();
      await amount.fill("2");
      await server.call("PATCH", path, {
        steps: [{ id: "pause", type: "DELAY", config: { amount: 3, unit: "days" } }],
      });
      await page.getByRole("button", { name: "Save changes" }).click();
      const conflict = dialog(page, "Somebody else changed this workflow");
      await conflict.getByText("Theirs").first().waitFor();
      await conflict.getByRole("button", { name: "Keep all of mine" }).click();
      await page.getByText(/^Saved /).waitFor();
      const delay = async () =>
        valueAt(await server.call("GET", path), "data.steps.1.config.amount");
      expect(await delay()).toBe(2);

      await amount.fill("4");
      await page.getByRole("link", { name: "Emails" }).click();
      await dialog(page, "Leave without saving?")
        .getByRole("button", { name: "Leave without saving" })
        .click();
      await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor();
      await page.goBack();
      await page.getByText(/that were not saved are here again/).waitFor();
      await expectSoon(() => amount.inputValue(), "4");
      await page.getByRole("button", { name: "Discard them" }).click();
      await expectSoon(() => amount.inputValue(), "2");
      expect(await delay()).toBe(2);

      await server.call("POST", "/contacts", { email: "cleo@acme.example" });
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Start by hand" }).click();
      const start = dialog(page, "Start Pause");
      await start.getByRole("radio", { name: "All contacts" }).click();
      await start.getByRole("button", { name: /^Start it for \d+ contacts?$/ }).click();
      await page.getByText(/Contacts (?:are entering|entered)/).waitFor();
      await expectSoon(async () => {
        const runs = await server.call("GET", `${path}/entries`);
        return valueAt(runs, "data.items.0.status");
      }, "COMPLETED");

      const name = page.getByRole("textbox", { name: "Name of the workflow" });
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Duplicate" }).click();
      await expectSoon(() => name.inputValue(), "Pause copy");
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await dialog(page, "Delete this workflow?")
        .getByRole("button", { name: "Delete the workflow" })
        .click();
      await page.getByRole("link", { name: "Create a workflow" }).click();
      await page.getByRole("button", { name: /^Birthday/ }).click();
      await expectSoon(() => name.inputValue(), "Birthday");
      await page.getByText(/If it is enabled: every day at/).waitFor();
      expect(problems.filter((text) => !text.includes("status of 412"))).toEqual([]);
      await close();
    },
  );

  pageTest("shows the whole name of a workflow that has unsaved changes", async () => {
    const created = await server.call("POST", "/workflows", {
      name: "Yearly survey of all readers",
      trigger: { type: "MANUAL" },
      steps: [{ id: "wait", type: "DELAY", config: { amount: 1, unit: "hours" } }],
      transitions: [],
    });
    const path = `/workflows/${stringAt(created, "data.id")}?tab=settings`;
    const { page, close } = await openAs(server, path, { person: "editor" });
    await page.setViewportSize({ width: 1000, height: 800 });
    await page.getByRole("textbox", { name: "Description" }).fill("Once a year");
    await page.getByRole("button", { name: "Save changes" }).waitFor();
    const name = page.getByRole("textbox", { name: "Name of the workflow" });
    expect(await name.evaluate((field) => field.scrollWidth - field.clientWidth)).toBe(0);
    await close();
  });
});
