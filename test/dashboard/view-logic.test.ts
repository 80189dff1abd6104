import { describe, expect, test } from "bun:test";
import { readCampaignsSearch } from "../../src/dashboard/pages/campaigns/search.ts";
import { readContactSearch } from "../../src/dashboard/pages/contacts/search.ts";
import { readSearch } from "../../src/dashboard/pages/emails/search.ts";
import { readEventSearch } from "../../src/dashboard/pages/events/search.ts";
import { readInboxSearch } from "../../src/dashboard/pages/inbox/search.ts";
import { readAuditSearch } from "../../src/dashboard/pages/audit/audit-search.ts";
import { readSuppressionSearch } from "../../src/dashboard/pages/suppressions/search.ts";
import { readTemplatesSearch } from "../../src/dashboard/pages/templates/search.ts";
import { readWorkflowListSearch } from "../../src/dashboard/pages/workflows/search.ts";
import {
  isSameQuery,
  pathOfView,
  queryOfSearch,
  rightsOf,
  searchOfQuery,
  VIEW_LISTS,
  wordsOfQuery,
} from "../../src/dashboard/ui/views/view-lists.ts";
import { PAGE_RULES, VIEW_PAGES, type ViewPage } from "../../src/modules/views/pages.ts";

const READERS: Readonly<Record<ViewPage, (search: Record<string, string>) => object>> = {
  emails: readSearch,
  inbox: readInboxSearch,
  contacts: readContactSearch,
  campaigns: readCampaignsSearch,
  workflows: readWorkflowListSearch,
  templates: readTemplatesSearch,
  events: readEventSearch,
  suppressions: readSuppressionSearch,
  audit: readAuditSearch,
};

describe.each([...VIEW_PAGES])("the list %s", (page) => {
  test("has the same parameters in the dashboard and on the server", () => {
    expect(VIEW_LISTS[page].parameters).toEqual(PAGE_RULES[page].parameters);
  });

  test("has no parameter that its page does not read", () => {
    const search = Object.fromEntries(VIEW_LISTS[page].parameters.map((name) => [name, "x"]));
    expect(READERS[page](search)).toEqual(search);
  });
});

test.each([
  [
    "emails",
    { status: "bounced", range: "7d", email: "1", tab: "text" },
    "status=bounced&range=7d",
  ],
  ["emails", { to: "@acme.test", subject: "", from: undefined }, "to=%40acme.test"],
  ["inbox", { q: 'from:ada "a b"', message: "1" }, "q=from%3Aada+%22a+b%22"],
  ["templates", {}, ""],
] as const)("the filters of %s %p are saved as %p", (page, search, query) => {
  expect(queryOfSearch(page, search)).toBe(query);
});

test("the parameters of a view are those that were saved", () => {
  const search = { to: "@acme.test", subject: "50% & more", range: "7d" };
  expect(searchOfQuery(queryOfSearch("emails", search))).toEqual(search);
});

test.each([
  ["status=bounced&range=7d", "range=7d&status=bounced", true],
  ["q=a+b", "q=a%20b", true],
  ["q=a", "q=b", false],
  ["q=a", "", false],
  ["q=a", "q=a&status=sent", false],
])("%p and %p are the same: %p", (a, b, expected) => {
  expect(isSameQuery(a, b)).toBe(expected);
});

test.each([
  ["status=bounced&range=7d", "status: bounced, range: 7d"],
  ["q=ada+lovelace&subscribed=yes", '"ada lovelace", subscribed: yes'],
  ["", ""],
])("%p reads %p", (query, words) => {
  expect(wordsOfQuery(query)).toBe(words);
});

test.each([
  ["audit", "action=createKey", "/p/1/settings/audit?action=createKey"],
  ["inbox", "q=ada", "/p/1/inboxes?q=ada"],
  ["emails", "to=%40a", "/p/1/emails?to=%40a"],
] as const)("a view of %s with %p is at %p", (page, query, path) => {
  expect(pathOfView("1", { page, query })).toBe(path);
});

describe("the rights on a view", () => {
  const OWN = { isOwn: true, isShared: false };
  const OWN_SHARED = { isOwn: true, isShared: true };
  const OTHER = { isOwn: false, isShared: true };
  test.each([
    ["VIEWER", OWN, true, false],
    ["VIEWER", OWN_SHARED, false, false],
    ["VIEWER", OTHER, false, false],
    ["EDITOR", OWN, true, true],
    ["EDITOR", OWN_SHARED, true, true],
    ["EDITOR", OTHER, false, false],
    ["ADMIN", OTHER, true, false],
    ["OWNER", OTHER, true, false],
    [null, OWN, true, false],
    [null, OTHER, false, false],
  ] as const)("%p of %p: change %p, share %p", (role, view, mayChange, mayShare) => {
    expect(rightsOf(view, role)).toEqual({ mayChange, mayShare });
  });
});
