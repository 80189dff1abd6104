/** The commands of the palette by role and installation, and the pages that they open. */

import { describe, expect, test } from "bun:test";
import { PAGE_ACTIONS } from "../../src/dashboard/page-actions.ts";
import { furtherPagesOf, pageActionsOf } from "../../src/dashboard/palette-actions.ts";
import { docsPath } from "../../src/dashboard/palette-docs.ts";
import { pathOfFound, readableLists } from "../../src/dashboard/palette-found.tsx";
import { kindsOf } from "../../src/dashboard/palette-id.tsx";
import type { AppState, ProjectSummary, Role } from "../../src/dashboard/state.ts";

const USER = {
  id: "u",
  email: "ada@example.com",
  name: "Ada",
  isOwner: false,
  confirmedUntil: null,
};
const STATE: AppState = {
  needsOwner: false,
  pending: null,
  user: USER,
  projects: [],
  capture: true,
  dev: false,
  version: "1.0.0",
  transport: "capture",
  relay: null,
  requiresVerifiedDomain: false,
  receivesAs: null,
  url: "",
  smtp: null,
};
const WITHOUT_INBOXES = { ...STATE, capture: false };

const as = (role: Role): ProjectSummary => ({ id: "1", name: "Acme", role, isEnabled: true });

test.each([
  ["/contacts", { id: "c", email: "ada@example.com" }, "/p/1/contacts/c"],
  ["/suppressions", { email: "a+b@example.com" }, "/p/1/suppressions?address=a%2Bb%40example.com"],
  ["/views", { id: "v", page: "events", query: "name=order.paid" }, "/p/1/events?name=order.paid"],
  ["/campaigns/summaries", { id: "a", name: "October" }, "/p/1/campaigns/a"],
  ["/workflows", { id: "w", name: "Welcome" }, "/p/1/workflows/w"],
  ["/segments", { id: "s", name: "Readers" }, "/p/1/segments/s"],
  ["/templates", { id: "t/1", name: "Receipt" }, "/p/1/templates/t%2F1"],
  ["/layouts", { id: "l", name: "Letterhead" }, "/p/1/templates/layouts/l"],
  ["/webhooks", { id: "h", url: "https://example.com" }, "/p/1/webhooks/h"],
  ["/domains", { id: "d", domain: "example.com" }, "/p/1/domains/d"],
  ["/keys", { id: "k", name: "Shop" }, "/p/1/keys"],
  ["/events", { id: "e", name: "order.paid" }, "/p/1/events?event=e"],
  ["/inboxes", { id: "i", name: "sign up" }, "/p/1/inboxes/sign%20up"],
  ["/inboxes/default/messages", { id: "m", subject: "Hi" }, "/p/1/inboxes?message=m"],
] as const)("what the palette finds in %s is at %p %p", (path, found, expected) => {
  expect(pathOfFound("1", path, found)).toBe(expected);
});

describe("the palette searches", () => {
  const lists = (state: AppState, role: Role) =>
    readableLists(state, as(role)).map(({ group }) => group);

  test("the objects of every kind that has a name or an address", () => {
    expect(lists(STATE, "ADMIN")).toEqual([
      "Contacts",
      "Suppressions",
      "Saved views",
      "Campaigns",
      "Workflows",
      "Segments",
      "Templates",
      "Layouts",
      "Webhooks",
      "Domains",
      "API keys",
      "Inboxes",
      "Messages in the inbox",
    ]);
  });

  test.each([
    [STATE, "EDITOR", ["API keys"]],
    [STATE, "VIEWER", ["API keys", "Inboxes", "Messages in the inbox"]],
    [WITHOUT_INBOXES, "OWNER", ["Inboxes", "Messages in the inbox"]],
  ] as const)("no list that the user may not read: %#", (state, role, missing) => {
    const shown = lists(state, role);
    expect(lists(STATE, "ADMIN").filter((group) => !shown.includes(group))).toEqual([...missing]);
  });

  test.each([
    [STATE, "EDITOR", true],
    [STATE, "VIEWER", false],
    [WITHOUT_INBOXES, "EDITOR", false],
  ] as const)("a message by its id where there is an inbox: %#", (state, role, isFound) => {
    const nouns = kindsOf(state, as(role)).map(({ noun }) => noun);
    expect(nouns.includes("message")).toBe(isFound);
    expect(nouns).toContain("email");
  });
});

describe("the actions of the palette", () => {
  const labels = (role: Role, state = STATE) =>
    pageActionsOf(state, as(role)).map(({ label }) => label);
  const all = PAGE_ACTIONS.map(({ label }) => label);
  const EXPORTS = all.filter((label) => label.startsWith("Export "));
  const ADMIN = [
    "Add an inbound route",
    "Add a domain",
    "Create a webhook",
    "Add a relay provider",
    "Add a mailbox of reports",
    "Create an API key",
    "Invite a person",
  ];

  test("of a viewer change nothing", () => {
    expect(labels("VIEWER")).toEqual([
      "Check an address",
      ...EXPORTS.filter((label) => label !== "Export contacts"),
    ]);
  });

  test("of an editor are those of an admin without the settings", () => {
    const editor = labels("EDITOR");
    expect(labels("ADMIN").filter((label) => !editor.includes(label))).toEqual(ADMIN);
    expect(labels("OWNER")).toEqual(labels("ADMIN"));
  });

  test("have a new project for the owner of the installation", () => {
    expect(labels("OWNER", { ...STATE, user: { ...USER, isOwner: true } })).toEqual(all);
  });

  test("have no inbox where nothing is captured", () => {
    expect(labels("EDITOR", WITHOUT_INBOXES).filter((label) => /inbox/.test(label))).toEqual([]);
  });

  test("are none without a project", () => {
    expect(pageActionsOf(STATE, null)).toEqual([]);
    expect(furtherPagesOf(null)).toEqual([]);
  });

  test("have different names", () => expect(new Set(all).size).toBe(all.length));
});

test("pages without an item in the side bar are those that the role may open", () => {
  expect(furtherPagesOf(as("EDITOR")).map(({ label }) => label)).toEqual([
    "Layouts",
    "Images",
    "Inbound routes",
  ]);
  expect(furtherPagesOf(as("ADMIN")).map(({ label }) => label)).toEqual([
    "Layouts",
    "Images",
    "Inbound routes",
    "Team",
    "Audit log",
  ]);
});

test("the documentation is opened at the chapter", () => {
  expect(docsPath("API keys")).toBe("/docs#/API%20keys");
});
