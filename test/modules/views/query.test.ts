import { describe, expect, test } from "bun:test";
import type { FieldErrorCode } from "../../../src/lib/errors.ts";
import { checkQuery, VIEW_PAGES, type ViewPage } from "../../../src/modules/views/pages.ts";

describe("a query string is stored encoded", () => {
  const cases: [page: ViewPage, given: string, stored: string][] = [
    ["emails", "status=bounced&range=7d", "status=bounced&range=7d"],
    ["emails", "?to=@acme.test", "to=%40acme.test"],
    ["contacts", "q=J%C3%BCrgen", "q=J%C3%BCrgen"],
    ["contacts", "q=Jürgen", "q=J%C3%BCrgen"],
    ["inbox", 'q=from:ada "exact phrase"', "q=from%3Aada+%22exact+phrase%22"],
    ["audit", "actor=a&action=b&object=c", "actor=a&action=b&object=c"],
  ];
  for (const [page, given, query] of cases) {
    test(`${page}?${given}`, () => expect(checkQuery(page, given)).toEqual({ ok: true, query }));
  }

  test("and stays the same when it is checked again", () => {
    for (const [page, , stored] of cases) {
      expect(checkQuery(page, stored)).toEqual({ ok: true, query: stored });
    }
  });
});

describe("a query string is refused", () => {
  const cases: [page: ViewPage, given: string, message: string, code?: FieldErrorCode][] = [
    ["emails", "", "must have at least one parameter", "too_small"],
    ["emails", "?&&", "must have at least one parameter", "too_small"],
    ["emails", "status=", 'has no value for the parameter "status"'],
    ["emails", "status", 'has no value for the parameter "status"'],
    ["emails", "status=a&status=b", 'has the parameter "status" more than once'],
    ["emails", "email=1", 'has the parameter "email", which the page emails does not have'],
    ["contacts", "status=a", 'has the parameter "status", which the page contacts does not have'],
    [
      "templates",
      `${"x".repeat(1_000)}=1`,
      `has the parameter "${"x".repeat(40)}", which the page templates does not have`,
    ],
    [
      "contacts",
      `q=${"é".repeat(1_000)}`,
      "must have at most 2000 characters after they are encoded",
      "too_big",
    ],
  ];
  for (const [page, given, message, code = "invalid_value"] of cases) {
    test(`${page}?${given.slice(0, 40)}: ${message.slice(0, 60)}`, () => {
      const refused = checkQuery(page, given);
      expect(refused).toEqual({ ok: false, error: { field: "query", code, message } });
    });
  }
});

test("every page has a parameter that a view can have", () => {
  const first = { emails: "to", inbox: "q", contacts: "q", campaigns: "q", workflows: "enabled" };
  const names = { ...first, templates: "q", events: "name", suppressions: "q", audit: "actor" };
  for (const page of VIEW_PAGES) {
    const query = `${names[page]}=1`;
    expect(checkQuery(page, query)).toEqual({ ok: true, query });
  }
});
