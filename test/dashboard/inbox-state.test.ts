/** The parts of the inbox that need no browser: searches as chips, and changes of the list. */

import { describe, expect, test } from "bun:test";
import { readChange } from "../../src/dashboard/pages/inbox/inbox-changes.ts";
import {
  type MessagePages,
  withChanges,
  withNewest,
} from "../../src/dashboard/pages/inbox/message-pages.ts";
import { chipsOf, searchOf } from "../../src/dashboard/pages/inbox/search.ts";

describe("a search as chips", () => {
  const cases: [search: string, chips: Record<string, string>][] = [
    ["", {}],
    ["hello world", { q: "hello world" }],
    ['to:ada@example.com "exact phrase"', { to: "ada@example.com", q: '"exact phrase"' }],
    ['to:"ada@example.com"', { to: '"ada@example.com"' }],
    ['subject:"new order" is:unread', { subject: '"new order"', is: "unread" }],
    ["tag:a tag:b", { tag: "a", q: "tag:b" }],
    ["-to:ada larger:10K", { q: "-to:ada larger:10K" }],
    ["TO:Ada to:", { to: "Ada", q: "to:" }],
  ];
  test.each(cases)("%s", (search, chips) => {
    expect(chipsOf(search)).toEqual(chips);
    expect(chipsOf(searchOf(chips))).toEqual(chips);
  });

  test("a value with blanks gets quotes", () => {
    expect(searchOf({ subject: "new order", q: "hello" })).toBe('subject:"new order" hello');
  });
});

const message = (id: string) => ({
  id,
  messageId: "",
  from: null,
  to: [],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: id,
  snippet: "",
  date: null,
  receivedAt: "2026-01-01T00:00:00.000Z",
  size: 1,
  attachments: 0,
  inlines: 0,
  read: false,
  pinned: false,
  tags: [],
  username: "",
  emailId: null,
  envelope: { from: "", to: [], peer: "", helo: "", tls: null, sessionId: null, bareLf: false },
  parseError: null,
});
const pageOf = (ids: readonly string[], total = ids.length) => ({
  items: ids.map(message),
  nextCursor: null,
  hasMore: total > ids.length,
  total,
});
const pages = (...ids: string[]): MessagePages => ({ pages: [pageOf(ids)], pageParams: [null] });
const idsOf = (list: MessagePages) => list.pages.flatMap(({ items }) => items.map(({ id }) => id));

describe("the list after changes", () => {
  test("has new messages at the top, the newest first, each once", () => {
    const news = ["c", "d", "c", "a"].map(
      (id) => ({ type: "message", message: message(id) }) as const,
    );
    const changed = withChanges(pages("b", "a"), news, true);
    expect(idsOf(changed)).toEqual(["d", "c", "b", "a"]);
    expect(changed.pages[0]?.total).toBe(4);
  });

  test("has no new messages while it is a search", () => {
    const list = pages("a");
    expect(withChanges(list, [{ type: "message", message: message("b") }], false)).toBe(list);
  });

  test("has the new state of a message, and not the deleted ones", () => {
    const changed = withChanges(
      pages("b", "a"),
      [
        { type: "updated", id: "a", read: true, pinned: true, tags: ["x"] },
        { type: "deleted", id: "b" },
        { type: "deleted", id: "unknown" },
      ],
      true,
    );
    expect(changed.pages[0]?.items).toMatchObject([{ id: "a", read: true, tags: ["x"] }]);
    expect(changed.pages[0]?.total).toBe(1);
  });

  test("continues a search with the newest matches, or begins again after a gap", () => {
    expect(idsOf(withNewest(pages("b", "a"), pageOf(["c", "b"], 3)))).toEqual(["c", "b", "a"]);
    expect(idsOf(withNewest(pages("a"), pageOf(["z", "y"], 90)))).toEqual(["z", "y"]);
  });
});

describe("a live event", () => {
  test("of another form is no change", () => {
    for (const data of [null, 1, "x", {}, { id: 1 }, { id: "a" }]) {
      expect(readChange(data, "message")).toBeNull();
      expect(readChange(data, "updated")).toBeNull();
    }
  });

  test("is read with its data", () => {
    expect(readChange({ id: "a" }, "deleted")).toEqual({ type: "deleted", id: "a" });
    expect(readChange({ total: 2, unread: 1 }, "stats")).toEqual({
      type: "stats",
      total: 2,
      unread: 1,
    });
    expect(readChange({}, "cleared")).toEqual({ type: "reload" });
    expect(readChange(message("a"), "message")).toEqual({ type: "message", message: message("a") });
  });
});
