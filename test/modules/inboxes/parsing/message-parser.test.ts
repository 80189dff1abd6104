/** Messages of real programs that mailparser alone reads wrong, or not at all. */

import { describe, expect, test } from "bun:test";
import {
  parseDetail,
  parseForIndex,
  parseParts,
} from "../../../../src/modules/inboxes/parsing/parse.ts";

const HEAD = "From: Ada <ada@example.org>\r\nTo: bob@example.com\r\nSubject: case\r\n";
const bytesOf = (message: string | Buffer) =>
  typeof message === "string" ? Buffer.from(message.replace(/\r?\n/g, "\r\n")) : message;
const index = (message: string | Buffer) => parseForIndex(bytesOf(message), []);
const detail = (message: string | Buffer) => parseDetail(bytesOf(message));

const mixed = (...parts: string[]) =>
  `${HEAD}Content-Type: multipart/mixed; boundary=q\r\n\r\n` +
  `${parts.map((part) => `--q\r\n${part}\r\n`).join("")}--q--\r\n`;

describe("a delimiter with blanks after it", () => {
  const padded = (blanks: string, message: string) =>
    message.replaceAll(/^(--q-?-?)$/gm, `$1${blanks}`);
  const message = mixed("\r\nhello", "Content-Type: application/pdf; name=a.pdf\r\n\r\nx");
  test.each([" ", "\t", " \t ", " ".repeat(300)])("%j", async (blanks) => {
    const text = padded(blanks, message.replaceAll("\r\n", "\n"));
    expect((await detail(text)).text).toBe("hello");
    const { parts } = await index(`${text}epilogue`);
    expect(parts.map(({ filename }) => filename)).toEqual(["a.pdf"]);
  });

  test("only the last one", async () => {
    const text = message.replace("--q--", "--q-- \t") + "epilogue\r\n";
    expect((await detail(text)).text).toBe("hello");
    expect((await index(text)).parts).toHaveLength(1);
  });

  test("a longer word or other characters are no padding", async () => {
    const text = mixed("\r\nhello\r\n--qx\r\n--q x\r\n--q--x");
    expect((await detail(text)).text).toBe("hello\r\n--qx\r\n--q x\r\n--q--x");
  });
});

describe("a part without a media type", () => {
  const attached = "Content-Disposition: attachment; filename=a.jpg\r\n";
  test.each([
    ["Content-Type:", "image/jpeg"],
    ["Content-Type: ;", "image/jpeg"],
    ['Content-Type: ; name="a.jpg"', "image/jpeg"],
    ["Content-Type: image", "image/jpeg"],
    ["Content-Type: image/", "image/jpeg"],
    ["Content-Type: /", "image/jpeg"],
    ["Content-Type: a b/c", "image/jpeg"],
    ["X-None: x", "image/jpeg"],
  ])("%s", async (field, type) => {
    const parsed = await index(mixed("\r\nhello", `${field}\r\n${attached}\r\nx`));
    expect(parsed).toMatchObject({ subject: "case", snippet: "hello" });
    expect(parsed.parts).toMatchObject([{ filename: "a.jpg", contentType: type, size: 1 }]);
  });

  test.each(["Content-Type:", "Content-Type: text", "Content-Type: ;"])(
    "%s is text without a name, in a part and in the root",
    async (field) => {
      expect((await index(mixed(`${field}\r\n\r\nhello`))).snippet).toBe("hello");
      expect((await index(`${HEAD}${field}\r\n\r\nhello`)).snippet).toBe("hello");
    },
  );
});

describe("a multipart without its boundary", () => {
  test("has the boundary of its first delimiter", async () => {
    const message = mixed("\r\nhello", "Content-Type: application/pdf; name=a.pdf\r\n\r\nx");
    const parsed = await index(message.replace("; boundary=q", ""));
    expect(parsed.snippet).toBe("hello");
    expect(parsed.parts.map(({ filename }) => filename)).toEqual(["a.pdf"]);
  });

  test("is text if it has no delimiter, also within another one", async () => {
    const field = "Content-Type: multipart/alternative\r\n\r\n";
    expect((await index(`${HEAD}${field}hello`)).snippet).toBe("hello");
    expect((await index(mixed(`${field}hello`))).snippet).toBe("hello");
  });
});

