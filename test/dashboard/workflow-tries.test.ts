/** A workflow is simulated with a clock that is moved, and tested with the recorded events. */

import { describe, expect } from "bun:test";
import { stringAt } from "../support/json.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
let id: string;

beforePages(async () => {
  server = await newProjectWithPeople();
  const created = await server.call("POST", "/templates", {
    name: "Hello",
    subject: "Hello {{ firstName }}",
    body: "<p>Welcome to us.</p>",
    type: "TRANSACTIONAL",
    from: "hello@acme.example",
  });
  const config = { templateId: stringAt(created, "data.id") };
  const workflow = await server.call("POST", "/workflows", {
    name: "Welcome",
    trigger: { type: "EVENT", eventName: "signed.up" },
    steps: [
      { id: "hello", name: "Say hello", type: "SEND_EMAIL", config },
      {
        id: "order",
        name: "Wait for an order",
        type: "WAIT_FOR_EVENT",
        config: { eventName: "ordered", timeout: 172_800 },
      },
      { id: "late", name: "Remind", type: "SEND_EMAIL", config },
    ],
    transitions: [
      { from: "hello", to: "order" },
      { from: "order", to: "late", branch: "timeout" },
    ],
  });
  id = stringAt(workflow, "data.id");
  await server.call("POST", "/v1/track", { event: "signed.up", email: "zoe@acme.example" });
});

describe("a workflow that is tried", () => {
  pageTest("is simulated step by step, with an event of the contact", async () => {
    const { page, problems, close } = await openAs(server, `/workflows/${id}?tab=simulate`, {
      person: "editor",
    });
    const clock = page.getByRole("region", { name: "Clock of the simulation" });
    await clock.getByText("Waits for “ordered”").waitFor();
    await page.getByRole("button", { name: "Show the mail “Hello Ada”" }).click();
    const dialog = page.getByRole("dialog", { name: "Hello Ada" });
    await dialog.frameLocator("iframe").getByText("Welcome to us.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });

    await clock.getByRole("button", { name: "+ 1 day" }).click();
    await clock.getByText("1 d after the start").waitFor();
    await clock.getByRole("button", { name: "To the end" }).click();
    await page.locator("[data-simulated=late]").waitFor();
    await clock.getByText("Completed").waitFor();

    await clock.getByRole("button", { name: "Start over" }).click();
    await page.locator("[data-simulated=late]").waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Event" }).fill("ordered");
    await page.getByRole("button", { name: "Add the event" }).click();
    await page.locator("[data-simulated=order]").waitFor();
    await clock.getByText("The workflow has ended.").waitFor();

    await page.getByRole("textbox", { name: "Data of the sample" }).fill("{");
    await page.getByText("Must be a JSON object").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("is tested with the recorded events; an example shows its path", async () => {
    const { page, problems, close } = await openAs(server, `/workflows/${id}?tab=backtest`, {
      person: "editor",
    });
    await page.getByRole("heading", { name: "No backtest yet" }).waitFor();
    await page.getByRole("button", { name: "Run the backtest" }).click();
    await page.getByText("1 execution would have started, and 1 mail would").waitFor();
    await page.getByRole("button", { name: "Show the path of zoe@acme.example" }).click();
    await page.locator(".step-box").filter({ hasText: "Wait for an order" }).waitFor();
    await page.getByText("Contacts that have been deleted are not counted.").waitFor();

    const outdated = page.getByText("The workflow has been changed since this backtest.");
    expect(await outdated.count()).toBe(0);
    await page.getByRole("link", { name: "Settings" }).last().click();
    await page.getByRole("switch", { name: "A contact may enter again" }).click();
    await page.getByRole("link", { name: "Backtest" }).click();
    await outdated.waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("a viewer reads the backtest, and is offered no simulation", async () => {
    const { page, problems, close } = await openAs(server, `/workflows/${id}?tab=backtest`, {
      person: "viewer",
    });
    await page.getByText("1 execution would have started").waitFor();
    expect(await page.getByRole("button", { name: "Run the backtest" }).count()).toBe(0);
    await page.getByRole("link", { name: "Simulate" }).click();
    await page.getByText("This page is for editors and admins").waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});
