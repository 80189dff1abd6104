/**
 * Messages that a comparison with an independent parser found (scripts/compare-parsers.ts): each is
 * read in full, although it breaks a rule of MIME. The messages are written for these tests.
 */

import { describe, expect, test } from "bun:test";
import {
  parseDetail,
  parseForIndex,
  parseParts,
} from "../../../../src/modules/inboxes/parsing/parse.ts";
import { decodeUuencode } from "../../../../src/modules/inboxes/parsing/uuencode.ts";

const HEAD = "From: Ada <ada@example.org>\nSubject: case\n";
const bytesOf = (text: string) => Buffer.from(text.replaceAll("\n", "\r\n"), "latin1");

/** The text and the HTML, and the type and name of each file. */
async function read(message: string) {
  const raw = bytesOf(message);
  const { subject, snippet, parts } = await parseForIndex(raw, []);
  const { text, html } = await parseDetail(raw);
  const files = parts.map(({ contentType, filename }) => `${contentType} ${filename}`);
  expect(subject).toBe("case");
  return { text: text.trim(), html: html.trim(), files, snippet };
}

describe("an inner multipart without its end", () => {
  const part = (type: string, text: string) => `Content-Type: ${type}\n\n${text}\n`;
  const inner = (subtype: string, boundary: string) =>
    `Content-Type: multipart/${subtype}; boundary=${boundary}\n\n`;

  test.each(["", "--inner"])("ends with the next part of the outer one, after %j", async (last) => {
    const message =
      `${HEAD}${inner("mixed", "outer")}--outer\n${inner("alternative", "inner")}` +
      `--inner\n${part("text/plain", "text")}--inner\n${part("text/html", "<p>html</p>")}${last}\n` +
      `--outer\n${part("application/pdf; name=a.pdf", "x")}--outer--\n`;
    expect(await read(message)).toMatchObject({
      text: "text",
      html: "<p>html</p>",
      files: expect.arrayContaining(["application/pdf a.pdf"]),
    });
  });

  test("ends with that of the outermost one", async () => {
    const message =
      `${HEAD}${inner("mixed", "a")}--a\n${inner("related", "b")}--b\n${inner("alternative", "c")}` +
      `--c\n${part("text/plain", "text")}--a\n${part("image/png; name=a.png", "x")}--a--\n--a\nepilogue`;
    expect(await read(message)).toMatchObject({ text: "text", files: ["image/png a.png"] });
  });

  test("a boundary that begins with another one is another one", async () => {
    const message =
      `${HEAD}${inner("mixed", "ab")}--ab\n${inner("mixed", "a")}--a\n${part("text/plain", "one")}` +
      `--ab\n${part("text/html", "two")}--ab--\n`;
    expect(await read(message)).toMatchObject({ text: "one", html: "two" });
  });
});

describe("a body that no blank line separates from the header", () => {
  test.each([
    ["of the message", `${HEAD}The text begins here.\nIt goes on.\n\nAnd on.`],
    ["of the message, at its end", `${HEAD}The text begins here.\nIt goes on.\nAnd on.\n`],
    [
      "after a line of a blank",
      `${HEAD}X-Mailer: a\n \nThe text begins here.\nIt goes on.\n\nAnd on.`,
    ],
    [
      "of a part",
      `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n` +
        "The text begins here.\nIt goes on.\n\nAnd on.\n--b--\n",
    ],
  ])("%s", async (_, message) => {
    const { text, snippet } = await read(message);
    expect(text.replace(/\s+/g, " ")).toBe("The text begins here. It goes on. And on.");
    expect(snippet).toBe("The text begins here. It goes on. And on.");
  });

  test("of HTML", async () => {
    const { html } = await read(`${HEAD}Content-Type: text/html\n<p style="a:b">x</p>\n\n<p>y</p>`);
    expect(html.replace(/\s+/g, "")).toBe('<pstyle="a:b">x</p><p>y</p>');
  });

  test("a line in the middle of a header begins no body", async () => {
    const message = `From: Ada <ada@example.org>\na stray line\nSubject: case\n\ntext`;
    expect(await read(message)).toMatchObject({ text: "text" });
  });

  test("a part that has only a header is a part", async () => {
    const type = "Content-Type: multipart/mixed; boundary=b\n\n";
    const file = "Content-Disposition: attachment; filename=empty.txt\n";
    const message = `${HEAD}${type}--b\n${file}--b\nContent-Type: text/plain\n\ntext\n--b--\n`;
    expect(await read(message)).toMatchObject({ text: "text", files: ["text/plain empty.txt"] });
  });
});

