/** The message of a mail is made of data alone, and each fault is a result with its reason. */

import { describe, expect, test } from "bun:test";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { simpleParser } from "mailparser";
import type { MailRow } from "../../../src/outbox/compose/prepare.ts";
import { dkimRecord } from "../../../src/protocols/dkim/keys.ts";
import { withoutOtherWork } from "../../support/clock.ts";
import { ENDLESS, mailRow, SIGNED_AT, testPreparation, testSigner } from "../../support/compose.ts";
import { dkimPairs } from "../../support/dkim.ts";

const { prepare, prepareSync } = testPreparation();
const UNSIGNED = { signer: null, at: SIGNED_AT };

function prepared(rest: Partial<MailRow> = {}): { subject: string; text: string } {
  const result = prepareSync(mailRow(rest), UNSIGNED);
  if (result.kind !== "prepared") throw new Error(result.reason);
  return { subject: result.subject, text: Buffer.from(result.message).toString() };
}

test("a message is rendered with the variables, and has the addresses, headers and dates of its row", async () => {
  const { text } = prepared({
    variables: JSON.stringify({ name: "Ada & Co" }),
    toName: "Ada",
    replyTo: "reply@acme.test",
    headers: JSON.stringify([["X-Order", "4711"]]),
  });
  const parsed = await simpleParser(text);
  expect(parsed.html).toContain("<p>Hello Ada &amp; Co</p>");
  expect(parsed.text).toContain("Hello Ada & Co");
  expect(parsed.from?.text).toBe('"Acme" <news@acme.test>');
  expect(parsed.replyTo?.text).toBe("reply@acme.test");
  expect(parsed.headers.get("x-order")).toBe("4711");
  expect(parsed.date?.getTime()).toBe(Math.floor(SIGNED_AT.getTime() / 1000) * 1000);
});

test("the subject of campaign mail is a template, and that of transactional mail is not", () => {
  const subject = "Hello {{ name }}";
  const variables = JSON.stringify({ name: "Ada" });
  expect(prepared({ subject, variables }).subject).toBe(subject);
  expect(prepared({ subject, variables, campaignSeq: 1 }).subject).toBe("Hello Ada");
});

test("a row with the same data makes the same bytes", () => {
  const mail = mailRow({
    isMarketing: true,
    tracking: "MARKETING_ONLY",
    html: "<a href='https://a.test'>a</a>",
  });
  const messages = Array.from({ length: 6 }, () => prepareSync({ ...mail }, UNSIGNED));
  for (const message of messages) expect(message).toEqual(prepareSync(mail, UNSIGNED));
});

test("each mail has its own headers, also if mails with other headers are prepared in between", () => {
  for (const name of ["X-A", "X-B", "X-A", "X-A", "X-B"]) {
    const { text } = prepared({ headers: JSON.stringify([[name, "1"]]) });
    expect(text.match(/^X-.*$/gm)).toEqual([`${name}: 1`]);
  }
  expect(prepared().text).not.toContain("X-");
});

test("each mail has its own date, also if mails of another second are prepared in between", () => {
  const second = SIGNED_AT.getTime();
  for (const acceptedAt of [second, second + 299, second + 300, second, -1, 0, second]) {
    const { text } = prepared({ acceptedAt });
    const date = new Date(acceptedAt).toUTCString().replace("GMT", "+0000");
    expect(/^Date: (.*)\r$/m.exec(text)?.[1]).toBe(date);
  }
});

describe("both ways of signing", () => {
  test("make the same message, which an independent verifier accepts", async () => {
    const mail = mailRow();
    const signing = { signer: await testSigner(), at: SIGNED_AT };
    const result = await prepare(mail, signing);
    expect(prepareSync(mail, signing)).toEqual(result);
    if (result.kind !== "prepared") throw new Error(result.reason);
    const pairs = await dkimPairs();
    const { results } = await dkimVerify(Buffer.from(result.message), {
      resolver: async (name) => {
        const pair = pairs.find(({ algorithm }) =>
          name.startsWith(algorithm === "rsa-sha256" ? "r1" : "e1"),
        );
        return pair === undefined ? [] : [[dkimRecord(pair.algorithm, pair.publicKey)]];
      },
    });
    expect(results.map(({ status }) => status.result)).toEqual(["pass", "pass"]);
  });

  test("defer a mail whose key cannot sign", async () => {
    const { domain, keys } = await testSigner();
    const [rsa, ed] = keys;
    if (rsa === undefined || ed === undefined) throw new Error("two keys are needed");
    const signing = {
      signer: { domain, keys: [{ ...rsa, privateKey: ed.privateKey }] },
      at: SIGNED_AT,
    };
    const reason = expect.stringMatching(/^The message cannot be signed: /);
    expect(await prepare(mailRow(), signing)).toEqual({ kind: "deferred", reason });
    expect(prepareSync(mailRow(), signing)).toEqual({ kind: "deferred", reason });
  });
});

test.each<[string, Partial<MailRow>, RegExp]>([
  ["a syntax error", { html: "{% if %}" }, /^The body cannot be rendered: /],
  ["a NUL in a value", { variables: '{"name":"\\u0000"}' }, /^The body cannot be rendered: .*NUL/],
  [
    "a faulty subject",
    { campaignSeq: 1, subject: "{% if %}" },
    /^The subject cannot be rendered: /,
  ],
  ["an empty subject", { campaignSeq: 1, subject: "{{ x }}" }, /^The subject is empty/],
  [
    "a line break in a header",
    { headers: '[["X-A","a\\r\\nBcc: b"]]' },
    /^The message cannot be composed: /,
  ],
  ["a line break in the subject", { subject: "a\nb" }, /^The message cannot be composed: /],
])("a mail with %s fails with the reason", (_, rest, reason) => {
  expect(prepareSync(mailRow(rest), UNSIGNED)).toEqual({
    kind: "failed",
    reason: expect.stringMatching(reason),
    isTooSlow: false,
  });
});

test("a mail whose template takes too long fails, and counts as too slow", () => {
  const slow = testPreparation({ renderLimitMs: 50 });
  const mail = mailRow({ html: ENDLESS });
  expect(withoutOtherWork(() => slow.prepareSync(mail, UNSIGNED))).toEqual({
    kind: "failed",
    reason: expect.stringMatching(/^The body cannot be rendered: .* takes longer than/),
    isTooSlow: true,
  });
});
