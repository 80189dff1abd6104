/**
 * Faults that happen while a page is open: the project is disabled, a member loses the role or the
 * project, names are hostile, the clock is wrong, and the time zone changes. `bun scripts/journeys.ts`
 * runs them against the executable.
 */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium, faultsOf, NO_FAULTS } from "../support/browser.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
/** Id of a contact. */
let ada = "";

beforePages(async () => {
  server = await newProjectWithPeople();
  const created = await server.call("POST", "/contacts", { email: "ada@example.com" });
  ada = stringAt(created, "id");
});

const setEnabled = (isEnabled: boolean) =>
  server.call("PATCH", `/projects/${server.project}`, { isEnabled });

/** The id of a member by the address. */
async function memberId(email: string): Promise<string> {
  const team = await server.call("GET", "/team");
  const found = listAt(team, "data.members").find((one) => valueAt(one, "email") === email);
  return stringAt(found, "id");
}

const isRefusal = (problem: string) => problem.includes("status of 403");

describe("while a page is open", () => {
  pageTest(
    "the project is disabled: a banner says so until it is enabled, and the action is refused",
    async () => {
      const path = `/contacts/${ada}`;
      const opened = await openAs(server, path, { person: "editor", isLive: true });
      const { page, problems } = opened;
      await page.getByRole("button", { name: "Unsubscribe", exact: true }).waitFor();
      const banner = page.getByText(
        "This project is disabled: no mail is sent, and nothing can be",
      );
      await setEnabled(false);
      await banner.waitFor();
      await page.getByRole("button", { name: "Unsubscribe", exact: true }).click();
      await page.getByText("The project is disabled, so it cannot be changed.").waitFor();
      await opened.screenshot("fault-disabled");
      expect(await opened.findings()).toEqual([]);
      expect(valueAt(await server.call("GET", `/contacts/${ada}`), "subscribed")).toBe(true);
      await setEnabled(true);
      await banner.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Unsubscribe", exact: true }).click();
      await page.getByText("ada@example.com is unsubscribed.").waitFor();
      expect(problems.filter((problem) => !isRefusal(problem))).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "an editor becomes a viewer: the action is refused, a banner says why, and it is not offered again",
    async () => {
      const opened = await openAs(server, `/contacts/${ada}`, { person: "editor" });
      const { page, problems } = opened;
      const button = page.getByRole("button", { name: "Delete", exact: true });
      await button.waitFor();
      const id = await memberId("eva@acme.example");
      await server.call("PATCH", `/team/${id}`, { role: "VIEWER" });
      await button.click();
      const question = page.getByRole("dialog", { name: "Delete this contact?" });
      await question.getByRole("button", { name: "Delete the contact" }).click();
      await page.getByText("Your role in this project was changed to viewer.").waitFor();
      await button.waitFor({ state: "detached" });
      await opened.screenshot("fault-role");
      expect(await opened.findings()).toEqual([]);
      await page.getByRole("heading", { level: 1, name: "ada@example.com" }).waitFor();
      await server.call("PATCH", `/team/${id}`, { role: "EDITOR" });
      expect(problems.filter((problem) => !isRefusal(problem))).toEqual([]);
      await opened.close();
    },
  );

  pageTest("a member is removed: the page says that the project is no longer theirs", async () => {
    const opened = await openAs(server, "/contacts", { person: "viewer" });
    const { page } = opened;
    await page.getByRole("link", { name: "ada@example.com" }).waitFor();
    await server.call("DELETE", `/team/${await memberId("vera@acme.example")}`);
    await page.getByRole("link", { name: "ada@example.com" }).click();
    await page.getByRole("heading", { name: "You are not a member of this project" }).waitFor();
    await opened.screenshot("fault-removed");
    expect(await opened.findings()).toEqual([]);
    await opened.close();
  });
});

describe("names in any form", () => {
  const NAMES = [
    ["html", '<img src=x onerror="alert(1)"><b>bold</b> {{ 7 | times: 7 }}'],
    ["arabic", `مرحبا ${"بك ".repeat(60)}`],
    ["emoji", "👩‍👩‍👧‍👦".repeat(20)],
    ["one word", "w".repeat(255)],
  ] as const;

  pageTest(
    "of campaigns, templates, workflows and segments fit every list and do nothing",
    async () => {
      const body = "<p>Hi</p>";
      const from = "news@acme.example";
      const steps = [{ id: "end", type: "EXIT", config: {} }];
      for (const [, name] of NAMES) {
        const mail = { subject: name, body, from };
        await server.call("POST", "/campaigns", { name, ...mail, audienceType: "ALL" });
        await server.call("POST", "/templates", { name, ...mail, type: "MARKETING" });
        const trigger = { type: "EVENT", eventName: "x" };
        await server.call("POST", "/workflows", { name, trigger, steps, transitions: [] });
        await server.call("POST", "/segments", { name, type: "STATIC" });
      }
      for (const path of ["campaigns", "templates", "workflows", "segments"]) {
        const opened = await openAs(server, `/${path}`);
        for (const layout of ["light", "phone-dark"] as const) {
          await opened.setLayout(layout);
          for (const [, name] of NAMES) await nameIn(opened.page, name).first().waitFor();
          await opened.screenshot(`names-${path}`);
          expect([path, layout, await faultsOf(opened)]).toEqual([path, layout, NO_FAULTS]);
        }
        await opened.setLayout("light");
        await nameIn(opened.page, NAMES[0][1]).first().click();
        await opened.page.getByRole("heading", { level: 1, name: NAMES[0][1] }).waitFor();
        expect([path, await faultsOf(opened)]).toEqual([path, NO_FAULTS]);
        await opened.close();
      }
    },
  );

  const nameIn = (page: Page, name: string) =>
    page.locator("[data-row]").getByText(name.trim(), { exact: true });
});

describe("times", () => {
  test.skipIf(!hasChromium).each([["Pacific/Kiritimati"], ["America/St_Johns"]])(
    "are those of the zone of the reader, which is named: %s",
    async (zone) => {
      const contact = await server.call("GET", `/contacts/${ada}`);
      const at = new Date(stringAt(contact, "createdAt"));
      const opened = await openAs(server, "/");
      const { page } = opened;
      // The zone is that of the browser again when the session ends.
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setTimezoneOverride", { timezoneId: zone });
      await page.goto(`${server.url}/app/p/${server.project}/contacts/${ada}`);
      const created = page.getByRole("button", { name: "just now" }).first();
      await created.hover();
      const format = { dateStyle: "medium", timeStyle: "medium", timeZone: zone } as const;
      const exact = new Intl.DateTimeFormat("en-US", format).format(at);
      await page.getByText(`${exact} (${zone})`).waitFor();
      await opened.screenshot("fault-zone");
      await session.detach();
      await opened.close();
    },
  );
});