describe("a multipart of whose boundary there is no delimiter", () => {
  const part = "Content-Type: text/plain\n\ntext\n";
  test.each([
    ["another boundary", "boundary=a", `--b\n${part}--b--\n`],
    ["blanks at the end of the boundary", 'boundary="b  "', `--b\n${part}--b--\n`],
    ["blanks at the end of both", 'boundary="b  "', `--b  \n${part}--b--  \n`],
    ["no delimiter at all", "boundary=a", "text"],
  ])("%s", async (_, boundary, body) => {
    const message = `${HEAD}Content-Type: multipart/mixed; ${boundary}\n\n${body}`;
    expect(await read(message)).toMatchObject({ text: "text", files: [] });
  });

  test("inside of another one", async () => {
    const message =
      `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\n` +
      `Content-Type: multipart/related; boundary=c\n\ntext\n--b--\n`;
    expect(await read(message)).toMatchObject({ text: "text" });
  });
});

describe("a charset that cannot be meant", () => {
  test.each([
    ["utf-8", "Gr\xfc\xdfe", "Grüße"],
    ["utf-8", "<p>Gr\xfc\xdfe</p>", "<p>Grüße</p>"],
    ["gb2312", Buffer.from("你好，张经理").toString("latin1"), "你好，张经理"],
    ["us-ascii", Buffer.from("Grüße").toString("latin1"), "Grüße"],
    ["shift_jis", Buffer.from("Grüße 3\u00a0€").toString("latin1"), "Grüße 3\u00a0€"],
    // A character that was cut does not make the others wrong.
    ["utf-8", `${Buffer.from("Grüße").toString("latin1")} \xc3`, "Grüße \ufffd"],
    ["iso-8859-1", Buffer.from("ü").toString("latin1"), "Ã¼"],
  ])("%s: %j", async (charset, body, expected) => {
    const type = body.startsWith("<") ? "text/html" : "text/plain";
    const field = `Content-Type: ${type}; charset=${charset}\nContent-Transfer-Encoding: 8bit\n`;
    const { text, html } = await read(`${HEAD}${field}\n${body}`);
    expect(text + html).toBe(expected);
  });
});

