/** Dialogs that the command palette opens: images, events, imports of suppressions, checks of addresses. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { sharedServer } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { drawImage } from "../support/images.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let server: PeopledProject;

beforePages(async () => {
  const { dns } = await sharedServer();
  dns.records["reader.example"] = { MX: ["10 mx.reader.example"] };
  server = await newProjectWithPeople();
});

const rows = (page: Page) => page.locator("[data-row]");
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name, exact: true });

/** Runs an action of the palette, which opens a dialog. */
async function run(page: Page, action: string): Promise<void> {
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByPlaceholder("Search pages, contacts, projects and actions").fill(action);
  await page.locator("[data-action]").filter({ hasText: action }).waitFor();
  await page.keyboard.press("Enter");
}

const unexpected = (problems: readonly string[]) =>
  problems.filter((problem) => !/status of (409|422)/.test(problem));

describe("from the command palette", () => {
  pageTest("images are uploaded, found, and deleted unless a template shows them", async () => {
    const { page, problems, close } = await openAs(server, "/keys", { person: "editor" });
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
    await run(page, "Upload an image");
    const upload = dialog(page, "Upload an image");
    const choose = async (name: string, buffer: Buffer) =>
      upload
        .getByLabel("Image", { exact: true })
        .setInputFiles({ name, mimeType: "image/png", buffer });
    await choose("note.png", Buffer.from("no image"));
    await upload.getByRole("alert").waitFor();
    await choose("logo.png", await drawImage(64, 64, "png"));
    await upload.getByText("logo.png was uploaded.").waitFor();
    await choose("quay.png", await drawImage(300, 100, "png"));
    await upload.getByText("quay.png was uploaded.").waitFor();
    await upload.getByRole("button", { name: "Done" }).click();
    await page.getByText("2 images").waitFor();

    const items = listAt(await server.call("GET", "/images?name=logo"), "data.items");
    const body = `<img src="${stringAt(items[0], "url")}">`;
    await server.call("POST", "/templates", {
      name: "Card",
      subject: "x",
      body,
      type: "MARKETING",
    });
    await page.keyboard.press("/");
    await page.keyboard.type("logo");
    await page.keyboard.press("Enter");
    await page.getByText("1 image", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete logo.png" }).click();
    const question = dialog(page, "Delete this image?");
    await question.getByRole("button", { name: "Delete the image" }).click();
    await question.getByText('This image is shown by template "Card".').waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Backspace");
    await page.goBack();
    await page.getByRole("button", { name: "Delete quay.png" }).click();
    await question.getByRole("button", { name: "Delete the image" }).click();
    await page.getByText("1 image", { exact: true }).waitFor();
    expect(unexpected(problems)).toEqual([]);
    await close();
  });

  pageTest("an event is recorded, and subscribes no contact", async () => {
    await server.call("POST", "/contacts", { email: "ada@reader.example", subscribed: false });
    const { page, problems, close } = await openAs(server, "/keys", { person: "editor" });
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
    await run(page, "Record an event");
    const record = dialog(page, "Record an event");
    await record.getByLabel("Contact", { exact: true }).fill("ada@reader.example");
    await record.getByLabel("Event", { exact: true }).fill("email.sent");
    await record.getByLabel("Data").fill('{"total": ');
    await record.getByRole("button", { name: "Record the event" }).click();
    await record.getByText("This is not JSON").waitFor();
    await record.getByLabel("Data").fill('{"total": 12}');
    await record.getByRole("button", { name: "Record the event" }).click();
    await record.getByText("reserves for its own events").waitFor();
    await record.getByLabel("Event", { exact: true }).fill("order.paid");
    await page.keyboard.press("Enter");
    const drawer = dialog(page, "Event");
    await drawer.getByRole("heading", { name: "order.paid" }).waitFor();
    await drawer.getByText("total").waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });

    await page.keyboard.press("c");
    await record.getByLabel("Contact", { exact: true }).fill("new@reader.example");
    await record.getByLabel("Event", { exact: true }).fill("order.paid");
    await page.keyboard.press("Enter");
    await drawer.getByText("new@reader.example").first().waitFor();
    const contacts = listAt(await server.call("GET", "/contacts?search=reader"), "contacts");
    expect(contacts.map((contact) => valueAt(contact, "subscribed"))).toEqual([false, false]);
    expect(unexpected(problems)).toEqual([]);
    await close();
  });

  pageTest("pasted addresses are suppressed, and faults are named by their lines", async () => {
    await server.call("POST", "/suppressions", {
      email: "ada@reader.example",
      reason: "COMPLAINT",
    });
    const { page, problems, close } = await openAs(server, "/suppressions", { person: "editor" });
    await rows(page).first().waitFor();
    await run(page, "Import suppressions");
    const dialogOfImport = dialog(page, "Import suppressions");
    await dialogOfImport
      .getByLabel("Or paste addresses")
      .fill("ada@reader.example\ngrace@reader.example\nbroken@\nlinus@reader.example");
    await dialogOfImport.getByRole("button", { name: "Suppress the pasted addresses" }).click();
    await dialogOfImport.getByText("2 addresses were suppressed.").waitFor();
    await dialogOfImport.getByText("1 address was suppressed already.").waitFor();
    await dialogOfImport.getByText("Line 3, “broken@”:").waitFor();
    await dialogOfImport.getByRole("button", { name: "Import more" }).click();
    await dialogOfImport.getByLabel("CSV file").setInputFiles({
      name: "list.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("E-Mail,Reason\nmary@reader.example,Spam complaint\n"),
    });
    await dialogOfImport.getByText("1 address was suppressed.").waitFor();
    await dialogOfImport.getByRole("button", { name: "Done" }).click();
    await page.getByText("4 addresses").waitFor();
    const stored = await server.call("GET", "/suppressions?email=mary");
    expect(stringAt(stored, "data.items.0.reason")).toBe("COMPLAINT");
    expect(unexpected(problems)).toEqual([]);
    await close();
  });

  pageTest("a viewer checks an address in words, and is offered no other of these", async () => {
    const { page, problems, close } = await openAs(server, "/contacts", { person: "viewer" });
    await rows(page).first().waitFor();
    await run(page, "Check an address");
    const check = dialog(page, "Check an address");
    const field = check.getByLabel("Email address");
    await field.fill("ada@nowhere.reader.test");
    await page.keyboard.press("Enter");
    await check.getByText("Mail to this address cannot arrive.").waitFor();
    await field.fill("ada@gmial.com");
    await page.keyboard.press("Enter");
    await check.getByRole("button", { name: "Check ada@gmail.com" }).click();
    await check.getByRole("status").getByText("ada@gmail.com").waitFor();
    await check.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("link", { name: "ada@reader.example" }).click();
    await page.getByRole("button", { name: "Check the address" }).click();
    await check.getByRole("button", { name: "Check the address" }).click();
    await check.getByText("Only a mail shows whether the mailbox exists.").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("ControlOrMeta+k");
    const search = page.getByPlaceholder("Search pages, contacts, projects and actions");
    for (const action of ["Upload an image", "Record an event", "Import suppressions"]) {
      await search.fill(action);
      await expectSoon(() => page.locator("[data-action]").filter({ hasText: action }).count(), 0);
    }
    expect(unexpected(problems)).toEqual([]);
    await close();
  });
});