test("the first of repeated fields with a value counts", async () => {
  const parsed = await index(
    "From:\r\nFrom: a@x.example\r\nFrom: b@x.example\r\nSubject: one\r\nSubject: two\r\n" +
      "Date: Mon, 02 Mar 2026 10:00:00 +0100\r\nDate: Tue, 03 Mar 2026 10:00:00 +0100\r\n" +
      "Message-ID: <1@x>\r\nMessage-ID: <2@x>\r\nTo: c@x.example\r\nTo: d@x.example\r\n\r\nx",
  );
  expect(parsed).toMatchObject({
    subject: "one",
    messageId: "1@x",
    date: "2026-03-02T09:00:00.000Z",
    addresses: {
      from: [{ address: "a@x.example" }],
      to: [{ address: "c@x.example" }, { address: "d@x.example" }],
    },
  });
});

describe("a part without a name gets one", () => {
  test.each([
    ["Content-Type: application/pdf\r\nContent-Disposition: attachment", "part-2.pdf"],
    ["Content-Type: text/calendar; method=REQUEST", "invite.ics"],
    ["Content-Type: message/rfc822\r\nContent-Disposition: attachment", "message.eml"],
    ["Content-Type: image/png\r\nContent-Disposition: inline", "part-2.png"],
    ["Content-Type: application/x-unknown-thing", "part-2.bin"],
    ["Content-Type: text/csv", "part-2.csv"],
    ["Content-Type: image/png\r\nContent-ID: <a@b>", ""],
  ])("%s: %s", async (fields, filename) => {
    const message = mixed("\r\nhello", `${fields}\r\n\r\nSubject: inner\r\n\r\nx`);
    const { parts, snippet } = await index(message);
    expect(parts.map((part) => part.filename)).toEqual([filename]);
    expect(snippet).toBe("hello");
    const contents = await parseParts(bytesOf(message), ["2"]);
    expect(contents.get("2")?.byteLength).toBe(parts[0]?.size);
  });

  test.each([
    ["text/csv", "part-1.csv"],
    ["text/markdown", "text.md"],
    ["application/json", "part-1.json"],
    ["image/png", "part-1.png"],
  ])("a message that is nothing but %s has one attachment", async (type, filename) => {
    const { parts } = await index(`${HEAD}Content-Type: ${type}\r\n\r\nx,y`);
    expect(parts).toMatchObject([{ filename, contentType: type, size: 3 }]);
  });
});

describe("the charset of a text", () => {
  const latin = Buffer.from("S\u00f8nderjylland", "latin1");
  const html = (meta: string, text: Buffer, parameter = "") =>
    Buffer.concat([
      Buffer.from(`${HEAD}Content-Type: text/html${parameter}\r\n\r\n<html><head>${meta}</head>`),
      text,
    ]);
  const plain = (parameter: string, text: Buffer) =>
    Buffer.concat([Buffer.from(`${HEAD}Content-Type: text/plain${parameter}\r\n\r\n`), text]);
  const gbk = Buffer.from([0xc4, 0xe3, 0xba, 0xc3]);

  test.each<[string, Buffer, string]>([
    ["meta charset", html('<meta charset="iso-8859-1">', latin), "Sønderjylland"],
    [
      "meta http-equiv",
      html('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">', latin),
      "Sønderjylland",
    ],
    ["meta gbk", html("<META charset=gbk />", gbk), "你好"],
    ["meta, and us-ascii declared", html("<meta charset=gbk>", gbk, "; charset=us-ascii"), "你好"],
    ["meta against UTF-8 bytes", html("<meta charset=gbk>", Buffer.from("ø")), "ø"],
    ["an unknown meta", html("<meta charset=no-such>", latin), "Sønderjylland"],
    ["none, and no UTF-8", plain("", latin), "Sønderjylland"],
    ["binary", plain("; charset=binary", latin), "Sønderjylland"],
    ["an unknown one", plain("; charset=x-no-such-thing", Buffer.from("ø")), "ø"],
    ["ISO-2022-JP that is not declared", plain("", Buffer.from('\x1b$B$"\x1b(B')), "あ"],
    ["ISO-2022-JP", plain("; charset=ISO-2022-JP", Buffer.from('\x1b$B$"\x1b(B')), "あ"],
    ["HZ", plain("; charset=hz-gb-2312", Buffer.from("~{Dc:C~} a~~b")), "你好 a~b"],
    ["ISO-2022-KR", plain("; charset=iso-2022-kr", Buffer.from("\x1b$)C\x0e>H3g\x0f a")), "안녕 a"],
    ["UTF-7", plain("; charset=utf-7", Buffer.from("+AOQ-")), "ä"],
    ["windows-1250", plain("; charset=windows-1250", Buffer.from([0xe8])), "č"],
    ["cp949", plain("; charset=cp949", Buffer.from([0xb0, 0xa1])), "가"],
  ])("%s", async (_, message, expected) => {
    const { text, html: shown } = await detail(message);
    expect(text + shown).toEndWith(expected);
    expect((await index(message)).snippet).toEndWith(expected);
  });
});