describe("a uuencoded file", () => {
  const BYTES = Buffer.from(Array.from({ length: 100 }, (_, i) => (i * 37) % 256));
  /** The bytes in lines of 45. */
  const encoded = (zero: string) => {
    const lines: string[] = [];
    for (let at = 0; at < BYTES.length; at += 45) {
      const line = BYTES.subarray(at, at + 45);
      const values = [line.length];
      for (let i = 0; i < line.length; i += 3) {
        const [a = 0, b = 0, c = 0] = line.subarray(i, i + 3);
        values.push(a >> 2, ((a & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63);
      }
      lines.push(
        values.map((each) => (each === 0 ? zero : String.fromCharCode(32 + each))).join(""),
      );
    }
    return lines;
  };
  const file = (lines: readonly string[]) =>
    ["begin 644 a.bin", ...lines, "`", "end", ""].join("\n");

  test.each(["x-uuencode", "uuencode", "X-UUE"])("as %s is decoded", async (encoding) => {
    const raw = bytesOf(
      `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\n` +
        "Content-Type: application/octet-stream; name=a.bin\n" +
        `Content-Transfer-Encoding: ${encoding}\n\n${file(encoded("`"))}--b--\n`,
    );
    const [part] = (await parseForIndex(raw, [])).parts;
    expect(part).toMatchObject({ filename: "a.bin", size: BYTES.length });
    const contents = await parseParts(raw, [part?.partId ?? ""]);
    expect(Buffer.from(contents.get(part?.partId ?? "") ?? [])).toEqual(BYTES);
  });

  test("may have blanks for zeros, which may be cut from the ends of lines", () => {
    const lines = encoded(" ");
    expect(decodeUuencode(Buffer.from(file(lines)))).toEqual(BYTES);
    const cut = lines.map((line) => line.trimEnd());
    expect(decodeUuencode(Buffer.from(file(cut)))).toEqual(BYTES);
  });

  test("in the form with base64", () => {
    const text = `begin-base64 644 a.bin\n${BYTES.toString("base64")}\n====\n`;
    expect(decodeUuencode(Buffer.from(text))).toEqual(BYTES);
  });

  test("without its first line is left as it is", () => {
    expect(decodeUuencode(Buffer.from("text"))).toEqual(Buffer.from("text"));
  });
});

describe("a field about the content that breaks its rules", () => {
  test.each(["base64;", '"base64"', "base64, 7bit", "base-64", "X-Base64", "<base64>"])(
    "the encoding %s is base64",
    async (encoding) => {
      const field = `Content-Transfer-Encoding: ${encoding}\n`;
      expect(await read(`${HEAD}${field}\naGVsbG8=`)).toMatchObject({ text: "hello" });
    },
  );

  test.each(["quoted-printable;", "Quoted Printable", "quoted_printable", "'quoted-printable'"])(
    "the encoding %s is quoted-printable",
    async (encoding) => {
      const field = `Content-Transfer-Encoding: ${encoding}\n`;
      expect(await read(`${HEAD}${field}\na=3Db`)).toMatchObject({ text: "a=b" });
    },
  );

  test.each(["7-bit", "8bits", "plain", "text/html", "x-unknown"])(
    "the encoding %s changes nothing",
    async (encoding) => {
      const field = `Content-Transfer-Encoding: ${encoding}\n`;
      expect(await read(`${HEAD}${field}\na=3Db`)).toMatchObject({ text: "a=3Db" });
    },
  );

  test.each([
    ["Content-Disposition: attachment; name=a.pdf", "application/pdf a.pdf"],
    ["Content-Disposition: attachment filename=a.pdf", "application/pdf a.pdf"],
    ["Content-Disposition: attachment; filename='a.pdf'", "application/pdf a.pdf"],
    ["Content-Type: application/pdf name=a.pdf", "application/pdf a.pdf"],
    ['Content-Type: application/pdf, name="a b.pdf"', "application/pdf a b.pdf"],
    ["Content-Type: application/octet-stream", "application/octet-stream part-1.bin"],
  ])("%s", async (field, file) => {
    const type = "Content-Type: multipart/mixed; boundary=b\n\n";
    expect(await read(`${HEAD}${type}--b\n${field}\n\nx\n--b--\n`)).toMatchObject({
      files: [file],
    });
  });

  test.each([
    "multipart/mixed boundary=b",
    'multipart/mixed\n boundary="b"',
    "multipart/mixed, boundary=b",
  ])("Content-Type: %j", async (type) => {
    const file = "--b\nContent-Type: application/pdf; name=a.pdf\n\nx\n";
    const message = `${HEAD}Content-Type: ${type}\n\npreamble\n--b\n\ntext\n${file}--b--\n`;
    expect(await read(message)).toMatchObject({ text: "text", files: ["application/pdf a.pdf"] });
  });

  test("a subject whose octets are no UTF-8 is Windows-1252", async () => {
    const subject = async (text: string) =>
      (await parseForIndex(bytesOf(`From: a@b.example\nSubject: ${text}\n\n\xe4`), [])).subject;
    expect(await subject("Fr\xf6sche \x96 \x80")).toBe("Frösche – €");
    expect(await subject(Buffer.from("Frösche").toString("latin1"))).toBe("Frösche");
  });
});
