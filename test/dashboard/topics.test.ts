/** Topics in the dashboard: made on their page, chosen for a contact and for a campaign. */

import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { beforePages, pageTest } from "../support/page-test.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const create = async (path: string, body: unknown, idPath: string) =>
  stringAt(await server.call("POST", path, body), idPath);

const press = (page: Page, name: string) => page.getByRole("button", { name }).first().click();

pageTest("a topic is made, changed, refused while it is used, and deleted", async () => {
  const { page, problems, close } = await openAs(server, "/topics", { person: "editor" });
  try {
    await page.getByText("No topics yet").waitFor();
    await press(page, "Create a topic");
    const dialog = page.getByRole("dialog", { name: "Create a topic" });
    await dialog.getByLabel("Name").fill("Product news");
    await dialog.getByRole("radio", { name: /All subscribed contacts/ }).check();
    await dialog.getByRole("button", { name: "Create the topic" }).click();
    const row = page.locator("[data-row]").filter({ hasText: "Product news" });
    await row.getByText("All contacts, until they leave").waitFor();

    await row.getByRole("button", { name: "Edit Product news" }).click();
    const edit = page.getByRole("dialog", { name: "Edit the topic" });
    await edit.getByRole("radio", { name: /Only contacts who join it/ }).check();
    await edit.getByRole("button", { name: "Save" }).click();
    await row.getByText("Only contacts who join").waitFor();

    const topicId = stringAt(await server.call("GET", "/topics"), "data.items.0.id");
    const template = { name: "Letter", subject: "s", body: "b", type: "MARKETING", topicId };
    const templateId = await create("/templates", template, "data.id");
    await row.getByRole("button", { name: "Delete Product news" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete the topic" }).click();
    await page.getByText('This topic is used by template "Letter".').waitFor();
    await server.call("PATCH", `/templates/${templateId}`, { topicId: null });
    await page.getByRole("dialog").getByRole("button", { name: "Delete the topic" }).click();
    await page.getByText("No topics yet").waitFor();
    expect(problems.filter((problem) => !problem.includes("409"))).toEqual([]);
  } finally {
    await close();
  }
});

pageTest("a contact joins and leaves topics on its page, and pauses", async () => {
  const topicId = await create("/topics", { name: "Offers" }, "data.id");
  const id = await create("/contacts", { email: "ada@example.com" }, "id");
  const { page, problems, close } = await openAs(server, `/contacts/${id}`, { person: "editor" });
  try {
    const chosen = async () => {
      const topics = listAt(await server.call("GET", `/contacts/${id}/topics`), "data.topics");
      return topics.map(Object).find((each) => each.topicId === topicId)?.subscribed;
    };
    const offers = page.getByRole("switch", { name: "Offers" });
    await offers.click({ force: true });
    await expectSoon(chosen, true);
    await page.getByText("Joined a topic").waitFor();
    await press(page, "Pause marketing mail");
    await page.getByRole("menuitem", { name: "For a week" }).click();
    await page.getByText("Paused: gets no marketing mail until").waitFor();
    await press(page, "End the pause");
    await page.getByRole("button", { name: "Pause marketing mail" }).waitFor();
    expect(problems).toEqual([]);
  } finally {
    await close();
  }
});

pageTest("a campaign of a topic counts only the contacts in it", async () => {
  const topic = { name: "Tips", default: "SUBSCRIBED" };
  const topicId = await create("/topics", topic, "data.id");
  const ids = await Promise.all(
    ["in@x.io", "left@x.io"].map((email) => create("/contacts", { email }, "id")),
  );
  const topics = [{ topicId, subscribed: false }];
  await server.call("PUT", `/contacts/${ids[1]}/topics`, { topics });
  const draft = { name: "Spring", audienceType: "ALL" };
  const id = await create("/campaigns/drafts", draft, "data.id");
  const { page, problems, close } = await openAs(server, `/campaigns/${id}`, { person: "editor" });
  try {
    await page.getByRole("combobox", { name: "Topic" }).click();
    await page.getByRole("option", { name: "Tips" }).click();
    const funnel = page.getByRole("group", { name: "Who would get it now" });
    await funnel.getByText("Not in the topic").waitFor();
    await expectSoon(
      async () => valueAt(await server.call("GET", `/campaigns/${id}`), "data.topicId"),
      topicId,
    );
    expect(problems).toEqual([]);
  } finally {
    await close();
  }
});
