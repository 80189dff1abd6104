/** Codes of authenticator apps. */

import { expect, test } from "bun:test";
import { acceptedStep, base32, totpCode, totpUri } from "../../../src/modules/accounts/totp.ts";

/** The secret of RFC 6238, appendix B. */
const SECRET = Buffer.from("12345678901234567890");
const STEP_MS = 30_000;

/** The table of the RFC has eight digits, of which the last six are the code. */
test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("the code at second %p is %s", (seconds, code) => {
  expect(totpCode(SECRET, Math.floor(seconds / 30))).toBe(code);
});

test.each([
  [-2, false],
  [-1, true],
  [0, true],
  [1, true],
  [2, false],
])("a clock that differs by %p steps is accepted: %p", (steps, isAccepted) => {
  const step = 1_000;
  const now = (step + steps) * STEP_MS + 29_999;
  const found = acceptedStep(SECRET, totpCode(SECRET, step), { now, lastStep: 0 });
  expect(found).toBe(isAccepted ? step : null);
});

test.each([
  [998, 1_000],
  [999, 1_000],
  [1_000, null],
  [1_001, null],
])("after the step %p was used, the code of step 1000 is that of %p", (lastStep, expected) => {
  const code = totpCode(SECRET, 1_000);
  expect(acceptedStep(SECRET, code, { now: 1_000 * STEP_MS, lastStep })).toBe(expected);
});

test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("%p in base 32 is %p", (plain, encoded) => {
  expect(base32(Buffer.from(plain))).toBe(encoded);
});

test("the link for the app names the server and the user", () => {
  const uri = totpUri({ secret: "MZXW6", email: "ada+x@example.com", host: "mail.example:8443" });
  expect(uri).toBe(
    "otpauth://totp/Mailstead%20(mail.example%3A8443):ada%2Bx%40example.com" +
      "?secret=MZXW6&issuer=Mailstead%20(mail.example%3A8443)",
  );
});