test("line ends are those of the message", async () => {
  const base64 = `Content-Transfer-Encoding: base64\r\n\r\n${btoa("<p>a\nb</p>")}`;
  const parts = mixed("\r\na\r\nb", `Content-Type: text/html\r\n${base64}`);
  const message = parts.replace("mixed", "alternative");
  expect(await detail(message)).toMatchObject({ text: "a\r\nb", html: "<p>a\nb</p>" });
  const root = await detail(`${HEAD}\r\na\r\nb\r\n`);
  expect(root.text).toBe("a\r\nb\r\n");
});

test("HTML and text beside each other stay as they are", async () => {
  const html = "Content-Type: text/html\r\n\r\n<p>a</p>";
  expect(await detail(mixed("\r\ntext", html))).toMatchObject({ text: "text", html: "<p>a</p>" });
  expect(await detail(mixed(html, "\r\ntext"))).toMatchObject({ text: "text", html: "<p>a</p>" });
  expect(await detail(mixed(html, html))).toMatchObject({
    text: "",
    html: "<p>a</p><br/>\n<p>a</p>",
  });
  expect(await detail(mixed("\r\none", "\r\ntwo"))).toMatchObject({ text: "one\ntwo", html: "" });
});

test("a forwarded message is shown with its header", async () => {
  const inner = "Subject: inner\r\nFrom: c@x.example\r\n\r\nforwarded";
  const { text } = await detail(
    mixed(
      "\r\nhello",
      `Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\n${inner}`,
    ),
  );
  expect(text).toContain("hello");
  expect(text).toContain("Subject: inner");
  expect(text).toContain("forwarded");
});

describe("what cannot be split into parts is listed with its header and its text", () => {
  test.each([
    [
      "too many parts",
      mixed(
        ..."x"
          .repeat(1_100)
          .split("")
          .map(() => "\r\nhello"),
      ),
    ],
    ["a part with a header of 2 MB", mixed(`X-Long: ${"x".repeat(2_000_000)}\r\n\r\nhello`)],
  ])("%s", async (_, message) => {
    const parsed = await index(message);
    expect(parsed).toMatchObject({
      subject: "case",
      addresses: { from: [{ address: "ada@example.org" }], to: [{ address: "bob@example.com" }] },
    });
    expect((await detail(message)).text).not.toBe("");
  });
});

test("hostile input needs linear time", async () => {
  const started = performance.now();
  await index(`${HEAD}Content-Type: text/html\r\n\r\n${"<meta ".repeat(100_000)}`);
  await index(`${HEAD}Content-Type: text/plain; charset=hz-gb-2312\r\n\r\n${"~{".repeat(100_000)}`);
  await index(
    `${HEAD}Content-Type: text/plain; charset=iso-2022-kr\r\n\r\n${"\x0e".repeat(200_000)}`,
  );
  await index(mixed(`\r\n${`--q${" ".repeat(1000)}x\r\n`.repeat(500)}`));
  expect(performance.now() - started).toBeLessThan(3_000);
});
