/**
 * The command palette finds objects by their id or a part of their name, actions by role, and the
 * documentation. Its table of actions is compared with the buttons of the pages.
 */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { PAGE_ACTIONS } from "../../src/dashboard/page-actions.ts";
import { DOCS_CHAPTERS } from "../../src/dashboard/palette-docs.ts";
import { isRecord } from "../../src/http/validation.ts";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { drawImage } from "../support/images.ts";
import { listAt, stringAt } from "../support/json.ts";
import { openApiDocument } from "../support/openapi.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { goTo } from "./go-to.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let project: PeopledProject;
const ids = new Map<string, string>();

beforePages(async () => {
  project = await newProjectWithPeople();
  const create = async (noun: string, path: string, body: object) => {
    const answer = await project.call("POST", path, body);
    ids.set(noun, stringAt(answer, noun === "contact" ? "id" : "data.id"));
  };
  const mail = { subject: "Hi", body: "<p>Hi</p>", from: "news@acme.example" };
  await create("contact", "/contacts", { email: "ada@example.com" });
  await create("campaign", "/campaigns", { name: "October", ...mail, audienceType: "ALL" });
  await create("segment", "/segments", { name: "Readers", type: "STATIC" });
  await create("template", "/templates", { name: "Receipt", ...mail, type: "MARKETING" });
  await create("workflow", "/workflows", {
    name: "Welcome",
    trigger: { type: "EVENT", eventName: "x" },
    steps: [{ id: "end", type: "EXIT", config: {} }],
    transitions: [],
  });
  await project.call("POST", "/v1/send", { to: ["ada@example.com"], ...mail });
  ids.set("email", stringAt(listAt(await project.call("GET", "/emails"), "data.items")[0], "id"));
  await create("form", "/forms", { name: "News", title: "News" });
  await create("topic", "/topics", { name: "News", default: "UNSUBSCRIBED" });
  await create("layout", "/layouts", { name: "Letterhead", body: "<p>{{ content }}</p>" });
  await create("domain", "/domains", { domain: "palette.example" });
  const webhook = { url: "https://hooks.shop.example/mail", events: ["email.sent"] };
  await create("webhook", "/webhooks", webhook);
  await create("report-source", "/report-sources", { provider: "POSTMARK" });
  await project.call("POST", "/suppressions", { email: "gone@acme.example", reason: "MANUAL" });
  const view = { page: "emails", name: "Bounced lately", query: "status=bounced" };
  await project.call("POST", "/views", { ...view, isShared: true });
  await fetch(`${project.url}/images`, {
    method: "POST",
    headers: { authorization: `Bearer ${project.secretKey}`, "content-type": "image/png" },
    body: await drawImage(32, 32, "png"),
  });
  addRoute();
});

/** Adds an inbound route, which the interface refuses to a server that receives no mail. */
function addRoute(): void {
  using db = openData(project);
  db.run(
    `INSERT INTO inbound_routes (id, project_seq, address, domain, created_at)
     SELECT 'palette', seq, 'a@in.palette.example', 'in.palette.example', 0
     FROM projects WHERE id = ?`,
    [project.project],
  );
}

const type = (page: Page, text: string) =>
  page.getByPlaceholder("Search pages, contacts, projects and actions").fill(text);

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press("ControlOrMeta+k");
  await type(page, text);
}

const found = (page: Page, name: string) =>
  page.locator("[data-action]").filter({ hasText: new RegExp(`^${RegExp.escape(name)}`) });

/** The address of the page below the project. */
function place(page: Page): string {
  const { pathname, search: query } = new URL(page.url());
  return `${pathname}${query}`.replace(`/app/p/${project.project}`, "");
}

