/** Messages of one text are parsed without streams; the results are those of mailparser. */

import { describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { parseSimple } from "../../../../src/modules/inboxes/parsing/simple-message.ts";

const OPTIONS = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipImageLinks: true,
  skipTextLinks: true,
} as const;

const DATE = "Date: Sun, 22 Nov 2026 10:00:00 +0100\r\n";
const HEAD = `From: Ada <a@example.com>\r\nTo: b@example.com\r\nSubject: Hello\r\n${DATE}`;
const BODY = "Hi Bob,\r\n\r\nline\r\n";
const withType = (type: string) => `${HEAD}Content-Type: ${type}\r\n\r\n${BODY}`;

/** The addresses without their HTML, which nothing shows. */
const withoutHtml = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (name, each) => (name === "html" ? undefined : each)));

async function compare(raw: Buffer): Promise<void> {
  const simple = parseSimple(raw);
  if (simple === null) throw new Error("the message is not simple");
  const whole = await simpleParser(raw, OPTIONS);
  expect(simple.text).toBe(whole.text);
  expect(simple.html).toBe(whole.html);
  expect(simple.subject).toBe(whole.subject);
  expect(simple.messageId).toBe(whole.messageId);
  expect(simple.date).toEqual(whole.date);
  expect(simple.attachments).toEqual(whole.attachments);
  for (const name of ["from", "to", "cc", "bcc", "replyTo"] as const) {
    expect([name, withoutHtml([simple[name] ?? []].flat())]).toEqual([
      name,
      withoutHtml([whole[name] ?? []].flat()),
    ]);
  }
  expect(simple.headers.get("x-tags")).toEqual(whole.headers.get("x-tags"));
}

describe("equals the whole parser", () => {
  const cases: [name: string, message: string][] = [
    ["a text", `${HEAD}\r\n${BODY}`],
    ["a text with bare LFs", `${HEAD}\r\n${BODY}`.replaceAll("\r\n", "\n")],
    ["lines that end differently", `${HEAD}\n${BODY}\nx\r\ny`],
    ["an empty line with spaces", `Subject: x\r\n \r\nX-Y: z\r\n\r\n${BODY}`],
    ["no text", `${HEAD}\r\n`],
    ["only line ends", `${HEAD}\r\n\r\n\r\n`],
    ["HTML", withType("text/html; charset=utf-8")],
    ["empty HTML", `${HEAD}Content-Type: text/html\r\n\r\n`],
    [
      "UTF-8",
      withType('text/plain; charset="UTF-8"').replace("Bob", "B\u00f6b \u4e2d\ud83d\ude00"),
    ],
    ["ASCII with other bytes", withType("text/plain; charset=us-ascii").replace("Bob", "B\u00f6b")],
    ["a name", withType("text/plain; charset=utf-8; name=a.txt")],
    ["inline", `Content-Disposition: inline; filename=a.txt\r\n${HEAD}\r\n${BODY}`],
    ["8bit", `Content-Transfer-Encoding: 8bit\r\n${HEAD}\r\n${BODY}`],
    ["an unknown encoding", `Content-Transfer-Encoding: secret\r\n${HEAD}\r\n${BODY}`],
    [
      "folded fields",
      `${HEAD}X-Long: a\r\n\tb\r\n c\r\nTo: c@example.com,\r\n d@example.com\r\n\r\nx`,
    ],
    [
      "several fields of one name",
      `${HEAD}To: c@x.example\r\nFrom: z@x.example\r\nSubject: 2\r\n\r\nx`,
    ],
    [
      "many recipients",
      `${HEAD}Cc: "A, B" <a@x.example>, C <c@x.example>\r\nBcc: d@x.example\r\n\r\nx`,
    ],
    ["a group", `${HEAD}Cc: Team: a@x.example, b@x.example;\r\n\r\nx`],
    ["Reply-To", `${HEAD}Reply-To: R <r@x.example>\r\n\r\nx`],
    ["encoded words", `Subject: =?utf-8?Q?H=C3=A4llo?= =?utf-8?B?8J+YgA==?=\r\n${HEAD}\r\nx`],
    ["an encoded address", "From: =?utf-8?B?QSA8YUBiLmM+?=\r\n\r\nx"],
    ["an A-label", "From: a@xn--bcher-kva.example\r\n\r\nx"],
    ["8-bit fields", "Subject: B\u00fccher\r\nFrom: \u00dc <u@x.example>\r\n\r\nx"],
    ["ids", `${HEAD}Message-ID: <a@b>\r\nReferences: <c@d> <e@f>\r\nIn-Reply-To: g@h\r\n\r\nx`],
    ["an id without brackets", "Message-ID: a@b\r\n\r\nx"],
    ["an empty id", "Message-ID:\r\nSubject:\r\n\r\nx"],
    ["tags and lists", `${HEAD}X-Tags: a, b\r\nList-Unsubscribe: <https://x.example/u>\r\n\r\nx`],
    ["priorities", "X-Priority: 1 (Highest)\r\nImportance: low\r\n\r\nx"],
    ["a line without a colon", "Subject: x\r\nnothing\r\n\r\nx"],
    ["the line of an mbox", `From a@b.example Sun Nov 22\r\n${HEAD}\r\nx`],
    [
      "trace fields",
      `Return-Path: <a@b.example>\r\nReceived: from x (y)\r\n\tby z;\r\n\tnow\r\n${HEAD}\r\nx`,
    ],
    [
      "a body that looks like a part",
      `${HEAD}\r\n--a\r\nContent-Type: text/html\r\n\r\nx\r\n--a--`,
    ],
    ["NUL", `${HEAD}\r\na\0b`],
  ];
  test.each(cases)("%s", (_, message) => compare(Buffer.from(message)));

  test("bytes that are not UTF-8", () => compare(Buffer.from(`${HEAD}\r\nB\u00fccher`, "latin1")));
});

