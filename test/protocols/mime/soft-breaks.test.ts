import { describe, expect, test } from "bun:test";
import { encode, wrap } from "nodemailer/lib/qp";
import { createRandom } from "../../../scripts/seed/random.ts";
import { quotedPrintable } from "../../../src/protocols/mime/text-encoding.ts";
import { breakLines } from "../../../src/protocols/mime/soft-breaks.ts";

/** Two lines that need no break, because short texts are an exception. */
const FIRST = `${"-".repeat(70)}\r\n${"-".repeat(20)}\r\n`;

const ALPHABETS = [
  "abcdefgh",
  "ab .,!?",
  "abcdefghijklmnopqrstuvwxyz0123456789 ",
  "ab=é",
  "=é日😀x",
  "日本語",
  "😀",
  "=",
  "é ",
].map((text) => Array.from(text));

/** Random texts of each kind. */
const ROUNDS = 600;

describe("a line is broken exactly as by nodemailer", () => {
  for (const alphabet of ALPHABETS) {
    test(`with the characters ${alphabet.join("")}`, () => {
      const random = createRandom(7);
      for (let round = 0; round < ROUNDS; round++) {
        const length = random.integer(5) === 0 ? random.integer(600) : random.integer(120);
        const text = Array.from({ length }, () => random.pick(alphabet)).join("");
        const line = encode(Buffer.from(text));
        expect(breakLines(`${FIRST}${line}`)).toBe(wrap(`${FIRST}${line}`));
        expect(breakLines(`${line}\r\n${line}\r\nx${FIRST}`)).toBe(
          wrap(`${line}\r\n${line}\r\nx${FIRST}`),
        );
      }
    });
  }
});

describe("a text is encoded exactly as by nodemailer", () => {
  const pieces = [
    "\r\n",
    " ",
    "\t",
    ".",
    "=",
    "é",
    "日本",
    "word ",
    "x".repeat(40),
    "a, b! c? d. ",
  ];
  for (const most of [3, 12, 60]) {
    test(`with up to ${most} pieces`, () => {
      const random = createRandom(5);
      for (let round = 0; round < ROUNDS; round++) {
        const count = random.integer(most + 1);
        const text = Array.from({ length: count }, () => random.pick(pieces)).join("");
        expect(quotedPrintable(text)).toBe(wrap(encode(Buffer.from(text))));
      }
    });
  }
});
