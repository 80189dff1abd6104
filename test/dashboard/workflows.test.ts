/**
 * The pages of workflows: the list, the graph with its numbers, an execution, and the rights of
 * roles.
 */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { stringAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
  await createWorkflow("welcome", true);
  await createWorkflow("birthday", false);
  await track("signed.up.welcome", "zoe@acme.example");
});

const rows = (page: Page) => page.locator("[data-row]");
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const track = (event: string, email: string, data: object = {}) =>
  server.call("POST", "/v1/track", { event, email, data });

/** A condition with two branches that meet again, a wait and a cycle. */
const GRAPH = {
  trigger: { type: "EVENT", eventName: "signed.up" },
  steps: [
    {
      id: "plan",
      name: "Which plan?",
      type: "CONDITION",
      config: { field: "context.plan", operator: "equals", value: "pro" },
    },
    {
      id: "mark",
      name: "Mark as customer",
      type: "UPDATE_CONTACT",
      config: { updates: { customer: true } },
    },
    {
      id: "order",
      name: "Wait for an order",
      type: "WAIT_FOR_EVENT",
      config: { eventName: "ordered", timeout: 86_400 },
    },
    { id: "pause", name: "Wait a day", type: "DELAY", config: { amount: 1, unit: "days" } },
    { id: "end", name: "Done", type: "EXIT", config: { reason: "became a customer" } },
  ],
  transitions: [
    { from: "trigger", to: "plan" },
    { from: "plan", to: "mark", branch: "yes" },
    { from: "plan", to: "order", branch: "no" },
    { from: "mark", to: "end" },
    { from: "order", to: "end" },
    { from: "order", to: "pause", branch: "timeout" },
    { from: "pause", to: "order" },
  ],
};

async function createWorkflow(name: string, enabled: boolean): Promise<string> {
  const graph = { ...GRAPH, trigger: { type: "EVENT", eventName: `signed.up.${name}` } };
  const created = await server.call("POST", "/workflows", { name, enabled, ...graph });
  return stringAt(created, "data.id");
}

describe("the pages of workflows", () => {
  pageTest(
    "a list with states, filtered; a viewer opens a graph and is offered no change",
    async () => {
      const { page, problems, close } = await openAs(server, "/workflows", { person: "viewer" });
      await page.getByText("Disabled", { exact: true }).first().click();
      await page.getByText("1 workflow", { exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get("enabled")).toBe("false");
      await rows(page).getByRole("link", { name: "birthday" }).waitFor();
      await page.getByRole("link", { name: "Workflows", exact: true }).first().click();
      const row = rows(page).filter({ hasText: "welcome" });
      await row.getByText("Enabled").waitFor();
      await row.getByRole("link", { name: "welcome" }).click();
      await page.getByText("1 active").waitFor();
      expect(await page.getByRole("button", { name: "Disable" }).count()).toBe(0);
      expect(await page.getByRole("button", { name: "Cancel all active" }).count()).toBe(0);
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "the graph follows executions live; one is cancelled; the list of steps is the same",
    async () => {
      const id = await createWorkflow("orders", true);
      const { page, problems, close } = await openAs(server, `/workflows/${id}`, {
        person: "editor",
        isLive: true,
      });
      const box = (name: string) => page.locator(".step-box").filter({ hasText: name });
      await page.getByText("0 active").waitFor();
      await track("signed.up.orders", "ada@acme.example", { plan: "free" });
      await track("signed.up.orders", "bea@acme.example", { plan: "pro" });
      await box("Wait for an order").getByText("1 here now").waitFor({ state: "attached" });
      await box("Mark as customer").getByText("1 completed").waitFor({ state: "attached" });
      await box("Which plan?").click();
      const field = dialog(page, "Step").getByRole("combobox", { name: "Field of Condition 1" });
      await expectSoon(() => field.inputValue(), "“plan” in the data of the event");
      await page.keyboard.press("Escape");
      await dialog(page, "Step").waitFor({ state: "detached" });
      await box("Wait for an order").click();
      await dialog(page, "Step").getByRole("button", { name: "1, show them" }).click();
      await page.getByText("At “Wait for an order”").waitFor();
      await expectSoon(() => rows(page).count(), 1);
      await page.getByRole("button", { name: "Show the executions at all steps" }).click();
      await page.getByText("At “Wait for an order”").waitFor({ state: "detached" });
      await page.goBack();
      await dialog(page, "Step").waitFor();
      await page.keyboard.press("Escape");
      await dialog(page, "Step").waitFor({ state: "detached" });

      await page.getByRole("link", { name: "Executions" }).click();
      await rows(page).filter({ hasText: "bea@acme.example" }).getByText("Left early").waitFor();
      await rows(page).filter({ hasText: "ada@acme.example" }).getByRole("link").click();
      const panel = page.getByRole("region", { name: "Execution", exact: true });
      await panel.getByText("ada@acme.example").waitFor();
      await box("Wait for an order").getByText("Since").waitFor();
      await expectSoon(() => page.locator(".canvas-line[data-taken]").count(), 2);
      await panel.getByRole("button", { name: "Cancel the execution" }).click();
      await dialog(page, "Cancel this execution?")
        .getByRole("button", { name: "Cancel the execution" })
        .click();
      await panel.getByText("Cancelled", { exact: true }).waitFor();
      await panel.getByRole("button", { name: "Show all executions" }).click();
      await page.getByText("1 cancelled").waitFor();

      // The list of steps is the same graph, by keyboard.
      await page.getByRole("link", { name: "Steps as a list" }).press("Enter");
      await page.getByRole("button", { name: "2. Which plan?" }).press("Enter");
      await dialog(page, "Step").getByRole("textbox", { name: "Value of Condition 1" }).waitFor();
      await page.keyboard.press("Escape");
      await dialog(page, "Step").waitFor({ state: "detached" });
      // The branches are nested, and where they meet stands after them.
      const steps = page.locator(".step-open");
      await expectSoon(
        () => steps.allInnerTexts(),
        [
          "1. Trigger",
          "2. Which plan?",
          "3. Mark as customer",
          "4. Wait for an order",
          "5. Wait a day",
          "6. Done",
        ],
      );
      expect(await page.locator("#step-plan .step-list").getByRole("link").allInnerTexts()).toEqual(
        ["6. Done", "6. Done", "4. Wait for an order"],
      );
      await page.getByRole("button", { name: "Disable" }).press("Enter");
      await page.getByText("Executions under way continue.").waitFor();
      await page.getByRole("button", { name: "Undo", exact: true }).press("Enter");
      await page.getByRole("button", { name: "Disable" }).waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );
});
