/** The logic of received mail that needs no browser. */

import { describe, expect, test } from "bun:test";
import { senderVerdict } from "../../src/dashboard/pages/received/sender-verdict.ts";
import { headerText } from "../../src/dashboard/ui/message/message-lines.ts";

describe("the verdict about a sender", () => {
  const verdict = (result: string) => ({ result, domain: null, info: "" });
  test.each([
    ["pass", [], "none", "Fails DMARC", "fail"],
    ["none", ["pass"], "none", "Verified", "pass"],
    ["none", ["fail", "pass"], "none", "Signed", "none"],
    ["pass", [], "none", "SPF passes", "none"],
    ["fail", [], "none", "Fails SPF", "none"],
    ["skipped", [], "none", "Not verified", "none"],
    ["none", [], "none", "DNS failed", "temperror"],
  ] as const)("with SPF %s, DKIM %j, ARC %s is %p with DMARC %s", (spf, dkim, arc, word, dmarc) => {
    const authentication = {
      spf: verdict(spf),
      dkim: dkim.map(verdict),
      dmarc: verdict(dmarc),
      arc: verdict(arc),
    };
    expect(senderVerdict(authentication)).toMatchObject({
      word,
      meaning: expect.stringMatching(/\.$/),
    });
  });

  test("names the results of all checks", () => {
    const all = { spf: verdict("pass"), dkim: [], dmarc: verdict("none"), arc: verdict("none") };
    expect(senderVerdict(all).details).toBe("SPF pass, DKIM none, DMARC none");
    expect(senderVerdict(null).word).toBe("Not checked");
  });
});

test.each([
  ["A: 1\r\nB: 2\r\n\r\nHello\r\n\r\nC", "A: 1\r\nB: 2"],
  ["A: 1\n\nHello", "A: 1"],
  ["A: 1", "A: 1"],
])("the header of %j is %j", (text, expected) => {
  expect(headerText(text)).toBe(expected);
});
