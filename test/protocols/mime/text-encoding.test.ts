import { describe, expect, test } from "bun:test";
import { encode } from "nodemailer/lib/qp";
import { createRandom } from "../../../scripts/seed/random.ts";
import {
  encodeText,
  quotedPrintable,
  withLineEnds,
} from "../../../src/protocols/mime/text-encoding.ts";

test.each([
  ["a last line of 76 characters", "x".repeat(76), "7bit"],
  ["a last line of 77 characters", "x".repeat(77), "quoted-printable"],
  ["a line of 76 characters", `${"x".repeat(76)}\r\n`, "7bit"],
  ["a line of 77 characters", `${"x".repeat(77)}\r\n`, "quoted-printable"],
])("%s is sent as it is up to 76 characters", (_, text, encoding) => {
  const encoded = encodeText(text);
  expect<string>(encoded.encoding).toBe(encoding);
  const lines = encoded.body.join("").split("\r\n");
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(76);
});

/** The text before its lines were broken, with "." and "F" at line starts as they were. */
function withoutBreaks(encoded: string): string {
  return encoded.replaceAll("=\r\n", "").replaceAll("=2E", ".").replaceAll("=46", "F");
}

describe("quoted-printable", () => {
  const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
  const pieces = ["\r\n", "\r\n", " ", "\t", ".", "=", "From ", "word", "\u2028", "\ufeff", "日本"];
  const long = ["x".repeat(40), "é".repeat(30), "😀".repeat(9), ".".repeat(80), "From ".repeat(20)];
  const surrogates = ["\ud800", "\udc00", "😀"];

  test("has the escapes of nodemailer, in short lines that nothing changes on the way", () => {
    const random = createRandom(31);
    for (let round = 0; round < 5_000; round++) {
      const count = random.integer(30);
      const pick = () => {
        const kind = random.integer(6);
        return random.pick(kind < 2 ? all : kind === 2 ? long : [...pieces, ...surrogates]);
      };
      const text = withLineEnds(Array.from({ length: count }, pick).join(""));
      const encoded = quotedPrintable(text);
      expect(withoutBreaks(encoded)).toBe(encode(Buffer.from(text)));
      for (const line of encoded.split("\r\n")) {
        expect(line.length).toBeLessThanOrEqual(line.endsWith("=") ? 76 : 75);
        expect(line).not.toMatch(/^\.|^From |[ \t]$|[^\t -~]/);
      }
    }
  });

  test.each(["é", "日", "😀"])("does not break the line inside of %s", (character) => {
    for (let before = 0; before < 80; before++) {
      for (const line of quotedPrintable("x".repeat(before) + character.repeat(40)).split(
        "=\r\n",
      )) {
        expect(decodeURIComponent(line.replaceAll("=", "%"))).toMatch(
          new RegExp(`^x*(?:${character})*$`, "u"),
        );
      }
    }
  });

  test.each([
    ["a dot", ".", "=2E"],
    ["From", "From here", "=46rom here"],
    [
      "From at the start of a soft line",
      `${"x".repeat(75)}From y`,
      `${"x".repeat(75)}=\r\n=46rom y`,
    ],
    ["a dot at the start of a soft line", `${"x".repeat(75)}.y`, `${"x".repeat(75)}=\r\n=2Ey`],
    ["no text", "", ""],
    ["a line end", "\r\n", "\r\n"],
    ["a full line before a line end", `${"x".repeat(75)}\r\ny`, `${"x".repeat(75)}\r\ny`],
  ])("writes %s", (_, text, encoded) => expect(quotedPrintable(text)).toBe(encoded));
});
