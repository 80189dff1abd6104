/** The command palette finds an object by its id. */

import { describe, expect, test } from "bun:test";
import { hasChromium, BROWSER_LIMIT_MS, openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { listAt, stringAt } from "../support/json.ts";
import { beforePages } from "../support/page-test.ts";

let server: DashboardProject;
const ids = new Map<string, string>();

beforePages(async () => {
  server = await newProject();
  const create = async (noun: string, path: string, body: object) => {
    const answer = await server.call("POST", path, body);
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
  await server.call("POST", "/v1/send", { to: ["ada@example.com"], ...mail });
  ids.set("email", stringAt(listAt(await server.call("GET", "/emails"), "data.items")[0], "id"));
});

describe("the command palette", () => {
  test.skipIf(!hasChromium).each([
    ["email", "Hi", "emails"],
    ["contact", "ada@example.com", "contacts"],
    ["campaign", "October", "campaigns"],
    ["segment", "Readers", "segments"],
    ["template", "Receipt", "templates"],
    ["workflow", "Welcome", "workflows"],
  ])(
    "offers the %s that has the id, and nothing else",
    async (noun, name, folder) => {
      const opened = await openPage(`${server.url}/app/p/${server.project}/keys`, {
        cookie: server.cookie,
      });
      const { page, screenshot, findings, close } = opened;
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      await page.keyboard.press("Control+k");
      const id = ids.get(noun) ?? "";
      await page.getByPlaceholder("Search pages, contacts, projects and actions").fill(id);
      await page.getByRole("button", { name: `Open the ${noun} ${name}` }).waitFor();
      expect(await page.getByRole("button", { name: /^Open the / }).count()).toBe(1);
      await screenshot(`palette-id-${noun}`);
      expect(await findings()).toEqual([]);
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/app/p/${server.project}/${folder}/${id}`);
      await close();
    },
    BROWSER_LIMIT_MS,
  );
});
