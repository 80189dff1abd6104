/** The settings of a project and its team, for each role. */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { LANGUAGE_TAGS } from "../../src/dashboard/pages/settings/choices.ts";
import { LANGUAGES } from "../../src/render/language.ts";
import { openPage } from "../support/browser.ts";
import { listAt, stringAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { goTo } from "./go-to.ts";
import { openAs, PASSWORD, type PeopledProject, statusOf, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const member = (page: Page, name: string) => page.locator(".team-row").filter({ hasText: name });

async function memberRole(email: string): Promise<string | undefined> {
  const team = await server.call("GET", "/team");
  const found = listAt(team, "data.members").find((one) => stringAt(one, "email") === email);
  return found === undefined ? undefined : stringAt(found, "role");
}

/** The name, the sender and the language of the project. */
async function changeGeneralSettings(page: Page): Promise<void> {
  await page.getByText("Recipients see it below marketing mail").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Harbour Books");
  await page.getByRole("combobox", { name: "Language for recipients" }).click();
  await page.getByRole("option", { name: "German (Deutsch)" }).click();
  // The browser itself checks addresses, so the form is sent with one that only the server refuses.
  await page.getByLabel("Default sender").fill("hello@localhost");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByLabel("Default sender").and(page.locator("[aria-invalid=true]")).waitFor();
  await page.getByLabel("Default sender").fill("hello@harbour.example");
  await page.getByLabel("Name of the sender").fill("Harbour");
  await page.keyboard.press("Enter");
  await page.getByText("Saved").waitFor();
  await page.getByRole("button", { name: "Project: Harbour Books" }).waitFor();
  expect(await server.call("GET", `/projects/${server.project}`)).toMatchObject({
    data: {
      name: "Harbour Books",
      sender: { address: "hello@harbour.example", name: "Harbour" },
      language: "de",
    },
  });
}

/** By keyboard, invites a viewer, which is the first choice; resolves to the link of the invitation. */
async function inviteViewer(page: Page, email: string): Promise<string> {
  await page.keyboard.press("c");
  await dialog(page, "Invite a person").waitFor();
  await page.keyboard.type(email);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const link = await dialog(page, "Invited").getByLabel("Link of the invitation").inputValue();
  await page.getByText(`${email} is invited as viewer.`).waitFor();
  // Enter copies the link, and does not close the dialog, whose link is shown only once.
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Done" }).press("Enter");
  await dialog(page, "Invited").waitFor({ state: "detached" });
  await member(page, email).getByText("Viewer").waitFor();
  return link;
}

/** In a browser without a session. A viewer starts at the overview, and may not read captured mail. */
async function acceptInvitation(link: string): Promise<void> {
  const { page, problems, close } = await openPage(link);
  await page.getByLabel("Your name").fill("Nora New");
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Account: Nora New" }).waitFor();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(await page.getByRole("link", { name: "Inbox" }).count()).toBe(0);
  await goTo(page, `/p/${server.project}/inboxes`);
  await page.getByText("This page is for editors and admins").waitFor();
  expect(problems).toEqual([]);
  await close();
}

/** A role is changed, and the change undone. */
async function changeRole(page: Page): Promise<void> {
  await page.getByRole("combobox", { name: "Role of Eva Editor" }).click();
  await page.getByRole("option", { name: "Viewer" }).click();
  await page.getByText("The role of Eva Editor was changed.").waitFor();
  await expectSoon(() => memberRole("eva@acme.example"), "VIEWER");
  await page.getByRole("button", { name: "Undo" }).click();
  await expectSoon(() => memberRole("eva@acme.example"), "EDITOR");
}

/** One invitation is renewed, and another withdrawn. */
async function changeInvitations(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Invite ivan@acme.example again" }).click();
  await dialog(page, "Invite again").getByRole("button", { name: "Invite again" }).click();
  await dialog(page, "Invited").getByRole("button", { name: "Done" }).click();
  await dialog(page, "Invited").waitFor({ state: "detached" });
  await expectSoon(() => member(page, "ivan@acme.example").count(), 1);
  await page.getByRole("button", { name: "Withdraw the invitation of otto@" }).click();
  await dialog(page, "Withdraw the invitation?")
    .getByRole("button", { name: "Withdraw the invitation" })
    .click();
  await member(page, "otto@acme.example").waitFor({ state: "detached" });
}

async function removeMember(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Remove Eva Editor" }).click();
  await dialog(page, "Remove Eva Editor?")
    .getByRole("button", { name: "Remove from the project" })
    .click();
  await member(page, "Eva Editor").waitFor({ state: "detached" });
  expect(await memberRole("eva@acme.example")).toBeUndefined();
  // An admin cannot lose the own role by mistake.
  expect(await member(page, "Anna Admin").getByRole("button").count()).toBe(0);
}

describe("the settings of a project", () => {
  pageTest("an admin changes the settings and invites a person, who accepts", async () => {
    const { page, problems, close } = await openAs(server, "/settings");
    await changeGeneralSettings(page);
    await page.getByRole("link", { name: "Team" }).click();
    await member(page, "Vera Viewer").waitFor();
    const link = await inviteViewer(page, "nora@acme.example");
    // The browser logs the refused sender.
    expect(problems.filter((problem) => !problem.includes("status of 422"))).toEqual([]);
    await close();
    await acceptInvitation(link);
    expect(await memberRole("nora@acme.example")).toBe("VIEWER");
  });

  pageTest("an admin changes a role, withdraws an invitation and removes a member", async () => {
    for (const email of ["ivan@acme.example", "otto@acme.example"]) {
      await server.call("POST", "/team/invitations", { email, role: "EDITOR" });
    }
    const { page, problems, close } = await openAs(server, "/settings/team");
    await member(page, "Nora New").waitFor();
    await changeRole(page);
    await changeInvitations(page);
    await removeMember(page);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("an owner makes a project, disables it by its name and enables it again", async () => {
    const { page, problems, close } = await openAs(server, "/settings/general", {
      person: "owner",
    });
    await page.getByRole("button", { name: "New project" }).click();
    await dialog(page, "New project").getByLabel("Project name").fill("Lighthouse");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Project: Lighthouse" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Disable the project" }).click();
    const question = dialog(page, "Disable the project?");
    await expectSoon(() => question.getByRole("button", { name: "Disable" }).isDisabled(), true);
    await question.getByLabel("Type Lighthouse to confirm").fill("Lighthouse");
    await page.keyboard.press("Enter");
    await page.getByText("The project is disabled").waitFor();
    await page.getByRole("button", { name: "Enable the project" }).click();
    await page.getByRole("button", { name: "Disable the project" }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("viewers read the general settings, and change nothing", async () => {
    const { page, problems, close } = await openAs(server, "/settings/general", {
      person: "viewer",
    });
    await page.getByText("Admins of the project may change these settings.").waitFor();
    for (const name of ["Team", "Audit"]) {
      expect([name, await page.getByRole("link", { name }).count()]).toEqual([name, 0]);
    }
    for (const name of ["Save changes", "New project"]) {
      expect([name, await page.getByRole("button", { name }).count()]).toEqual([name, 0]);
    }
    for (const path of ["team", "audit"]) {
      await goTo(page, `/p/${server.project}/settings/${path}`);
      await page.getByText("This page is for admins").waitFor();
    }
    expect(problems).toEqual([]);
    await close();
  });

  test("the server refuses what a role may not do", async () => {
    const project = `/projects/${server.project}`;
    const refused = [
      ["viewer", ["PATCH", project, { name: "Forced" }]],
      ["viewer", ["GET", "/team"]],
      ["viewer", ["GET", "/audit"]],
      ["viewer", ["POST", "/team/invitations", { email: "x@acme.example", role: "ADMIN" }]],
      ["admin", ["PATCH", project, { isEnabled: false }]],
      ["admin", ["POST", "/projects", { name: "Forced" }]],
    ] as const;
    for (const [person, request] of refused) {
      expect([person, request, await statusOf(server, person, request)]).toEqual([
        person,
        request,
        403,
      ]);
    }
    expect(await statusOf(server, "viewer", ["GET", project])).toBe(200);
  });
});

test("the languages are those of the pages for recipients", () => {
  expect<readonly string[]>(LANGUAGE_TAGS).toEqual(LANGUAGES);
});
