import { describe, expect, test } from "bun:test";
import {
  type Header,
  listLabel,
  makeListId,
  withListHeaders,
} from "../../src/render/list-headers.ts";

const LIST = {
  unsubscribeUrl: "https://m.test/unsubscribe/abc",
  unsubscribeAddress: null,
  feedbackId: "1:2:marketing:me",
  listId: null,
};
const UNSUBSCRIBE: Header = ["List-Unsubscribe", "<https://m.test/unsubscribe/abc>"];
const POST: Header = ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"];
const FEEDBACK: Header = ["Feedback-ID", "1:2:marketing:me"];

describe("the headers of a marketing mail", () => {
  const cases: [what: string, callerHeaders: Header[], expected: Header[]][] = [
    [
      "are List-Unsubscribe, List-Unsubscribe-Post and Feedback-ID",
      [],
      [UNSUBSCRIBE, POST, FEEDBACK],
    ],
    ["precede the caller's headers", [["X-A", "1"]], [UNSUBSCRIBE, POST, FEEDBACK, ["X-A", "1"]]],
    [
      "leave out List-Unsubscribe and one-click if the caller sends List-Unsubscribe",
      [["list-unsubscribe", "<mailto:off@acme.test>"]],
      [FEEDBACK, ["list-unsubscribe", "<mailto:off@acme.test>"]],
    ],
    [
      "contain the caller's List-Unsubscribe and one-click",
      [["List-Unsubscribe", "<https://acme.test/off>"], POST],
      [FEEDBACK, ["List-Unsubscribe", "<https://acme.test/off>"], POST],
    ],
    ["contain one-click only once", [POST], [UNSUBSCRIBE, FEEDBACK, POST]],
    [
      "leave out Feedback-ID if the caller sends it",
      [["FEEDBACK-ID", "a:b"]],
      [UNSUBSCRIBE, POST, ["FEEDBACK-ID", "a:b"]],
    ],
  ];

  for (const [what, callerHeaders, expected] of cases) {
    test(what, () => {
      expect(withListHeaders(callerHeaders, LIST)).toEqual(expected);
    });
  }

  test("name the address after the URL, which mail programs prefer", () => {
    const list = { ...LIST, unsubscribeAddress: "u+abc@bounce.acme.test" };
    expect(withListHeaders([], list)[0]).toEqual([
      "List-Unsubscribe",
      "<https://m.test/unsubscribe/abc>, <mailto:u+abc@bounce.acme.test>",
    ]);
  });

  test("identify the topic, unless the caller does", () => {
    const list = { ...LIST, listId: "news.acme.test" };
    expect(withListHeaders([], list)[2]).toEqual(["List-Id", "<news.acme.test>"]);
    expect(withListHeaders([["list-id", "<own.acme.test>"]], list)).not.toContainEqual([
      "List-Id",
      "<news.acme.test>",
    ]);
  });
});

test.each([
  ["news", "shop@acme.test", "news.acme.test"],
  ["product-news-2", '"a@b"@acme.test', "product-news-2.acme.test"],
  ["お知らせ", "shop@acme.test", "0199-id.acme.test"],
  ["٢٠٢٦", "shop@acme.test", "0199-id.acme.test"],
  ["news", `shop@${"a".repeat(250)}.test`, null],
])("the List-Id of the topic %s of %s is %p", (key, sender, expected) => {
  expect(makeListId(listLabel({ id: "0199-id", key }), sender)).toBe(expected);
});
