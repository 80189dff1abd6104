/** The audit log: its filters and words. */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import {
  actionWords,
  auditSentence,
  changeTexts,
  SUGGESTED_ACTIONS,
} from "../../src/dashboard/pages/audit/audit-words.ts";
import { createRouteRules } from "../../src/http/route-rules.ts";
import { testApp } from "../support/app.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

describe("the audit log", () => {
  pageTest("filters by keyboard and by a click, with its state in the URL", async () => {
    const { page, problems, close } = await openAs(server, "/settings/audit");
    const rows = page.locator("[data-row]");
    await rows.first().waitFor();
    const all = await rows.count();
    await page.keyboard.press("/");
    await page.keyboard.type("action:inviteMember");
    await page.keyboard.press("Enter");
    await page.getByText("Accepted an invitation").first().waitFor({ state: "detached" });
    await expectSoon(() => params(page), { action: "inviteMember" });
    await page
      .getByTitle(/^Show only changes of /)
      .first()
      .click();
    await page.getByText("1 change", { exact: true }).waitFor();
    expect(Object.keys(params(page))).toEqual(["action", "object"]);
    await page.goBack();
    await page.goBack();
    await page.getByText("Accepted an invitation").first().waitFor();
    await expectSoon(() => rows.count(), all);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("names what was changed, and shows the old and the new value", async () => {
    const template = { name: "Receipt", type: "TRANSACTIONAL", subject: "s", body: "<p>b</p>" };
    const made = await server.call("POST", "/templates", template);
    const id = stringAt(made, "data.id");
    await server.call("PATCH", `/templates/${id}`, { name: "Invoice", subject: "s" });
    const { page, problems, close } = await openAs(server, "/settings/audit");
    const row = page.locator("[data-row]", {
      hasText: "changed name of template Invoice: Receipt → Invoice",
    });
    await row.waitFor();
    await page.keyboard.press("j");
    await page.locator("[data-row] :focus").waitFor();
    await page.keyboard.press("Enter");
    const drawer = page.locator(".drawer");
    await drawer.getByRole("heading", { name: "Changed a template" }).waitFor();
    await drawer.locator("del", { hasText: "Receipt" }).waitFor();
    await drawer.locator("ins", { hasText: "Invoice" }).waitFor();
    await page.keyboard.press("j");
    await drawer.getByText("name, type, subject, body. The values of these fields").waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await row.getByRole("link", { name: "Invoice" }).click();
    await page.getByText("2 changes", { exact: true }).waitFor();
    expect(Object.keys(params(page))).toEqual(["object"]);
    await page.getByRole("link", { name: "Receipt" }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});

test("every audited change of the interface has words for the audit log", async () => {
  const t = await testApp();
  const rules = createRouteRules();
  rules.registerRoutes(t.app.http.routes);
  const audited = t.app.http.routes.flatMap(({ method, path }) => {
    const { isAudited, operationId } = rules.ruleOf(method, path);
    return isAudited && operationId !== null ? [operationId] : [];
  });
  await t.close();
  expect(audited.length).toBeGreaterThan(50);
  expect(audited.filter((action) => actionWords(action) === null)).toEqual([]);
  expect(SUGGESTED_ACTIONS.filter((action) => !audited.includes(action))).toEqual([]);
});

test.each([
  ["createKey", "Created an API key"],
  ["updateContact", "Changed a contact"],
  ["importContacts", "Imported contacts"],
  ["user.add", "Added a user"],
  ["session.create", "Signed in"],
  ["somethingElse", null],
])("the audit log says of %s: %s", (action, words) => {
  expect(actionWords(action)).toBe(words);
});

test("the changes of a row are texts; a field without kept values is only named", () => {
  const record = {
    id: "1",
    at: "2026-03-02T10:00:00.000Z",
    actor: { kind: "SYSTEM", id: null, label: "", name: null },
    project: null,
    action: "updateCampaign",
    objectType: "campaign",
    objectId: "2",
    objectName: "News",
    address: null,
  } as const;
  const changes = [
    { field: "name", before: "News", after: "Spring" },
    { field: "replyTo", before: null, after: "a@x.example" },
    { field: "description", before: "x", after: "" },
  ];
  expect(changeTexts({ ...record, fields: ["name", "data"], changes })).toEqual([
    "name: News → Spring",
    "reply address: none → a@x.example",
    "description: x → empty",
    "data changed",
  ]);
  expect(changeTexts({ ...record, fields: ["name"], changes: [] })).toEqual(["name changed"]);
});

const change = (field: string) => ({ field, before: "a", after: "b" });

test.each([
  [
    "updateTemplate",
    "template",
    "Welcome",
    ["from"],
    [change("from")],
    "changed sender of template Welcome: a → b",
  ],
  [
    "updateTemplate",
    "template",
    "Welcome",
    ["name", "data"],
    [change("name")],
    "changed template Welcome: name: a → b, data changed",
  ],
  [
    "updateWebhook",
    "webhook",
    "https://a.example/…",
    ["enabled"],
    [{ field: "enabled", before: "false", after: "true" }],
    "changed webhook https://a.example/…: enabled: false → true",
  ],
  [
    "changeReportMailbox",
    "report-mailbox",
    "Bounces",
    ["password"],
    [],
    "changed password of mailbox of reports Bounces",
  ],
  ["createKey", "key", "shop (…1234)", ["name"], [], "created API key shop (…1234)"],
  ["inviteMember", "team", "eve@x.example", [], [], "invited a person: eve@x.example"],
  [
    "updateMember",
    "team",
    "eve@x.example",
    ["role"],
    [change("role")],
    "changed the role of member eve@x.example: role: a → b",
  ],
  ["deleteContact", "contact", null, [], [], "deleted a contact"],
  ["session.create", "session", null, [], [], "signed in"],
  ["unknown.thing", "thing", null, [], [], "unknown.thing"],
])("the sentence about %s of a %s", (action, objectType, objectName, fields, changes, expected) => {
  const { did, values } = auditSentence({
    id: "1",
    at: "2026-03-02T10:00:00.000Z",
    actor: { kind: "USER", id: "2", label: "ada@x.example", name: "Ada" },
    project: null,
    action,
    objectType,
    objectId: "3",
    objectName,
    fields,
    changes,
    address: null,
  });
  const words = [did, objectName].filter((text) => text !== null).join(" ");
  expect(words + (values === "" ? "" : `: ${values}`)).toBe(expected);
});
