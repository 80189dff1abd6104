import { describe, expect, test } from "bun:test";
import { type Header, withListHeaders } from "../../src/render/list-unsubscribe.ts";

const LIST = { unsubscribeUrl: "https://m.test/unsubscribe/abc", feedbackId: "1:2:marketing:me" };
const UNSUBSCRIBE: Header = ["List-Unsubscribe", "<https://m.test/unsubscribe/abc>"];
const POST: Header = ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"];
const FEEDBACK: Header = ["Feedback-ID", "1:2:marketing:me"];

describe("the headers of a marketing mail", () => {
  const cases: [what: string, own: Header[], expected: Header[]][] = [
    ["are three", [], [UNSUBSCRIBE, POST, FEEDBACK]],
    ["come before the caller's", [["X-A", "1"]], [UNSUBSCRIBE, POST, FEEDBACK, ["X-A", "1"]]],
    [
      "give way to the caller's List-Unsubscribe, and one-click with it",
      [["list-unsubscribe", "<mailto:off@acme.test>"]],
      [FEEDBACK, ["list-unsubscribe", "<mailto:off@acme.test>"]],
    ],
    [
      "keep the caller's pair",
      [["List-Unsubscribe", "<https://acme.test/off>"], POST],
      [FEEDBACK, ["List-Unsubscribe", "<https://acme.test/off>"], POST],
    ],
    ["have one-click once", [POST], [UNSUBSCRIBE, FEEDBACK, POST]],
    [
      "give way to the caller's Feedback-ID",
      [["FEEDBACK-ID", "a:b"]],
      [UNSUBSCRIBE, POST, ["FEEDBACK-ID", "a:b"]],
    ],
  ];

  for (const [what, own, expected] of cases) {
    test(what, () => {
      expect(withListHeaders(own, LIST)).toEqual(expected);
    });
  }
});