describe("the command palette", () => {
  pageTest(
    "finds objects by id or by a part of the name, and opens the dialog of an action once",
    async () => {
      const { page, problems, close } = await openAs(project, "/keys");
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      await search(page, "");
      for (const [noun, name] of [
        ["contact", "ada@example.com"],
        ["campaign", "October"],
        ["segment", "Readers"],
        ["template", "Receipt"],
        ["workflow", "Welcome"],
        ["layout", "Letterhead"],
        ["webhook", "https://hooks.shop.example/mail"],
        ["domain", "palette.example"],
        ["email", "Hi"],
      ] as const) {
        await type(page, ids.get(noun) ?? "");
        await found(page, `Open the ${noun} ${name}`).waitFor();
        expect(await page.getByRole("button", { name: /^Open the / }).count()).toBe(1);
      }
      await page.keyboard.press("Enter");
      await expectSoon(() => place(page), `/emails/${ids.get("email")}`);
      // The interface answers with 404 where the id is of another kind.
      expect(problems.filter((text) => !text.includes("status of 404"))).toEqual([]);
      problems.length = 0;

      await search(page, "");
      for (const [text, name] of [
        ["ADA@ex", "ada@example.com"],
        ["elcom", "Welcome"],
        ["eader", "Readers"],
        ["ecei", "Receipt"],
        ["hooks.sh", "https://hooks.shop.example/mail"],
        ["ALETTE.ex", "palette.example"],
      ] as const) {
        await type(page, text);
        await found(page, name).waitFor();
      }
      await page.keyboard.press("Escape");
      for (const [text, name, address] of [
        ["ctob", "October", `/campaigns/${ids.get("campaign")}`],
        ["ounced la", "Bounced lately", "/emails?status=bounced"],
        ["etterhe", "Letterhead", `/templates/layouts/${ids.get("layout")}`],
        ["gone@acme", "gone@acme.example is suppressed", "/suppressions?address=gone@acme.example"],
      ] as const) {
        await search(page, text);
        await found(page, name).waitFor();
        // The first row is selected, also where it was found later than the text was typed.
        await page.keyboard.press("Enter");
        await expectSoon(() => decodeURIComponent(place(page)), address);
      }
      await page.getByRole("dialog").getByText("added this address").waitFor();

      // The page that is left has a dialog of its own.
      await goTo(page, `/p/${project.project}/webhooks`);
      await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
      const dialog = page.getByRole("dialog", { name: "Suppress an address" });
      for (let times = 0; times < 2; times++) {
        await search(page, "suppress an");
        await found(page, "Suppress an address").click();
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await dialog.waitFor({ state: "detached" });
      }
      await page.reload();
      await page.locator("[data-row]").first().waitFor();
      expect(await dialog.count()).toBe(0);
      expect(problems).toEqual([]);
      await close();

      const viewer = await openAs(project, "/suppressions", { person: "viewer" });
      await viewer.page.locator("[data-row]").first().waitFor();
      await search(viewer.page, "suppress");
      await found(viewer.page, "Suppressions").waitFor();
      expect(await found(viewer.page, "Suppress an address").count()).toBe(0);
      await viewer.close();
    },
  );

  /** Buttons in the head of a page that are no actions of the palette, with the reason. */
  const OTHER_BUTTONS: Readonly<Record<string, readonly string[]>> = {
    // They lead to pages of the palette.
    "/templates": ["Images", "Layouts"],
    // Its only item deletes all messages.
    "/inboxes": ["More actions of the inbox"],
  };
  const PAGES = [...new Set(PAGE_ACTIONS.map(({ page }) => page))];
  const NO_ACTIONS = ["/settings/audit"];

  // A page without data has its action in its middle.
  pageTest("has each action in the head of a page", async () => {
    const { page, problems, close } = await openAs(project, "/emails", { person: "owner" });
    for (const path of [...PAGES, ...NO_ACTIONS]) {
      await goTo(page, `/p/${project.project}${path}`);
      const actions = PAGE_ACTIONS.filter((action) => action.page === path);
      const named = [...actions.map(({ button }) => button), ...(OTHER_BUTTONS[path] ?? [])];
      const expected = named.filter((name) => name !== null).sort((a, b) => a.localeCompare(b));
      await expectSoon(async () => [path, ...(await headButtons(page))], [path, ...expected]);
    }

    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "opens the dialog, page or panel of an action, exports, and opens the documentation",
    async () => {
      const { page, problems, close } = await openAs(project, "/emails", { person: "owner" });
      await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor();
      for (const [label, wanted] of [
        ["Create an inbox", { dialog: "New inbox" }],
        ["Create a project", { dialog: "New project" }],
        ["Send yourself a mail", { dialog: "Send yourself a mail" }],
        ["Failure rules of the inbox", { path: "/inboxes?panel=rules" }],
        ["Create a segment", { path: "/segments/new" }],
        ["Layouts", { path: "/templates/layouts" }],
      ] as const) {
        await search(page, label);
        await found(page, label).first().click();
        if ("path" in wanted) {
          await expectSoon(() => place(page), wanted.path);
          continue;
        }
        const dialog = page.getByRole("dialog", { name: wanted.dialog });
        await dialog.waitFor();
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
      }

      await search(page, "Export webhooks");
      const download = page.waitForEvent("download");
      await page.keyboard.press("Enter");
      expect((await download).suggestedFilename()).toMatch(/^webhooks-.*\.csv$/);
      expect(place(page)).toBe("/webhooks");

      await search(page, "documentation: seg");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/docs#/Segments");
      expect(problems).toEqual([]);
      await close();
    },
  );
});

test("the palette has the chapters of the documentation of the interface", async () => {
  const tags = listAt((await openApiDocument()).body, "tags");
  const names = tags.map((tag) => (isRecord(tag) ? tag["name"] : undefined));
  expect<unknown[]>([...DOCS_CHAPTERS]).toEqual(names);
});

async function headButtons(page: Page): Promise<string[]> {
  const names = await page.evaluate<string[]>(
    `[...document.querySelectorAll(".page-actions :is(button, a), .empty button")].map(
      (each) => each.getAttribute("aria-label") ?? each.textContent,
    )`,
  );
  return names.sort((a, b) => a.localeCompare(b));
}
