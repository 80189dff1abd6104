/** The page of one contact: its parts, the subscription with undo, the editor of its data, and deletion. */

import { describe, expect } from "bun:test";
import type { Page, Route } from "playwright-core";
import { stringAt, valueAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { send } from "./email-server.ts";
import { openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
/** Id of a contact. */
let ada = "";

const ATTACK = "<img src=x onerror=alert(1)>";
const DATA = { name: "Ada", orders: 3, isVip: true, tags: ["early", "blue"] };

async function addContact(email: string, data: object): Promise<string> {
  return stringAt(await server.call("POST", "/contacts", { email, data }), "id");
}

/** Starts a workflow that waits for three days, and returns its id. */
async function startDelay(contactId: string): Promise<string> {
  const workflow = stringAt(
    await server.call("POST", "/workflows", {
      name: "Later",
      enabled: true,
      trigger: { type: "EVENT", eventName: "signed-up" },
      steps: [{ id: "wait", type: "DELAY", config: { amount: 3, unit: "days" } }],
      transitions: [],
    }),
    "data.id",
  );
  await server.call("POST", `/workflows/${workflow}/executions`, { contactId });
  return workflow;
}

beforePages(async () => {
  server = await newProjectWithPeople();
  ada = await addContact("ada@example.com", DATA);
  await addContact("hostile@example.com", {
    [ATTACK]: ATTACK,
    name: "A very long name ".repeat(600),
    الاسم: "ليلى بنت محمد",
    emoji: "👩‍👩‍👧‍👦🎉",
    word: "x".repeat(10_000),
    nested: { list: [1, { deep: ATTACK }] },
  });
  const condition = {
    logic: "AND",
    groups: [{ filters: [{ field: "data.orders", operator: "greaterThan", value: 1 }] }],
  };
  await server.call("POST", "/segments", { name: "Buyers", condition });
  await server.call("PATCH", `/contacts/${ada}`, { subscribed: false });
  await server.call("POST", "/suppressions", { email: "ada@example.com" });
  await send(server, [{ to: "ada@example.com", subject: "Your order", body: "<p>Thanks.</p>" }]);
});

const card = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const stored = async (id: string) => server.call("GET", `/contacts/${id}`);

describe("the page of a contact", () => {
  pageTest("shows a viewer any data as text, and what happened by day", async () => {
    const { page, problems, overflowPx, close } = await openAs(server, "/contacts", {
      person: "viewer",
    });
    const open = async (address: string) => {
      await page.getByRole("link", { name: address }).click();
      await page.getByRole("heading", { level: 1, name: address }).waitFor();
    };
    await open("hostile@example.com");
    await card(page, "Data").getByText(ATTACK).first().waitFor();
    await page.getByRole("button", { name: "Show all of it" }).first().click();
    expect(await overflowPx()).toBe(0);

    await page.goBack();
    await open("ada@example.com");
    const timeline = card(page, "Timeline");
    await timeline.getByText("Mail not sent: the address is suppressed").waitFor();
    await timeline.getByRole("heading", { name: "Today" }).waitFor();
    const titles = await timeline.locator("li strong").allTextContents();
    expect(new Set(titles)).toEqual(
      new Set([
        "Mail not sent: the address is suppressed",
        "Mail queued",
        "Unsubscribed",
        "Subscribed",
      ]),
    );
    const history = page.getByRole("list", { name: "History of the subscription" });
    await expectSoon(
      () => history.locator("li > span:first-child").allTextContents(),
      ["Unsubscribed ", "Subscribed "],
    );
    await card(page, "Workflows").getByText("The contact was in no workflow.").waitFor();
    await card(page, "Segments").getByText("Buyers").waitFor();
    const changes = /^(Subscribe|Edit|Delete)/;
    expect(await page.getByRole("button", { name: changes }).count()).toBe(0);
    await page.getByRole("link", { name: "Open the suppression" }).click();
    await page.getByText("added this address").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("only a contact that was subscribed is called unsubscribed", async () => {
    await server.call("POST", "/contacts", { email: "never@example.com", subscribed: false });
    const { page, problems, close } = await openAs(server, `/contacts/${ada}`);
    const delivery = page.getByRole("region", { name: "Whether mail arrives" });
    await delivery.getByText("This server captures mail: none leaves for this contact.").waitFor();
    const state = (text: string) => page.locator("header .status", { hasText: text }).waitFor();
    await state("Unsubscribed");
    await page.getByRole("link", { name: "Contacts", exact: true }).first().click();
    const row = page.locator("[data-row]", { hasText: "never@example.com" });
    await row.getByText("Not subscribed").waitFor();
    await page.getByRole("link", { name: "never@example.com" }).click();
    await state("Not subscribed");
    await page.getByText("The contact is not subscribed, so it gets").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "an editor subscribes, edits the data, undoes both, and deletes another contact",
    async () => {
      const { page, problems, close } = await openAs(server, `/contacts/${ada}`, {
        person: "editor",
      });
      await page.getByRole("button", { name: "Subscribe", exact: true }).click();
      await page.getByText("ada@example.com is subscribed.").waitFor();
      expect(valueAt(await stored(ada), "subscribed")).toBe(true);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("button", { name: "Subscribe", exact: true }).waitFor();
      expect(valueAt(await stored(ada), "subscribed")).toBe(false);

      await card(page, "Data").getByRole("button", { name: "Edit" }).click();
      await page.getByLabel("Value of orders").fill("four");
      await page.getByRole("button", { name: "Remove tags" }).click();
      await page.getByRole("button", { name: "Add a field" }).click();
      await page.getByRole("combobox", { name: "Name of the field" }).fill("city");
      await page.getByLabel("Value of city").fill("Bath");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Write a number, such as 12.5.").waitFor();
      await page.locator("[aria-invalid=true]:focus").fill("4");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The data was saved.").waitFor();
      const edited = { name: "Ada", orders: 4, isVip: true, city: "Bath" };
      expect(valueAt(await stored(ada), "data")).toEqual(edited);
      await page.getByRole("button", { name: "Undo" }).click();
      await card(page, "Data").getByText("early").waitFor();
      expect(valueAt(await stored(ada), "data")).toEqual(DATA);

      await addContact("leaving@example.com", {});
      await page.getByRole("link", { name: "Contacts", exact: true }).first().click();
      await page.getByRole("link", { name: "leaving@example.com" }).click();
      await page.getByRole("button", { name: "Delete" }).click();
      const question = page.getByRole("dialog", { name: "Delete this contact?" });
      await question.getByText("leaving@example.com").waitFor();
      await question.getByRole("button", { name: "Delete the contact" }).click();
      await page.getByText("3 contacts").waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest("shows live that an execution ended, also while the list was being read", async () => {
    const contactId = await addContact("waiting@example.com", {});
    const first = await startDelay(contactId);
    const second = await startDelay(contactId);
    const read = Promise.withResolvers<void>();
    const connected = Promise.withResolvers<unknown>();
    const released = Promise.withResolvers<void>();
    const { page, problems, close } = await openAs(server, `/contacts/${contactId}`, {
      isLive: true,
      // The first answer is made while the execution waits, and arrives after the message.
      prepare: async (opened) => {
        opened.waitForResponse("**/app/api/live*").then(connected.resolve, connected.reject);
        const holdAnswer = async (route: Route) => {
          const response = await route.fetch();
          read.resolve();
          await released.promise;
          await route.fulfill({ response });
        };
        await opened.route("**/executions?*", holdAnswer, { times: 1 });
      },
    });
    await Promise.all([read.promise, connected.promise]);
    await server.call("POST", `/workflows/${first}/executions/cancel`, {});
    // The message of this mail arrives after that of the execution, and makes the page ask.
    const asked = page.waitForRequest("**/activity?limit=1");
    await send(server, [{ to: "hostile@example.com", subject: "Hello", body: "<p>Hi</p>" }]);
    await asked;
    released.resolve();
    const workflows = card(page, "Workflows");
    await workflows.getByText("Cancelled by hand.").waitFor();

    // The contact has no event when an execution ends.
    await server.call("POST", `/workflows/${second}/executions/cancel`, {});
    await expectSoon(() => workflows.getByText("Cancelled by hand.").count(), 2);
    expect(problems).toEqual([]);
    await close();
  });
});
