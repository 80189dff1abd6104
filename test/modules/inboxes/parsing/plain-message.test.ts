/** Plain messages are parsed without mailparser; the results are those of mailparser. */

import { describe, expect, test } from "bun:test";
import { parseForIndex } from "../../../../src/modules/inboxes/parsing/parse.ts";
import { parsePlain } from "../../../../src/modules/inboxes/parsing/plain-message.ts";

const RECIPIENTS = ["b@example.com", "hidden@example.com"];
const DATE = "Date: Sun, 22 Nov 2026 10:00:00 +0100\r\n";
const HEAD = `From: Ada <a@example.com>\r\nTo: b@example.com\r\nSubject: Hello\r\n${DATE}`;
const BODY = "Hi Bob,\r\n\r\nline\r\n";
const withType = (type: string) => `${HEAD}Content-Type: ${type}\r\n\r\n${BODY}`;

/** This field changes nothing for mailparser, and a message that has it is not plain. */
const parseWhole = (message: Buffer) =>
  parseForIndex(
    Buffer.concat([Buffer.from("Content-Disposition: inline\r\n"), message]),
    RECIPIENTS,
  );

async function compare(message: Buffer): Promise<void> {
  const plain = parsePlain(message, RECIPIENTS);
  if (plain === null) throw new Error(`the message is not plain: ${message.toString("latin1")}`);
  expect(plain).toEqual(await parseWhole(message));
}

describe("equals mailparser", () => {
  const cases: [name: string, message: string][] = [
    ["a text", `${HEAD}\r\n${BODY}`],
    ["a text with bare LFs", `${HEAD}\r\n${BODY.replaceAll("\r\n", "\n")}`],
    ["no text", `${HEAD}\r\n`],
    ["only line ends", `${HEAD}\r\n\r\n\r\n`],
    [
      "UTF-8",
      withType('text/plain; charset="UTF-8"').replace("Bob", "B\u00f6b \u4e2d\ud83d\ude00"),
    ],
    ["ASCII with other bytes", withType("text/plain; charset=us-ascii").replace("Bob", "B\u00f6b")],
    ["7bit", `Content-Transfer-Encoding: 7bit\r\n${HEAD}\r\n${BODY}`],
    ["8bit", `Content-Transfer-Encoding: 8bit\r\n${HEAD}\r\n${BODY}`],
    ["folded fields that are not needed", `${HEAD}X-Long: a\r\n\tb\r\n c\r\n\r\nx`],
    ["many recipients", `${HEAD}Cc: "A, B" <a@x.example>, C <c@x.example>,d@x.example\r\n\r\nx`],
    ["Bcc and Reply-To", `${HEAD}Bcc: <d@x.example>\r\nReply-To: R <r@x.example>\r\n\r\nx`],
    ["an id", `${HEAD}Message-ID: <a.1@b>\r\nReferences: <c@d> <e@f>\r\n\r\nx`],
    ["an id without brackets", `${HEAD}Message-ID: a@b\r\n\r\nx`],
    ["an empty subject", "Subject:\r\n\r\nx"],
    ["tags in addresses", `${HEAD}Cc: ada+signup+test@x.example\r\n\r\nx`],
    [
      "a body that looks like a part",
      `${HEAD}\r\n--a\r\nContent-Type: text/html\r\n\r\nx\r\n--a--`,
    ],
    ["NUL in the body", `${HEAD}\r\na\0b`],
    [
      "trace fields",
      `Return-Path: <a@b.example>\r\nReceived: from x (y)\r\n\tby z;\r\n\tnow\r\n${HEAD}\r\nx`,
    ],
  ];
  test.each(cases)("%s", (_, message) => compare(Buffer.from(message)));
});

