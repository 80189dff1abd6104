/** The import of contacts: a file is chosen, tried, corrected, imported, and its faults are saved. */

import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { NO_FAULTS, faultsOf, type OpenedPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let project: PeopledProject;
beforePages(async () => {
  project = await newProjectWithPeople();
});

const choose = (page: Page, text: string, name = "people.csv") =>
  page.getByLabel("CSV file").setInputFiles({
    name,
    mimeType: "text/csv",
    buffer: Buffer.from(text, "latin1"),
  });

/** Chooses an option of a select. */
async function select(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole("combobox", { name: label, exact: true }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

async function expectClean(opened: OpenedPage, name: string): Promise<void> {
  for (const layout of ["light", "phone-dark"] as const) {
    await opened.setLayout(layout);
    await opened.screenshot(name);
    expect(await faultsOf(opened)).toEqual(NO_FAULTS);
  }
  await opened.setLayout("light");
}

describe("the import of contacts", () => {
  pageTest("from a file in another form, with people who left, to the list", async () => {
    await project.call("POST", "/contacts", { email: "gone@x.io", subscribed: false });
    await project.call("POST", "/contacts", { email: "same@x.io", data: { City: "Rome" } });
    const opened = await openAs(project, "/contacts");
    const { page } = opened;
    await page.getByRole("link", { name: "Import" }).click();
    await page.getByText("Drop a CSV file here").waitFor();
    const rows = [
      "E-Mail Adresse;Stadt;Preis;Eingetreten;Status",
      "ada@x.io;M\u00fcnchen;1.299,50;31.12.2029;Subscribed",
      "gone@x.io;Rom;99,50;01.02.2030;Subscribed",
      "bob@x.io;Bath;1,00;02.03.2030;Cleaned",
      "nobody;Bath;1,00;02.03.2030;Subscribed",
      "vip@x.io;Bath;1,00;02.03.2030;Stammkunde",
    ];
    await choose(page, `${rows.join("\n")}\n`);
    // The words of the status are asked first.
    await page.getByRole("heading", { name: "Who left?" }).waitFor();
    await expectClean(opened, "contact-import-question");
    await select(page, "Stammkunde", "Says nothing about it");
    await page.getByText("3 new contacts will be added").waitFor();
    await page.getByText("1 row cannot be imported").waitFor();
    await page.getByText("1 person who left will stay unsubscribed").waitFor();
    await page.getByText("M\u00fcnchen").first().waitFor();
    await select(page, "Type of Preis", "Number");
    await select(page, "Type of Eingetreten", "Date");
    await page.getByLabel("Name of the field for Stadt").fill("city");
    await page.getByRole("columnheader", { name: "city" }).waitFor();
    await expectSoon(
      () => page.locator(".import-preview tbody tr").first().locator("td").allTextContents(),
      ["2", "ada@x.io", "Yes", "M\u00fcnchen", "1299.5", "2029-12-31"],
    );
    await expectClean(opened, "contact-import-review");
    // The state is in the URL, and the options are those of the job.
    await page.reload();
    await page.getByLabel("Name of the field for Stadt").waitFor();
    expect(await page.getByLabel("Name of the field for Stadt").inputValue()).toBe("city");
    await page.getByRole("button", { name: "Import 4 contacts" }).click();
    await page.getByRole("heading", { name: "The import is complete" }).waitFor();
    await page.getByText("1 person who left stayed unsubscribed").waitFor();
    await expectClean(opened, "contact-import-done");
    await page.getByText("Which and why").click();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download all of them as CSV" }).click();
    const saved = readFileSync(await (await download).path(), "utf8");
    expect(saved).toContain("nobody,Bath");
    await page.getByRole("link", { name: "Show the contacts" }).click();
    await page.getByText("5 contacts").waitFor();
    const list = await project.call("GET", "/contacts?search=ada@x.io");
    expect(valueAt(list, "contacts.0.data")).toEqual({
      city: "M\u00fcnchen",
      Preis: 1299.5,
      Eingetreten: "2029-12-31",
    });
    const gone = await project.call("GET", "/contacts?search=gone@x.io");
    expect(valueAt(gone, "contacts.0.subscribed")).toBe(false);
    await opened.close();
  });

  pageTest(
    "pasted rows: new contacts may stay unsubscribed, and those who left are named",
    async () => {
      await project.call("POST", "/contacts", { email: "left@x.io", subscribed: false });
      const { page, problems, close } = await openAs(project, "/contacts/import");
      await page.getByRole("button", { name: "Paste rows instead" }).click();
      await page
        .getByLabel("Rows, with the names")
        .fill("email,Subscribed\nnew@x.io,\nleft@x.io,yes\n");
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByText("1 person who left will stay unsubscribed").waitFor();
      await page.getByLabel("Subscribe them again").check();
      await page.getByText("1 person who left will be subscribed again").waitFor();
      await page.getByText("left@x.io").first().waitFor();
      await page.getByLabel("Subscribe them again").uncheck();
      await page.getByText("1 person who left will stay unsubscribed").waitFor();
      await select(page, "What Subscribed means", "Leave out");
      await page.getByRole("radio", { name: "are not subscribed" }).check();
      await page.getByRole("button", { name: "Import 1 contact" }).click();
      await page.getByRole("heading", { name: "The import is complete" }).waitFor();
      const list = await project.call("GET", "/contacts?search=new@x.io");
      expect(valueAt(list, "contacts.0.subscribed")).toBe(false);
      expect(
        listAt(await project.call("GET", "/contacts/import"), "data.items").length,
      ).toBeGreaterThan(0);
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest("a file that is none, or that is too long, says why", async () => {
    const { page, problems, close } = await openAs(project, "/contacts/import");
    await choose(page, "\u0000\u0001\u0002", "photo.csv");
    await page.getByRole("alert").getByText("file", { exact: false }).first().waitFor();
    await choose(page, "name,city\nAda,Rome\n", "no-address.csv");
    await page.getByText("has no column named email").waitFor();
    expect(await page.getByRole("button", { name: "Import", exact: true }).isDisabled()).toBe(true);
    await select(page, "What name means", "Email address");
    await page.getByText("1 row cannot be imported").waitFor();
    expect(problems.filter((text) => !text.includes("status of 422"))).toEqual([]);
    await close();
  });
});
