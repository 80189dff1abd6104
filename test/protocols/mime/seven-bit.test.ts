import { describe, expect, test } from "bun:test";
import { isAscii } from "node:buffer";
import { createContentCheck } from "../../../src/protocols/mime/content-check.ts";
import { createPartEncoder, createPartSurvey } from "../../../src/protocols/mime/seven-bit.ts";

/** Reads the message in pieces of this size, and returns it with the parts encoded. */
function encode(message: Buffer, size: number): { treatments: readonly string[]; text: string } {
  const pieces = Array.from({ length: Math.ceil(message.byteLength / size) }, (_, n) =>
    message.subarray(n * size, (n + 1) * size),
  );
  const survey = createPartSurvey();
  for (const piece of pieces) survey.add(Buffer.from(piece));
  const treatments = survey.end();
  const written: Buffer[] = [];
  const encoder = createPartEncoder(treatments, (bytes) => void written.push(Buffer.from(bytes)));
  for (const piece of pieces) encoder.add(Buffer.from(piece));
  encoder.end();
  return { treatments, text: Buffer.concat(written).toString("latin1") };
}

const crlf = (text: string) => Buffer.from(text.replaceAll("\n", "\r\n"));

const MIXED = crlf(`From: a@b.test
MIME-Version: 1.0
Content-Transfer-Encoding: 8bit
Content-Type: multipart/mixed;
 boundary="=_one two"

preamble
--=_one two
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Zwölf = 12
--inner
Content-Type: text/html

<p>plain --inner</p>
--not a delimiter
--inner--
--=_one two
Content-Type: message/rfc822

Subject: within
Content-Type: text/plain; charset=utf-8

Mit vielen freundlichen Grüßen

--=_one two--
epilogue
`);

describe("a message with 8-bit parts", () => {
  for (const size of [1, 7, 64, 100_000]) {
    test(`is encoded the same when it arrives in pieces of ${size} octets`, () => {
      const { treatments, text } = encode(MIXED, size);
      expect(treatments).toEqual([
        "none",
        "none",
        "quoted-printable",
        "none",
        "none",
        "quoted-printable",
      ]);
      expect(isAscii(Buffer.from(text, "latin1"))).toBe(true);
      const expected = MIXED.toString()
        .replace(
          "Content-Transfer-Encoding: 8bit\r\nContent-Type: multipart",
          "Content-Type: multipart",
        )
        .replace('two"\r\n\r\npre', 'two"\r\nContent-Transfer-Encoding: 7bit\r\n\r\npre')
        .replace(": 8bit\r\n\r\nZwölf = 12", ": quoted-printable\r\n\r\nZw=C3=B6lf =3D 12")
        .replace(
          "charset=utf-8\r\n\r\nMit vielen freundlichen Grüßen",
          "charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nMit vielen freundlichen Gr=C3=BC=C3=9Fen",
        );
      expect(text).toBe(expected);
    });
  }

  test("that cannot be encoded is refused", () => {
    const part = (fields: string) =>
      crlf(`Content-Type: multipart/mixed; boundary=b\n\n--b\n${fields}\n\nä\n--b--`);
    const fault = (message: Buffer) => () => encode(message, 1_000);
    expect(fault(part("Content-Transfer-Encoding: quoted-printable"))).toThrow(
      "says quoted-printable",
    );
    expect(fault(part("Content-Transfer-Encoding: x-uuencode"))).toThrow("says x-uuencode");
    expect(fault(part("no field"))).toThrow("a line that is not a header field");
    const deep = Array.from(
      { length: 40 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
    );
    expect(fault(crlf(`${deep.join("")}\n\nä`))).toThrow("nested too deeply");
    const many = `Content-Type: multipart/mixed; boundary=b\n\n${"--b\n\nä\n".repeat(1_100)}`;
    expect(fault(crlf(many))).toThrow("more than 1000 parts");
  });
});

test("base64 in one long line is broken, and other octets in it are removed", () => {
  const data = Buffer.from(Array.from({ length: 1_500 }, (_, n) => n % 251)).toString("base64");
  const message = crlf(`Content-Transfer-Encoding: base64\n\n${data}`);
  const { treatments, text } = encode(message, 333);
  expect(treatments).toEqual(["lines"]);
  const body = text.slice(text.indexOf("\r\n\r\n") + 4).trimEnd();
  expect(Math.max(...body.split("\r\n").map(({ length }) => length))).toBe(76);
  expect(body.replaceAll("\r\n", "")).toBe(data);
});

test("quoted-printable and base64 keep every octet, whatever the pieces", () => {
  for (const [type, size] of [
    ["text/plain", 5],
    ["text/plain", 1_000],
    ["image/png", 5],
  ] as const) {
    const octets = Array.from({ length: 900 }, (_, n) => (n * 7) % 251).filter((n) => n !== 0);
    const lines = Buffer.from(`${"a b \t\r\n\t\r\n=x ".repeat(200)}ä`);
    const body = type === "text/plain" ? lines : Buffer.from(octets);
    const message = Buffer.concat([Buffer.from(`Content-Type: ${type}\r\n\r\n`), body]);
    const { text } = encode(message, size);
    const [, , encoding] = /^(.*\r\n)+?Content-Transfer-Encoding: (\S+)/.exec(text) ?? [];
    const encoded = text.slice(text.indexOf("\r\n\r\n") + 4).replace(/\r\n$/, "");
    const decoded =
      encoding === "base64"
        ? Buffer.from(encoded, "base64")
        : Buffer.from(
            encoded
              .replaceAll("=\r\n", "")
              .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
                String.fromCharCode(parseInt(hex, 16)),
              ),
            "latin1",
          );
    expect(decoded).toEqual(body);
    expect(encoded.split("\r\n").every(({ length }) => length <= 76)).toBe(true);
  }
});

describe("the check of the content", () => {
  const cases: [name: string, text: string, isPlain: boolean][] = [
    ["short lines", "a\r\nb\r\n", true],
    ["a line of 998 octets", `${"x".repeat(998)}\r\n`.repeat(3), true],
    ["a line of 999 octets", `a\r\n${"x".repeat(999)}\r\nb`, false],
    ["a last line of 999 octets and more", "x".repeat(1_100), false],
    ["8-bit text", "ä", false],
    ["NUL", "a\0b", false],
  ];
  for (const size of [1, 500, 10_000]) {
    test.each(cases)(`finds in pieces of ${size}: %s`, (_, text, isPlain) => {
      const bytes = Buffer.from(text);
      const check = createContentCheck();
      for (let at = 0; at < bytes.byteLength; at += size) check.see(bytes.subarray(at, at + size));
      expect(check.isPlain()).toBe(isPlain);
    });
  }
});
