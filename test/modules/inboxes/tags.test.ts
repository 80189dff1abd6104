/** Tags from headers, requests and addresses. The expected ones were compared with Mailpit 1.31. */

import { describe, expect, test } from "bun:test";
import { plusTagsOf, tagsFrom } from "../../../src/modules/inboxes/messages/tags.ts";

describe("tags from texts", () => {
  test.each<[texts: string[], tags: string[]]>([
    [[], []],
    [["", " ", "//"], []],
    [
      ["orders", "signup"],
      ["orders", "signup"],
    ],
    [
      ["b", "A", "c"],
      ["A", "b", "c"],
    ],
    [["dup", "DUP", "dup"], ["dup"]],
    [["a/b"], ["a b"]],
    [["x  y "], ["x y"]],
    [["very$odd!tag"], ["very odd tag"]],
    [[" -lead.dot_"], ["-lead.dot_"]],
    [
      ["@at", "#hash"],
      ["@at", "hash"],
    ],
    [["emoji 👋"], ["emoji"]],
    [["Grüße"], ["Grüße"]],
    [["l".repeat(120)], ["l".repeat(100)]],
  ])("%p are %p", (texts, tags) => {
    expect(tagsFrom(texts)).toEqual(tags);
  });

  test("has at most a hundred", () => {
    const texts = Array.from({ length: 200 }, (_, i) => `tag${i}`);
    expect(tagsFrom(texts)).toHaveLength(100);
  });
});

test.each<[address: string, tags: string[]]>([
  ["ada@example.com", []],
  ["ada+one+two@example.com", ["one", "two"]],
  ["ada+@example.com", [""]],
  ["ada+x", []],
  ["", []],
])("the details of %p are %p", (address, tags) => {
  expect(plusTagsOf(address)).toEqual(tags);
});
