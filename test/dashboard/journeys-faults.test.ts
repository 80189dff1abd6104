/**
 * Faults that happen while a page is open: the project is disabled, a member loses the role or the
 * project. Times are those of the zone of the reader.
 */

import { describe, expect } from "bun:test";
import type { CDPSession, Page } from "playwright-core";
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

/** A zone whose offset is not a whole number of hours. */
const ZONE = "America/St_Johns";
/** The zone is that of the browser again when this session ends. */
let zone: CDPSession | undefined;

async function setZone(page: Page): Promise<void> {
  zone = await page.context().newCDPSession(page);
  await zone.send("Emulation.setTimezoneOverride", { timezoneId: ZONE });
}

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
    "an editor in another zone becomes a viewer: times name the zone, and the refused action its reason",
    async () => {
      const opened = await openAs(server, `/contacts/${ada}`, {
        person: "editor",
        prepare: setZone,
      });
      const { page, problems } = opened;
      const at = new Date(stringAt(await server.call("GET", `/contacts/${ada}`), "createdAt"));
      await page.getByRole("button", { name: "just now" }).first().hover();
      const format = { dateStyle: "medium", timeStyle: "medium", timeZone: ZONE } as const;
      const exact = new Intl.DateTimeFormat("en-US", format).format(at);
      await page.getByText(`${exact} (${ZONE})`).waitFor();

      const button = page.getByRole("button", { name: "Delete", exact: true });
      await button.waitFor();
      const id = await memberId("eva@acme.example");
      await server.call("PATCH", `/team/${id}`, { role: "VIEWER" });
      await button.click();
      const question = page.getByRole("dialog", { name: "Delete this contact?" });
      await question.getByRole("button", { name: "Delete the contact" }).click();
      await page.getByText("Your role in this project was changed to viewer.").waitFor();
      await button.waitFor({ state: "detached" });
      await page.getByRole("heading", { level: 1, name: "ada@example.com" }).waitFor();
      await server.call("PATCH", `/team/${id}`, { role: "EDITOR" });
      expect(problems.filter((problem) => !isRefusal(problem))).toEqual([]);
      await zone?.detach();
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
    await opened.close();
  });
});
