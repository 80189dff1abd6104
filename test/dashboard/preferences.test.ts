/**
 * The branding of a project in its settings, and the preference page of recipients: in German with the
 * mouse, and in Japanese with the keyboard.
 */

import { join } from "node:path";
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { faultsOf, LAYOUTS, NO_FAULTS, openPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { drawImage } from "../support/images.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

const OUTPUT = join(import.meta.dir, "../../dist/dashboard");

let server: PeopledProject;
beforePages(async () => {
  server = await newProjectWithPeople();
  await server.call("PATCH", `/projects/${server.project}`, {
    name: "Quay Books",
    sender: { address: "news@harbour.example", name: "Quay Books" },
  });
  const topics = [
    ["Neuheiten", "SUBSCRIBED", "Was neu erschienen ist, einmal im Monat"],
    ["Lesungen", "UNSUBSCRIBED", "Einladungen in unsere Läden"],
  ];
  for (const [name, state, description] of topics) {
    await server.call("POST", "/topics", { name, description, default: state });
  }
});

/** The path of the preference page of a new contact, who got a marketing mail. */
async function manageLink(email: string, language: string): Promise<string> {
  const template = await server.call("POST", "/templates", {
    name: `News for ${email}`,
    type: "MARKETING",
    subject: "News",
    body: "<p>{{ manageUrl }}</p>",
    from: "news@harbour.example",
  });
  const sent = await server.call("POST", "/v1/send", {
    to: email,
    template: stringAt(template, "data.id"),
    subscribed: true,
    data: { language },
  });
  const shown = await server.call("GET", `/emails/${stringAt(sent, "emails.0.email")}/content`);
  return /\/manage\/[\w-]+/.exec(JSON.stringify(shown))?.[0] ?? "";
}

async function contactOf(email: string): Promise<unknown> {
  return listAt(await server.call("GET", `/contacts?search=${email}`), "contacts")[0];
}

/** The newest mail to an address: its HTML, and the link of its button. */
async function newestMail(email: string): Promise<{ html: string; link: string }> {
  const list = await server.call("GET", `/emails?to=${email}&limit=1`);
  const id = stringAt(listAt(list, "data.items")[0], "id");
  const html = stringAt(await server.call("GET", `/emails/${id}/content`), "data.html");
  return { html, link: /\/preference-requests\/\w+/.exec(html)?.[0] ?? "" };
}

async function topicsOf(email: string): Promise<unknown> {
  const id = stringAt(await contactOf(email), "id");
  const answer = await server.call("GET", `/contacts/${id}/topics`);
  return listAt(answer, "data.topics").map((topic) => valueAt(topic, "subscribed"));
}

/** Saves a picture of the whole page in each layout. */
async function takePictures(page: Page, name: string): Promise<void> {
  for (const [layout, { viewport, colorScheme }] of Object.entries(LAYOUTS)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(OUTPUT, `${name}-${layout}.png`), fullPage: true });
  }
}

pageTest("an admin sets the logo and the colour, and sees the page in a language", async () => {
  const opened = await openAs(server, "/settings/branding");
  const { page } = opened;
  const frame = page.frameLocator('iframe[title="Preview of the preference page"]');
  await frame.getByRole("heading", { name: "Your preferences" }).waitFor();
  const buffer = await drawImage(96, 96, "png");
  const file = { name: "logo.png", mimeType: "image/png", buffer };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByRole("img", { name: "logo.png" }).waitFor();
  await page.getByRole("textbox", { name: "Colour", exact: true }).fill("#0F766");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("must be a colour such as #1d56c4").waitFor();
  expect(opened.problems.splice(0)).toEqual([expect.stringContaining("422")]);
  await page.getByRole("textbox", { name: "Colour", exact: true }).fill("#0F766E");
  await page.getByRole("combobox", { name: "Language of the preview" }).click();
  await page.getByRole("option", { name: "Japanese (日本語)" }).click();
  await frame.getByRole("heading", { name: "配信の設定" }).waitFor();
  await frame.locator(".logo img").waitFor();
  const colors = async () => (await frame.locator("style").last().textContent()) ?? "";
  await expectSoon(async () => (await colors()).includes("--main: #0f766e;"), true);
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("Saved").waitFor();
  expect(valueAt(await server.call("GET", `/projects/${server.project}`), "data.brandColor")).toBe(
    "#0f766e",
  );
  for (const layout of ["light", "dark", "phone"] as const) {
    await opened.setLayout(layout);
    await opened.screenshot("settings-branding");
    expect([layout, await faultsOf(opened)]).toEqual([layout, NO_FAULTS]);
  }
  await opened.close();
});

