/** The pages of segments: the list with its counts, and one segment with its condition, uses and members. */

import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { stringAt, valueAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
let pro = "";

const ATTACK = "<img src=x onerror=alert(1)>";

beforePages(async () => {
  server = await newProjectWithPeople();
  for (const [email, plan] of [
    ["ada@example.com", "pro"],
    ["grace@example.com", "pro"],
    ["bob@example.com", "free"],
  ]) {
    await server.call("POST", "/contacts", { email, data: { plan, name: ATTACK } });
  }
  const plan = { field: "data.plan", operator: "equals", value: "pro" };
  pro = await create({ name: "Pro", condition: { logic: "AND", groups: [{ filters: [plan] }] } });
  const condition = {
    logic: "OR",
    groups: [
      {
        filters: [
          { field: `segment.${pro}`, operator: "memberOf" },
          { ...plan, value: ATTACK },
        ],
      },
      {
        filters: [{ field: "email.opened", operator: "triggeredWithin", value: 30, unit: "days" }],
      },
    ],
  };
  await create({ name: `Outer ${ATTACK}`, condition, description: "الوصف ".repeat(100) });
  await create({ name: "List", type: "STATIC" });
});

const create = async (body: object) =>
  stringAt(await server.call("POST", "/segments", body), "data.id");
const rows = (page: Page) => page.locator("[data-row]");
const card = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

describe("the pages of segments", () => {
  pageTest("the list leads to a segment, its condition, its uses and its members", async () => {
    const { page, problems, close } = await openAs(server, "/segments");
    const row = rows(page).filter({ hasText: "Pro" }).last();
    await row.waitFor();
    await expectSoon(
      () => row.locator("td").allTextContents(),
      ["Pro", "–", "Condition", "2", "just now", "just now"],
    );
    await row.getByRole("link", { name: "Pro" }).click();
    await card(page, "Who is in it").getByText("plan is pro").waitFor();
    await card(page, "Where it is used").getByRole("link", { name: "Outer" }).click();
    const definition = card(page, "Who is in it");
    await definition.getByText("Contact is in the segment Pro").waitFor();
    await expectSoon(
      () => definition.getByRole("listitem").allInnerTexts(),
      [
        expect.stringContaining("All of these are true:"),
        "Contact is in the segment Pro",
        `plan is ${ATTACK}`,
        "A mail was opened in the last 30 days",
      ],
    );
    await page.goBack();
    await page.getByRole("link", { name: "2 members" }).click();
    await rows(page).nth(1).waitFor();
    expect(new URL(page.url()).search).toBe("?tab=members");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\r\n");
    expect(lines.map((line) => line.split(",")[0])).toEqual([
      "\uFEFFemail",
      "ada@example.com",
      "grace@example.com",
    ]);
    await rows(page).getByRole("link", { name: "ada@example.com" }).click();
    await card(page, "Segments").getByRole("link", { name: "Pro", exact: true }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("an editor deletes an unused segment only, and a viewer none", async () => {
    await create({ name: "Unused", type: "STATIC" });
    const editor = await openAs(server, "/segments", { person: "editor" });
    const { page } = editor;
    const question = page.getByRole("dialog", { name: "Delete this segment?" });
    await rows(page).getByRole("link", { name: "Unused" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await question.getByRole("button", { name: "Delete the segment" }).click();
    await rows(page).nth(2).waitFor();
    await expectSoon(() => rows(page).count(), 3);
    await rows(page).getByRole("link", { name: "Pro", exact: true }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await question.getByRole("button", { name: "Delete the segment" }).click();
    await question.getByText("This segment is used by").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Send a campaign to these" }).click();
    await page.getByText("Campaign to Pro").first().waitFor();
    const campaigns = await server.call("GET", "/campaigns");
    expect(valueAt(campaigns, "data.items.0")).toMatchObject({
      status: "DRAFT",
      name: "Campaign to Pro",
      audienceType: "SEGMENT",
      segmentId: pro,
    });
    await editor.close();

    const viewer = await openAs(server, "/segments", { person: "viewer" });
    await rows(viewer.page).getByRole("link", { name: "Outer" }).click();
    await card(viewer.page, "Where it is used")
      .getByText("No workflow, no other segment")
      .waitFor();
    for (const name of ["Delete", "Send a campaign"]) {
      expect(await viewer.page.getByRole("button", { name }).count()).toBe(0);
    }
    await viewer.close();
  });

  pageTest("a segment and its edited condition are tested with the recorded events", async () => {
    const active = { field: "event.signed.up", operator: "triggered" };
    const condition = { logic: "AND", groups: [{ filters: [active] }] };
    const id = await create({ name: "Signed up", condition });
    await server.call("POST", "/v1/track", { event: "signed.up", email: "zoe@example.com" });
    const editor = await openAs(server, `/segments/${id}`, { person: "editor" });
    const { page, problems } = editor;
    await page.getByRole("link", { name: "Backtest" }).click();
    await page.getByRole("heading", { name: "No backtest yet" }).waitFor();
    await page.getByRole("button", { name: "Run the backtest" }).click();
    await page.getByText("there was 1 entry and 0 exits: 0 members before, 1 now.").waitFor();
    const examples = page.getByRole("row").filter({ hasText: "zoe@example.com" });
    await examples.getByText("signed.up").waitFor();
    await page.getByText("Contacts that have been deleted are not counted.").waitFor();
    await page.getByText("Show as table").click();
    const table = page.getByRole("region", {
      name: "Members, entries and exits by day (UTC), as a table",
    });
    await expectSoon(() => table.getByRole("row").count(), 31);

    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByRole("button", { name: "Who was in it before" }).click();
    const dialog = page.getByRole("dialog", { name: "Backtest" });
    await dialog.getByText("0 members before, 1 now.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Operator of Condition 1" }).click();
    await page.getByRole("option", { name: "never", exact: true }).click();
    await page.getByRole("button", { name: "Who was in it before" }).click();
    await dialog.getByText("The condition has been changed since this backtest.").waitFor();
    await dialog.getByText("Your unsaved changes are tried.").waitFor();
    await dialog.getByRole("button", { name: "Run the backtest" }).click();
    await dialog.getByText("members before, 3 now.").waitFor();
    expect(problems).toEqual([]);
    await editor.close();

    const viewer = await openAs(server, `/segments/${id}?tab=backtest`, { person: "viewer" });
    await viewer.page.getByText("members before, 3 now.").waitFor();
    expect(await viewer.page.getByRole("button", { name: "Run the backtest" }).count()).toBe(0);
    await viewer.close();
  });
});
