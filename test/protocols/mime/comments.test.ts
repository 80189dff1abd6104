/** Comments in structured fields of messages (RFC 5322 §3.2.2, RFC 2045 §6.1). */

import { describe, expect, test } from "bun:test";
import { parseDetail } from "../../../src/modules/inboxes/parsing/parse.ts";
import { parseDeliveryStatus } from "../../../src/protocols/dsn/delivery-status.ts";
import { withoutComments } from "../../../src/protocols/mime/comments.ts";
import { leavesOf, readMessage, textOfPart } from "../../../src/protocols/mime/read-parts.ts";

test.each([
  ["base64", "base64"],
  ["(x) base64 (y)", "base64"],
  ["base64(x)", "base64"],
  ["(a (b (c)) d)base64", "base64"],
  ["(a \\) b) base64", "base64"],
  ["text/plain; (x) charset=utf-8", "text/plain;   charset=utf-8"],
  ['attachment; filename="report (1).pdf"', 'attachment; filename="report (1).pdf"'],
  ['attachment; filename="a \\" (1).pdf"', 'attachment; filename="a \\" (1).pdf"'],
  ["attachment; filename=report (1.pdf", "attachment; filename=report (1.pdf"],
  [") base64", ") base64"],
  ["(x)", ""],
  ["", ""],
])("%s is %s", (value, plain) => {
  expect(withoutComments(value)).toBe(plain);
});

test("comments are removed in linear time", () => {
  for (const text of ["(".repeat(200_000), "()".repeat(200_000), '("'.repeat(200_000)]) {
    expect(withoutComments(text).length).toBeLessThanOrEqual(text.length);
  }
});

const HEAD = "From: a@b.test\r\nSubject: x\r\nMIME-Version: 1.0 (x)\r\n";
const HELLO = Buffer.from("Zwölf (12)").toString("base64");
const messages: [encoding: string, body: string][] = [
  ["(x) base64 (y)", HELLO],
  ["base64 (RFC 2045; part 6)", HELLO],
  ["(a, (b)) BASE64", HELLO],
  ["quoted-printable (qp)", "Zw=C3=B6lf (12)"],
  ["(base64) quoted-printable", "Zw=C3=B6lf (12)"],
  ["8bit (not base64)", "Zwölf (12)"],
];

describe.each(messages)("Content-Transfer-Encoding: %s", (encoding, body) => {
  const message = (type: string) =>
    Buffer.from(
      `${HEAD}Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`,
    );
  test.each(["text/plain; charset=utf-8", "(x) text/plain (y); charset=utf-8"])(
    "in a message of type %s",
    async (type) => {
      expect((await parseDetail(message(type))).text.trim()).toBe("Zwölf (12)");
      const [leaf] = leavesOf(readMessage(message(type)));
      if (leaf === undefined) throw new Error("no part");
      expect([leaf.type, textOfPart(leaf).trim()]).toEqual(["text/plain", "Zwölf (12)"]);
    },
  );

  test("in a part of a multipart", async () => {
    const part = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}`;
    const mixed = Buffer.from(
      `${HEAD}Content-Type: multipart/mixed (x); boundary=q (y)\r\n\r\n` +
        `--q\r\n${part}\r\n\r\n${body}\r\n--q--\r\n`,
    );
    expect((await parseDetail(mixed)).text.trim()).toBe("Zwölf (12)");
    const [leaf] = leavesOf(readMessage(mixed));
    expect(leaf === undefined ? null : textOfPart(leaf).trim()).toBe("Zwölf (12)");
  });
});

test("fields of a delivery status", () => {
  const text = (action: string, status: string, recipient: string) =>
    `Reporting-MTA: dns; mx.example.net\n\nFinal-Recipient: ${recipient}\nAction: ${action}\nStatus: ${status}\n`;
  const cases = [
    ["(not delayed) failed", "(was 4.2.2) 5.1.1 (unknown)", "rfc822; bob@example.net (Bob)"],
    ["failed (x)", "5.1.1", "rfc822; (Bob) <bob@example.net>"],
  ] as const;
  for (const each of cases) {
    expect(parseDeliveryStatus(text(each[0], each[1], each[2]))?.recipients).toMatchObject([
      { action: "failed", status: "5.1.1", finalRecipient: "bob@example.net" },
    ]);
  }
  expect(
    parseDeliveryStatus(text("(failed)", "(5.1.1)", "rfc822; a@b.test"))?.recipients,
  ).toMatchObject([{ action: "failed", status: "5.1.1" }]);
});
