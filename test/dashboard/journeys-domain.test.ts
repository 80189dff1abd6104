/**
 * The journey of somebody who brings a domain to verified at a real name server, whose records change
 * meanwhile: missing, wrong, found. `bun scripts/journeys.ts` runs it against the executable.
 */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { faultsOf, NO_FAULTS } from "../support/browser.ts";
import { sharedServer } from "../support/dashboard-server.ts";
import type { TestDns } from "../support/dns-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { publish } from "../support/zone.ts";
import { openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
let dns: TestDns;

beforePages(async () => {
  ({ dns } = await sharedServer());
  server = await newProjectWithPeople();
});
/** The records that the domain needs, as the interface shows them. */
async function neededRecords(): Promise<unknown[]> {
  const [domain] = listAt(await server.call("GET", "/domains"), "data.items");
  return listAt(domain, "records");
}

const verdicts = (page: Page) => page.locator(".record-head .status").allTextContents();

describe("a domain is brought to verified", () => {
  pageTest(
    "missing, wrong, found: every check says what to do next, without a reload",
    async () => {
      const opened = await openAs(server, "/", { person: "admin" });
      const { page } = opened;
      await page.getByRole("link", { name: "Domains", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor();
      await opened.screenshot("domain-journey-0");
      await page.getByRole("button", { name: "Add a domain" }).first().click();
      await page.getByLabel("Domain", { exact: true }).fill("harbour.example");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "harbour.example" }).waitFor();
      await page.evaluate("window.isSameDocument = true");
      const check = () => page.getByRole("button", { name: "Check now" }).click();
      await check();
      const records = await neededRecords();
      await expectSoon(() => verdicts(page), Array<string>(records.length).fill("Not found"));
      await page.getByText("open its DNS settings, and add each record").waitFor();
      await opened.screenshot("domain-journey-1-missing");

      // The owner of the domain pastes the value of another record.
      const [dkim] = records;
      const name = stringAt(dkim, "name");
      publish(dns.records, [{ type: "TXT", name, value: "v=DKIM1; k=rsa; p=AAAA" }]);
      await check();
      await page.getByText("Different value").waitFor();
      await page.getByText("v=DKIM1; k=rsa; p=AAAA").waitFor();
      await opened.screenshot("domain-journey-2-wrong");

      for (const each of records) delete dns.records[stringAt(each, "name")];
      publish(dns.records, records);
      await check();
      await page.getByText("You can send from this domain. All records are in place.").waitFor();
      await page.getByText("Verified", { exact: true }).waitFor();
      await expectSoon(() => verdicts(page), Array<string>(records.length).fill("Found"));
      await opened.screenshot("domain-journey-3-found");
      expect(await page.evaluate("window.isSameDocument")).toBe(true);
      await page.getByRole("link", { name: "Domains", exact: true }).first().click();
      const row = page.locator("[data-row]", { hasText: "harbour.example" });
      await row.getByText("Verified").waitFor();
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.close();
    },
  );

  pageTest("a record that disappears again is said in the list and on the page", async () => {
    for (const each of await neededRecords()) {
      if (stringAt(each, "purpose") === "DKIM") delete dns.records[stringAt(each, "name")];
    }
    const opened = await openAs(server, "/domains", { person: "admin" });
    const { page } = opened;
    await page.getByRole("link", { name: "harbour.example" }).click();
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("The signing key has been missing from the DNS since").waitFor();
    await opened.screenshot("domain-journey-4-lost");
    expect(await faultsOf(opened)).toEqual(NO_FAULTS);
    await opened.close();
  });
});
