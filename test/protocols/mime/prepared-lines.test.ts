import { describe, expect, test } from "bun:test";
import { textPart } from "../../../src/protocols/mime/parts.ts";
import { valueMark } from "../../../src/protocols/mime/marks.ts";
import { encodeLines, prepareLines } from "../../../src/protocols/mime/prepared-lines.ts";
import { createRandom } from "../../../scripts/seed/random.ts";

const TOKENS = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"];
const MAIL_TOKENS = [
  "c0-_e5f6A7b8c9d0E1f2a3b4c5d6e7f8a9b0c1",
  "Z9y8X7w6V5u4T3s2R1q0p9O8n7M6l5K4j3I2h1",
];

const [A, B, C] = [valueMark(0), valueMark(1), valueMark(2)];
const [T, U] = TOKENS;

/** Encodes a marked text with these values, and the filled text in the ordinary way. */
function encodeBoth(marked: string, values: readonly string[]) {
  const lines = prepareLines(marked, { values: values.length, tokens: TOKENS });
  let filled = marked;
  values.forEach((value, i) => (filled = filled.replaceAll(valueMark(i), () => value)));
  TOKENS.forEach((token, i) => (filled = filled.replaceAll(token, MAIL_TOKENS[i] ?? "")));
  return {
    prepared: encodeLines("html", lines, [...values, ...MAIL_TOKENS]).join(""),
    ordinary: textPart("html", filled).join(""),
  };
}

const LONG = "word ".repeat(40).trim();
const UNBROKEN = "x".repeat(200);

const TEXTS: [name: string, marked: string][] = [
  ["nothing", ""],
  ["a value", A],
  ["a value in a short line", `Dear ${A},\nwelcome\n`],
  ["a value in a long line", `${LONG} ${A} ${LONG}\n${LONG}`],
  ["a value between long words", `${UNBROKEN}${A}${UNBROKEN}`],
  ["a token in a short line", `See ${T}\nnow`],
  ["tokens that a soft break divides", `${"y".repeat(60)}${T}${"z".repeat(60)}${U}\n${T}`],
  ["tokens at every column", Array.from({ length: 80 }, (_, i) => "q".repeat(i) + T).join("\n")],
  ["tokens and values in one line", `${LONG} ${A} ${T} ${LONG}${B}${U}\r\n${C}`],
  ["blanks at line ends", `a ${A} \nb \t\nc ${B}\t\nd ${C} `],
  ["From at line starts", `From ${A}\nFrom here\n${B} From\nFrom ${C}`],
  ["a value before a text that continues From", `F${A}\nFrom${B} x\n${C} x`],
  ["dots at line starts", `.\n..${A}\n${B}.\n.`],
  ["escapes", `a=b ${A} = ${B}=\n====${C}=`],
  ["text that is not ASCII", `Grüße ${A} — ${"é".repeat(90)}${B}\n日本語${C}`],
  ["control characters", `a\x01${A}\nb\x0c\n${B}\x7f`],
  ["lone carriage returns", `a\r${A}\rb\r\n${B}\r`],
  ["mostly text that is not ASCII", `${"日本語".repeat(50)}${A}\n${T}`],
  ["a last line of 76 characters", `a\n${"x".repeat(60)} ${A} ${"y".repeat(9)}`],
];

const VALUES: [name: string, values: string[]][] = [
  ["short words", ["Ada", "Grace", "Mary Ann"]],
  ["From", ["From here", "From", "From x"]],
  ["escapes", ["=", "a=b", "=3D"]],
  ["letters that are not ASCII", ["Zoë", "é", "Ł"]],
  ["other scripts", ["山田", "Иван", "שלום"]],
  ["emoji", ["😀", "👍🏽 ok", "é😀"]],
  ["long words", ["v".repeat(300), "w".repeat(75), "u".repeat(76)]],
  ["long texts", [LONG, LONG, LONG]],
  ["long texts that are not ASCII", ["é".repeat(400), "日".repeat(99), "😀".repeat(60)]],
  ["dots", [".", "..", "a."]],
];

describe("a prepared text has the octets of the ordinary one", () => {
  for (const [name, marked] of TEXTS) {
    for (const [kind, values] of VALUES) {
      test(`${name}, with ${kind}`, () => {
        const { prepared, ordinary } = encodeBoth(marked, values);
        expect(prepared).toBe(ordinary);
      });
    }
  }

  test("with random texts and values", () => {
    const random = createRandom(11);
    const pieces = ["\n", " ", ".", "=", "é", "日本", "Hello", "x".repeat(30), "From ", A, B, T, U];
    const letters = "abcé =.日F,".split("");
    for (let round = 0; round < 800; round++) {
      const count = 1 + random.integer(40);
      const marked = Array.from({ length: count }, () => random.pick(pieces)).join("");
      const value = () =>
        `v${Array.from({ length: random.integer(90) }, () => random.pick(letters)).join("")}e`;
      const { prepared, ordinary } = encodeBoth(marked, [value(), value()]);
      expect(prepared).toBe(ordinary);
    }
  });
});
