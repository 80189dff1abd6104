import { expect, test } from "bun:test";
import { encodeText } from "../../../src/protocols/mime/text-encoding.ts";

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
