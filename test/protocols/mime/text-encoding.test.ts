import { expect, test } from "bun:test";
import { encode } from "nodemailer/lib/qp";
import { createRandom } from "../../../scripts/seed/random.ts";
import { encodeText, unwrappedQuotedPrintable } from "../../../src/protocols/mime/text-encoding.ts";

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

test("quoted-printable has the octets of nodemailer, and encodes From at line starts", () => {
  const random = createRandom(31);
  const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
  const pieces = ["\r\n", "\n", "\r", " ", "\t", "=", "From ", "word", "\u2028", "\ufeff", "日本"];
  const surrogates = ["\ud800", "\udc00", "😀"];
  for (let round = 0; round < 5_000; round++) {
    const count = random.integer(30);
    const pick = () => random.pick(random.integer(3) === 0 ? all : [...pieces, ...surrogates]);
    const text = Array.from({ length: count }, pick).join("");
    const expected = encode(Buffer.from(text)).replace(/^From /gm, "=46rom ");
    expect(unwrappedQuotedPrintable(text)).toBe(expected);
  }
});