describe("leaves to mailparser", () => {
  const cases: [name: string, message: string][] = [
    ["a header that no blank line ends", `${HEAD}a line\r\n\r\nx`],
    ["HTML after the last field", `${HEAD}<p style="a:b">\r\n\r\nx`],
    ["nothing", ""],
    ["no header", `\r\n${BODY}`],
    ["only a header", HEAD],
    ["a header with bare LFs", `${HEAD}\r\n${BODY}`.replaceAll("\r\n", "\n")],
    ["a bare LF in a field", `X-A: b\nSubject: c\r\n${HEAD}\r\nx`],
    ["a space after the name of a field", `To : b@x.example\r\nSubject: c\r\n\r\nx`],
    ["several parts", withType("multipart/mixed; boundary=a")],
    ["another charset", withType("text/plain; charset=iso-8859-1")],
    ["flowed text", withType("text/plain; format=flowed")],
    ["HTML", withType("text/html; charset=utf-8")],
    ["base64", `Content-Transfer-Encoding: base64\r\n${HEAD}\r\nSGk=`],
    ["quoted-printable", `Content-Transfer-Encoding: Quoted-Printable\r\n${HEAD}\r\na=3D`],
    ["an attachment", `Content-Disposition: attachment; filename=a.txt\r\n${HEAD}\r\nx`],
    ["a field twice", `${HEAD}To: c@x.example\r\n\r\nx`],
    ["a needed field that is folded", `${HEAD}Cc: c@x.example,\r\n d@x.example\r\n\r\nx`],
    ["the first line is folded", ` x\r\n${HEAD}\r\nx`],
    ["encoded words", `${HEAD}X-A: b\r\n\r\nx`.replace("Hello", "=?utf-8?Q?H=C3=A4llo?=")],
    ["8-bit fields", `${HEAD}\r\nx`.replace("Hello", "B\u00fccher")],
    ["an A-label", `${HEAD}Cc: a@xn--bcher-kva.example\r\n\r\nx`],
    ["a group", `${HEAD}Cc: Team: a@x.example, b@x.example;\r\n\r\nx`],
    ["a comment", `${HEAD}Cc: a@x.example (Ada)\r\n\r\nx`],
    ["an escape in a name", `${HEAD}Cc: "A \\" B" <a@x.example>\r\n\r\nx`],
    ["tags", `${HEAD}X-Tags: a, b\r\n\r\nx`],
    ["no date", `${HEAD}\r\nx`.replace(DATE, "Date: soon\r\n")],
    ["a line without a colon", "Subject: x\r\nnothing\r\n\r\nx"],
    ["the line of an mbox", `From a@b.example Sun Nov 22\r\n${HEAD}\r\nx`],
    ["a long body", `${HEAD}\r\n${"x".repeat(4 * 1024)}`],
    ["a long header", `${HEAD}X-A: ${"x".repeat(8 * 1024)}\r\n\r\nx`],
  ];
  test.each(cases)("%s", (_, message) => {
    expect(parsePlain(Buffer.from(message), RECIPIENTS)).toBeNull();
  });
});

test.each([3, 4])("random headers, seed %i", async (first) => {
  let seed = first;
  const below = (limit: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * limit);
  };
  const characters = [
    ...Array.from("aB9 '\"<>@,.:;()&!+-_=?%/*#$|~{}^`\\\t[]"),
    "a@b.example",
    "<a@b.example>",
  ];
  const names = ["From", "To", "Cc", "Bcc", "Reply-To", "Subject", "Message-ID", "X-Other", "to "];
  const values = ["a@b.example", '"A, B" <c@d.example>', "Ada  <x@y.example>", "1", ""];
  const random = <T>(list: readonly T[]): T | undefined => list[below(list.length)];
  const valueOf = () =>
    below(2) === 0
      ? Array.from({ length: 1 + below(2) }, () => random(values)).join(", ")
      : Array.from({ length: below(9) }, () => random(characters)).join("");
  let plain = 0;
  for (let round = 0; round < 3_000; round++) {
    const lines = Array.from({ length: 1 + below(2) }, () => `${random(names)}: ${valueOf()}\r\n`);
    const message = Buffer.from(`${lines.join("")}\r\ntext ${round}`);
    if (parsePlain(message, RECIPIENTS) === null) continue;
    plain++;
    await compare(message);
  }
  expect(plain).toBeGreaterThan(500);
});