describe("leaves to the whole parser", () => {
  const cases: [name: string, message: string][] = [
    ["nothing", ""],
    ["no header", `\r\n${BODY}`],
    ["only a header", HEAD],
    ["several parts", withType("multipart/mixed; boundary=a")],
    ["another charset", withType("text/plain; charset=iso-8859-1")],
    ["flowed text", withType("text/plain; format=flowed")],
    ["a boundary", withType("text/plain; boundary=a")],
    ["base64", `Content-Transfer-Encoding: base64\r\n${HEAD}\r\nSGk=`],
    ["quoted-printable", `Content-Transfer-Encoding: Quoted-Printable\r\n${HEAD}\r\na=3D`],
    ["an attachment", `Content-Disposition: attachment; filename=a.txt\r\n${HEAD}\r\nx`],
    ["another type", withType("application/pdf; name=a.pdf")],
    ["a message", withType("message/rfc822")],
    ["a large text", `${HEAD}\r\n${"x".repeat(64 * 1024)}`],
  ];
  test.each(cases)("%s", (_, message) => {
    expect(parseSimple(Buffer.from(message))).toBeNull();
  });
});

test("one message changes nothing in the next", async () => {
  expect(parseSimple(Buffer.from(withType("multipart/mixed; boundary=a")))).toBeNull();
  await compare(Buffer.from(`${HEAD}\r\n${BODY}`));
});

test("random headers", async () => {
  const names = ["From", "To", "Subject", "Date", "Cc", "X-A", "List-Id", "Message-ID", "Priority"];
  const values = [
    "a@b.example",
    '"x" <y@z.example>',
    "=?utf-8?Q?=C3=A4?=",
    "1",
    ";",
    "<>",
    "(c)",
    "",
  ];
  let seed = 3;
  const random = <T>(list: readonly T[]): T | undefined => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return list[Math.floor((seed / 2147483648) * list.length)];
  };
  for (let round = 0; round < 300; round++) {
    const lines = Array.from({ length: 1 + (round % 6) }, () => {
      const name = random(names) ?? "";
      // Without a valid date, mailparser takes the present time.
      const value = name === "Date" ? "Sun, 22 Nov 2026 10:00:00 +0100" : random(values);
      return `${name}: ${value} ${name === "Date" ? "" : random(values)}\r\n`;
    });
    await compare(Buffer.from(`${lines.join("")}\r\ntext ${round}`));
  }
});
