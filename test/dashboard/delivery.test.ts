/** The page of the delivery of a project: its relay is tested, stored, changed and removed. */

import { afterAll, describe, expect } from "bun:test";
import { faultsOf, LAYOUT_NAMES, NO_FAULTS, type OpenedPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { startScript, type ScriptServer } from "../support/smtp-script.ts";
import { goTo } from "./go-to.ts";
import {
  newProjectWithPeople,
  openAs,
  type PeopledProject,
  type PeopledServer,
  startWithPeople,
} from "./people.ts";

let server: PeopledProject;
let relay: ScriptServer;
/** A server with a public name, to which records may lead. */
let hosts: PeopledServer;

beforePages(async () => {
  server = await newProjectWithPeople();
  hosts = await startWithPeople(["--tracking-url=https://track.mail.example", "--dns=127.0.0.1:9"]);
  closers.push(hosts.stop);
  relay = await startScript({ script: { auth: { code: 535, text: "5.7.8 Wrong password" } } });
  closers.push(() => relay.close());
});
const closers: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(closers.map((close) => close())));

/** The problems without the refusal of a faulty field, which the browser logs. */
const unexpected = (problems: readonly string[]) =>
  problems.filter((problem) => !problem.includes("status of 422"));

async function checkLayouts(opened: OpenedPage, name: string): Promise<void> {
  for (const layout of LAYOUT_NAMES) {
    await opened.setLayout(layout);
    const faults = await faultsOf(opened);
    await opened.screenshot(name);
    expect([layout, { ...faults, problems: unexpected(faults.problems) }]).toEqual([
      layout,
      NO_FAULTS,
    ]);
  }
  await opened.setLayout("light");
}

const relays = async () => listAt(await server.call("GET", "/relays"), "data.items");

describe("the page of the delivery", () => {
  pageTest("a relay is tested, stored, changed and removed", async () => {
    const opened = await openAs(server, "/settings/delivery", { person: "admin" });
    const { page, problems } = opened;
    const press = (name: string) => page.getByRole("button", { name }).click();
    await page.getByText("This server captures mail.").waitFor();
    await page.getByLabel("Server").fill("127.0.0.1");
    await page.getByLabel("Port").fill("22");
    await press("Use this relay");
    await page.getByText("This must be one of 25, 465, 587 or at least 1024.").waitFor();
    await page.getByLabel("Port").and(page.locator(":focus")).waitFor();

    await page.getByLabel("Port").fill(String(relay.port));
    await page.getByRole("combobox", { name: "Encryption" }).click();
    await page.getByRole("option", { name: "None" }).click();
    await page.getByLabel("User name").fill("shop");
    await page.getByRole("textbox", { name: "Password" }).fill("correct horse");
    await press("Test the connection");
    await page.getByText("Check the user and the password").waitFor();
    expect(await relays()).toEqual([]);
    await checkLayouts(opened, "delivery-relay-test");

    await press("Use this relay");
    await page.getByText("Saved.", { exact: true }).waitFor();
    const [stored] = await relays();
    expect(stored).toMatchObject({ host: "127.0.0.1", security: "NONE", username: "shop" });
    // The password is needed again for another server.
    await page.getByLabel("Server").fill("localhost");
    await press("Save changes");
    await page.getByText("This must be given again when the host").waitFor();
    await press("Discard");
    await press("Remove the relay");
    const question = page.getByRole("dialog", { name: "Remove the relay?" });
    await question.getByRole("button", { name: "Remove the relay" }).click();
    await page.getByRole("button", { name: "Use this relay" }).waitFor();
    await expectSoon(async () => (await relays()).length, 0);
    expect(unexpected(problems)).toEqual([]);
    await opened.close();
  });

  pageTest("a tracking host is added, checked and removed", async () => {
    const opened = await openAs(hosts, "/settings/delivery");
    const { page, problems } = opened;
    const press = (name: string) => page.getByRole("button", { name }).click();
    await page.getByLabel("Host", { exact: true }).fill("acme");
    await press("Add the host");
    await page.getByText("This must be a domain such as example.com.").waitFor();
    await page.getByLabel("Host", { exact: true }).fill("links.acme.example");
    await page.keyboard.press("Enter");
    await page.getByText("Waits for its record").waitFor();
    await page.getByRole("button", { name: "Copy the host links" }).waitFor();
    await press("Check now");
    await page.getByText("links.acme.example could not be looked up in the DNS").waitFor();
    await checkLayouts(opened, "delivery-tracking");
    await press("Remove the host");
    const question = page.getByRole("dialog", { name: "Remove the host?" });
    await question.getByRole("button", { name: "Remove the host" }).click();
    await page.getByRole("button", { name: "Add the host" }).waitFor();
    expect(unexpected(problems)).toEqual([]);
    await opened.close();
  });

  pageTest("is for admins", async () => {
    const { page, problems, close } = await openAs(server, "/settings/general", {
      person: "editor",
    });
    await goTo(page, `/p/${server.project}/settings/delivery`);
    await page.getByText("This page is for admins").waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});