pageTest("a person chooses topics and a pause in German with the mouse", async () => {
  const link = await manageLink("ada@example.net", "de");
  const opened = await openPage(server.url + link);
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "Ihre Einstellungen" }).waitFor();
  await takePictures(page, "preferences-de");
  expect(await faultsOf(opened)).toEqual(NO_FAULTS);
  await page.getByText("Neuheiten").click();
  await page.getByText("Lesungen").click();
  await page.getByText("Bis zu einem bestimmten Tag").click();
  const until = new Date(Date.now() + 20 * 24 * 60 * 60_000).toISOString().slice(0, 10);
  await page.getByLabel("Tag, ab dem wieder Newsletter kommen").fill(until);
  await page.getByRole("button", { name: "Speichern" }).click();
  await page.getByRole("status").getByText("Ihre Änderungen sind gespeichert.").waitFor();
  expect(await topicsOf("ada@example.net")).toEqual([false, true]);
  expect(stringAt(await contactOf("ada@example.net"), "pausedUntil")).toStartWith(until);
  await takePictures(page, "preferences-de-saved");
  await page.reload();
  await page.getByRole("status").getByText("Ihre Änderungen sind gespeichert.").waitFor();
  await page.getByText("Ihre Adresse", { exact: true }).click();
  await page.getByLabel("Neue E-Mail-Adresse").fill("ada@neu.example");
  await page.getByRole("button", { name: "Adresse ändern" }).click();
  await page.getByText("Wir haben eine E-Mail an ad…").waitFor();
  const asked = await newestMail("ada@example.net");
  await page.goto(server.url + asked.link);
  await page.getByText("Quay Books schreibt dann an ada@neu.example.").waitFor();
  await takePictures(page, "preferences-de-address");
  await page.getByRole("button", { name: "Ja, ändern" }).click();
  await page.getByRole("heading", { name: "Bestätigen Sie nun die neue Adresse" }).waitFor();
  await page.goto(server.url + (await newestMail("ada@neu.example")).link);
  await page.getByRole("button", { name: "Adresse bestätigen" }).click();
  await page.getByRole("heading", { name: "Ihre Adresse ist geändert" }).waitFor();
  expect(await faultsOf(opened)).toEqual(NO_FAULTS);
  expect(valueAt(await contactOf("ada@neu.example"), "subscribed")).toBe(true);
  await page.goto(server.url + link);
  await page.getByRole("button", { name: "Alles abbestellen" }).click();
  await page.getByText("Quay Books schickt keine Newsletter an").waitFor();
  expect(valueAt(await contactOf("ada@neu.example"), "subscribed")).toBe(false);
  await takePictures(page, "preferences-de-unsubscribed");
  expect(await faultsOf(opened)).toEqual(NO_FAULTS);
  await page.getByText("Ihre Daten", { exact: true }).click();
  await page.getByRole("button", { name: "Meine Daten löschen" }).click();
  // The mail to which this page belongs went to the former address.
  await page.getByText("Wir haben eine E-Mail an Ihre neue Adresse geschickt.").waitFor();
  await page.getByText("Ihre Daten", { exact: true }).click();
  await takePictures(page, "preferences-de-data");
  await page.goto(server.url + (await newestMail("ada@neu.example")).link);
  await page.getByRole("button", { name: "Meine Daten löschen" }).click();
  await page.getByRole("heading", { name: "Ihre Daten sind gelöscht" }).waitFor();
  await takePictures(page, "preferences-de-erased");
  expect(await faultsOf(opened)).toEqual(NO_FAULTS);
  expect(await contactOf("ada@neu.example")).toBeUndefined();
  await page.goto("about:blank");
  await page.setContent(asked.html);
  await page.screenshot({ path: join(OUTPUT, "preferences-de-mail.png") });
  await opened.close();
});

pageTest("a person does the same in Japanese with the keyboard", async () => {
  const opened = await openPage(server.url + (await manageLink("ai@example.net", "ja")));
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "配信の設定" }).waitFor();
  await takePictures(page, "preferences-ja");
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  // Two topics, then the first choice of the pause, of which the arrow chooses the next one.
  await press("Tab", "Space", "Tab", "Space", "Tab", "ArrowDown");
  expect(await page.locator(":focus").getAttribute("value")).toBe("1");
  await press("Tab", "Tab");
  expect(await page.locator(":focus").getAttribute("name")).toBe("tracking");
  await press("Space", "Tab");
  expect(await page.locator(":focus").innerText()).toBe("保存する");
  await press("Enter");
  await page.getByRole("status").getByText("変更を保存しました。").waitFor();
  expect(await topicsOf("ai@example.net")).toEqual([false, true]);
  expect(valueAt(await contactOf("ai@example.net"), "pausedUntil")).toBeString();
  expect(valueAt(await contactOf("ai@example.net"), "tracking")).toBe(false);
  expect(await faultsOf(opened)).toEqual(NO_FAULTS);
  await opened.close();
});
