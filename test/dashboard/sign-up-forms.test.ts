/** A sign-up form from the dashboard to the workflow that a confirmation starts, and on another site. */

import { afterAll, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium, openPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { startWebServer, type WebServer } from "../support/web-server.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let server: PeopledProject;
let site: WebServer;

beforePages(async () => {
  [server, site] = await Promise.all([newProjectWithPeople(), startWebServer()]);
  await server.call("PATCH", `/projects/${server.project}`, {
    sender: { address: "shop@acme.example", name: "Acme" },
  });
});
afterAll(async () => {
  if (hasChromium) await site.close();
});

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

/** The link in the confirmation mail of an address. */
async function linkOf(address: string): Promise<string> {
  const list = await server.call("GET", `/emails?to=${encodeURIComponent(address)}`);
  const id = stringAt(list, "data.items.0.id");
  const content = await server.call("GET", `/emails/${id}/content`);
  const [link = ""] = /https?:\/\/\S+\/confirm\/\w+/.exec(stringAt(content, "data.text")) ?? [];
  return new URL(link).pathname;
}

const listForms = () => server.call("GET", "/forms");

const contactsOf = async (address: string) =>
  listAt(await server.call("GET", `/contacts?search=${address}`), "contacts");

describe("a sign-up form", () => {
  pageTest("is made in the dashboard, filled in, confirmed, and starts a workflow", async () => {
    const steps = [
      { id: "start", type: "TRIGGER", config: { eventName: "form.confirmed" } },
      { id: "mark", type: "UPDATE_CONTACT", config: { updates: { greeted: "yes" } } },
    ];
    const workflow = await server.call("POST", "/workflows", {
      name: "Welcome",
      eventName: "form.confirmed",
      enabled: true,
      steps,
      transitions: [{ from: "start", to: "mark" }],
    });
    expect(valueAt(workflow, "success")).toBe(true);
    const topic = await server.call("POST", "/topics", { name: "Product news" });
    expect(valueAt(topic, "success")).toBe(true);

    const opened = await openAs(server, "/forms", { isLive: true });
    const { page, problems } = opened;
    await page.getByText("No forms yet").waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Name").fill("Footer");
    await page.getByLabel("Heading").fill("Letters from Acme");
    await press(page, "Create the form");
    await page.getByRole("heading", { name: "Footer" }).waitFor();
    await page.getByLabel("Description").fill("One letter a month.");
    await press(page, "Add a field");
    await page.getByLabel("Label").fill("First name");
    expect(await page.getByLabel("Stored as").inputValue()).toBe("firstName");
    await page.getByLabel("Required").check();
    await page.getByLabel("Offer Product news").check();
    await page.getByLabel("Wording").fill("Acme may write to me.");
    const shown = page.frameLocator('iframe[title="Preview of the form"]:not([aria-hidden])');
    await shown.getByLabel("First name").waitFor();
    await shown.getByText("Acme may write to me.").waitFor();
    // A fault is marked at its field, and nothing is stored.
    await page.getByLabel("Page after the confirmation").fill("acme");
    await press(page, "Save");
    await page.getByText("This must be an address that begins with https://").waitFor();
    await page.getByText("the form is shown as it was before").waitFor();
    await shown.getByText("Acme may write to me.").waitFor();
    await page.getByLabel("Page after the confirmation").fill("");
    await press(page, "Save");
    await page.getByText("Saved. The page and the HTML of the form have changed.").waitFor();
    // A change of another person is not overwritten.
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await server.call("PATCH", `/forms/${id}`, { buttonLabel: "Join" });
    await page.getByLabel("Description").fill("Lost.");
    await press(page, "Save");
    await press(page, "Discard my changes and show theirs");
    await page.getByLabel("Button").and(page.locator('[value="Join"]')).waitFor();
    expect(await page.getByLabel("Description").inputValue()).toBe("One letter a month.");
    for (const layout of ["light", "dark", "phone"] as const) {
      await opened.setLayout(layout);
      await opened.screenshot("form-edit");
    }
    expect(await opened.findings()).toEqual([]);
    expect(await opened.overflowPx()).toBeLessThanOrEqual(0);
    await opened.setLayout("light");
    await page.getByRole("link", { name: "Share", exact: true }).click();
    await page.getByText("data-mailstead").first().waitFor();
    await opened.screenshot("form-share");
    const address = await page.getByRole("link", { name: "Open the page" }).getAttribute("href");
    const path = new URL(address ?? "").pathname;

    // A person fills in the page.
    const hosted = await openPage(server.url + path);
    await hosted.page.getByText("One letter a month.").waitFor();
    await hosted.screenshot("form-hosted");
    await hosted.page.emulateMedia({ colorScheme: "dark" });
    await hosted.page.setViewportSize({ width: 390, height: 844 });
    await hosted.screenshot("form-hosted-dark-phone");
    expect(await hosted.findings()).toEqual([]);
    await hosted.page.getByLabel("Email address").fill("ada@example.com");
    await hosted.page.getByLabel("First name").fill("Ada");
    await hosted.page.getByLabel("Product news").check();
    await hosted.page.getByLabel("Acme may write to me.").check();
    // The page is sent no faster than a person could.
    await hosted.page.evaluate(
      `document.querySelector("[name=_t]").value = ""; document.querySelector("form").requestSubmit()`,
    );
    await hosted.page.getByText("Please check your inbox").waitFor();

    // The link changes nothing; its button does.
    const link = await linkOf("ada@example.com");
    await fetch(server.url + link);
    expect(await contactsOf("ada@example.com")).toEqual([]);
    await hosted.page.goto(server.url + link);
    await hosted.screenshot("form-confirm");
    await press(hosted.page, "Confirm");
    await hosted.page.getByText("You are subscribed").waitFor();
    await hosted.page.goto(server.url + link);
    await hosted.page.getByText("You are already confirmed").waitFor();
    expect(hosted.problems).toEqual([]);
    await hosted.close();
    await expectSoon(async () => valueAt((await contactsOf("ada@example.com"))[0], "data"), {
      firstName: "Ada",
      greeted: "yes",
    });

    await page.getByRole("link", { name: "Report", exact: true }).click();
    await page.getByText("Confirmed, 100% of submitted").waitFor();
    expect(await page.getByText("Withheld").count()).toBe(0);
    // A suppressed address gets no mail, and the report says why the figures differ.
    await server.call("POST", "/suppressions", { email: "no@example.com" });
    const body = new URLSearchParams({ email: "no@example.com", firstName: "No", consent: "yes" });
    await fetch(server.url + path, { method: "POST", body, redirect: "manual" });
    await page.reload();
    await page.getByText("Withheld submissions got no mail").waitFor();
    for (const layout of ["light", "dark", "phone"] as const) {
      await opened.setLayout(layout);
      await opened.screenshot("form-report");
    }
    expect(await opened.findings()).toEqual([]);
    expect(await opened.overflowPx()).toBeLessThanOrEqual(0);
    await opened.setLayout("light");
    await page.getByRole("link", { name: "Forms", exact: true }).first().click();
    await page.getByText("Letters from Acme").waitFor();
    await opened.screenshot("forms");
    // The server refused the wrong address.
    expect(problems.filter((problem) => !/ 4(?:12|22) /.test(problem))).toEqual([]);
    await opened.close();
  });

  pageTest("answers in place on another site, for each form of a page", async () => {
    const field = { name: "age", label: "Age", kind: "NUMBER" };
    const origins = [site.origin];
    const make = async (title: string) => {
      const body = { name: title, title, fields: [field], origins };
      const form = await server.call("POST", "/forms", body);
      return server.call("GET", `/forms/${stringAt(form, "data.id")}/code`);
    };
    const [first, second] = [await make("First"), await make("Second")];
    const html = [first, second].map((code) => stringAt(code, "data.html")).join("\n");
    const policy = `default-src 'none'; img-src data:; script-src ${server.url}; connect-src ${server.url}; style-src 'unsafe-inline'; form-action ${server.url}`;
    site.answer = () => ({
      headers: { "content-type": "text/html", "content-security-policy": policy },
      body: `<!doctype html><html lang="en"><title>A site</title><link rel="icon" href="data:,">
        ${html}${stringAt(first, "data.script")}${stringAt(first, "data.script")}</html>`,
    });
    const { page, problems, close } = await openPage(`${site.origin}/`);
    const form = page.locator("form").nth(1);
    await page.locator('form[data-mailstead="on"]').nth(1).waitFor();
    await form.getByLabel("Email address").fill("bob@example.com");
    // The browser takes it for a number, and the server does not.
    await form.getByLabel("Age").fill("1e9");
    await form.getByRole("button").click();
    await form.getByText("Please enter a number.").waitFor();
    const age = form.getByLabel("Age");
    expect(await age.getAttribute("aria-invalid")).toBe("true");
    await age.and(page.locator(":focus")).waitFor();
    await age.fill("36");
    await form.getByRole("button").click();
    const done = page.getByRole("status").filter({ hasText: "Please check your inbox" });
    await done.waitFor();
    expect(await page.locator("form").first().getByLabel("Email address").inputValue()).toBe("");
    expect(page.url()).toBe(`${site.origin}/`);
    expect(await linkOf("bob@example.com")).toStartWith("/confirm/");
    // The page of the server itself may use a form that is bound to other sites.
    const hosted = await openPage(new URL(stringAt(await listForms(), "data.items.0.url")).href);
    await hosted.page.getByLabel("Email address").fill("eve@example.com");
    await hosted.page.evaluate(`document.querySelector("[name=_t]").value = ""`);
    await press(hosted.page, "Subscribe");
    await hosted.page.getByText("Please check your inbox").waitFor();
    await hosted.close();
    const refused = problems.filter(
      (problem) => !problem.startsWith(`request: ${server.url}/`) && !problem.includes("422"),
    );
    expect(refused).toEqual([]);
    await close();
  });
});
