/** A contact's consents, its export and its erasure, and the receipts in the settings. */

import { expect } from "bun:test";
import { faultsOf, NO_FAULTS } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

const LAYOUTS = ["light", "dark", "phone"] as const;

let server: PeopledProject;
let contact: string;
beforePages(async () => {
  server = await newProjectWithPeople();
  const body = { email: "grace@example.net", data: { city: "Rome" } };
  contact = stringAt(await server.call("POST", "/contacts", body), "id");
  const template = await server.call("POST", "/templates", {
    name: "News",
    type: "MARKETING",
    subject: "News",
    body: "<p>{{ unsubscribeUrl }}</p>",
    from: "news@harbour.example",
  });
  const mail = { to: body.email, template: stringAt(template, "data.id") };
  const sent = await server.call("POST", "/v1/send", mail);
  const shown = await server.call("GET", `/emails/${stringAt(sent, "emails.0.email")}/content`);
  const link = /\/unsubscribe\/[\w-]+/.exec(JSON.stringify(shown))?.[0] ?? "";
  await fetch(server.url + link, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "action=unsubscribe",
  });
});

pageTest("an admin sees the wording behind a click, exports a person and erases them", async () => {
  const opened = await openAs(server, `/contacts/${contact}`);
  const { page } = opened;
  const consents = page.getByRole("region", { name: "Consents" });
  await consents.getByText("Withdrew: all newsletters").waitFor();
  await consents.getByText("on the unsubscribe page").waitFor();
  await consents.getByText("The text that was shown").click();
  await consents.getByText("will no longer send newsletters to {email}").waitFor();
  await consents.getByRole("combobox", { name: "Recording of opens and clicks" }).click();
  await page.getByRole("option", { name: "Refused" }).click();
  await consents.getByText("Withdrew: tracking").waitFor();
  for (const layout of LAYOUTS) {
    await opened.setLayout(layout);
    await opened.screenshot("contact-privacy");
    expect([layout, await faultsOf(opened)]).toEqual([layout, NO_FAULTS]);
  }
  await opened.setLayout("light");
  const proof = page.context().waitForEvent("page");
  await consents.getByRole("link", { name: "Proof to print" }).click();
  const printed = await proof;
  await printed.getByRole("heading", { name: "Proof of consent: grace@example.net" }).waitFor();
  await printed.screenshot({ path: "dist/dashboard/consent-proof.png", fullPage: true });
  await printed.close();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as JSON" }).click();
  expect((await download).suggestedFilename()).toBe("stored-about-contact.json");
  await page.getByRole("button", { name: "Erase the person" }).click();
  await page.getByLabel("Type grace@example.net to confirm").fill("grace@example.net");
  await page.getByRole("dialog").getByRole("button", { name: "Erase the person" }).click();
  await page.getByRole("heading", { name: "Erasures" }).waitFor();
  await page.getByText("Not subscribed again").waitFor();
  const readReceipt = async () => listAt(await server.call("GET", "/erasures"), "data.items").at(0);
  await expectSoon(async () => valueAt(await readReceipt(), "state"), "COMPLETED");
  await page.reload();
  await page.getByText(stringAt(await readReceipt(), "id").slice(-8)).waitFor();
  await page.getByRole("cell", { name: "Completed" }).waitFor();
  await page.getByLabel("Contents of mails").fill("30");
  await page.getByLabel("Received mails").fill("14");
  await page.getByLabel("No mail").check();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await server.call("GET", `/projects/${server.project}`)).toMatchObject({
    data: { tracking: "DISABLED", retainBodies: 30, retainReceived: 14 },
  });
  for (const layout of LAYOUTS) {
    await opened.setLayout(layout);
    await opened.screenshot("settings-privacy");
    expect([layout, await faultsOf(opened)]).toEqual([layout, NO_FAULTS]);
  }
  await page.getByLabel("Contents of mails").fill("300");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("at most 90, because the server keeps the data no longer").waitFor();
  await opened.close();
});
