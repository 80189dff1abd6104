import { describe, expect, test } from "bun:test";
import { readCell, writeCell, writeRecord } from "../../../src/modules/contacts/import/cells.ts";
import { createCsvReader } from "../../../src/lib/csv.ts";

describe("readCell reads", () => {
  test.each([
    ["", undefined],
    ["   ", undefined],
    ["text", "text"],
    [" spaced ", " spaced "],
    ["true", true],
    ["false", false],
    ["TRUE", true],
    ["False", false],
    ["yes", "yes"],
    ["0", 0],
    ["5", 5],
    ["-5", -5],
    ["1.5", 1.5],
    ["1.50", 1.5],
    ["-0.25", -0.25],
    ["123456789012345", 123456789012345],
    ["1234567890123456", 1234567890123456],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
    ["9007199254740993", "9007199254740993"],
    ["12345678901234567890", "12345678901234567890"],
    ["100000000000000000000", 1e20],
    ["0.30000000000000004", 0.1 + 0.2],
    ["0.3333333333333333", 1 / 3],
    ["0.33333333333333333", "0.33333333333333333"],
    ["-0.1234567890123456", -0.1234567890123456],
    ["1e-7", 1e-7],
    ["1e-07", "1e-07"],
    ["1e+308", 1e308],
    ["1e308", "1e308"],
    ["-1.7976931348623157e+308", -Number.MAX_VALUE],
    ["-2.2250738585072014e-308", -2.2250738585072014e-308],
    ["-0.0000012345678901234567", -0.0000012345678901234567],
    ["5e-324", Number.MIN_VALUE],
    ["1e400", "1e400"],
    ["9".repeat(400), "9".repeat(400)],
    ["-0", "-0"],
    ["-Infinity", "-Infinity"],
    ["007", "007"],
    ["+4", "+4"],
    [".5", ".5"],
    ["5.", "5."],
    ["1e3", "1e3"],
    ["1,5", "1,5"],
    [" 5", " 5"],
    ["--5", "--5"],
    ["0x10", "0x10"],
    ["Infinity", "Infinity"],
    ["NaN", "NaN"],
    ["null", "null"],
    ["2025-01-31", "2025-01-31"],
    ["[1]", "[1]"],
    ["'s-Gravenhage", "'s-Gravenhage"],
    ["'=1+1", "=1+1"],
    ["'5", "5"],
    ["'true", "true"],
    ["'", ""],
    ["''5", "'5"],
  ])("%j as %j", (cell, value) => {
    expect(readCell(cell)).toBe(value);
  });
});

describe("writeCell", () => {
  test.each([
    ["=HYPERLINK(0)", "'=HYPERLINK(0)"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["-a", "'-a"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t=1"],
    ["\r=1", "'\r=1"],
    ["＝1", "'＝1"],
    ["5", "'5"],
    ["1e-7", "'1e-7"],
    ["-0", "'-0"],
    ["1234567890123456", "'1234567890123456"],
    ["true", "'true"],
    ["", "'"],
    ["  ", "'  "],
    ["'=1", "''=1"],
    ["'s-Gravenhage", "'s-Gravenhage"],
    ["a=b", "a=b"],
    ["007", "007"],
  ])("writes the text %j as %j, which is safe in a spreadsheet", (text, cell) => {
    expect(writeCell(text)).toBe(cell);
  });

  test.each([
    [-5, "-5"],
    [1.5, "1.5"],
    [1e20, "100000000000000000000"],
    [1e308, "1e+308"],
    [true, "true"],
    [undefined, ""],
    [null, ""],
  ])("writes %p as %j", (value, cell) => {
    expect(writeCell(value)).toBe(cell);
  });

  const ALPHABET = [
    "'",
    "=",
    "+",
    "-",
    "@",
    "5",
    ".",
    "t",
    "true",
    " ",
    '"',
    ",",
    ";",
    "\n",
    "\r",
    "\t",
    "é",
    "😀",
  ];
  test("writes any text so that readCell returns the same text", () => {
    let state = 1;
    const next = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
    for (let i = 0; i < 20_000; i++) {
      const text = Array.from({ length: next(6) }, () => ALPHABET[next(ALPHABET.length)]).join("");
      const reader = createCsvReader({ delimiter: ",", newline: "\n" });
      const record = writeRecord(["first", writeCell(text), "last"]);
      const items = [...reader.push(record), ...reader.end()].flat();
      const [item] = items;
      expect([items.length, item?.kind]).toEqual([1, "record"]);
      const cell = item?.kind === "record" ? (item.cells[1] ?? "") : "";
      expect([text, readCell(cell)]).toEqual([text, text]);
    }
  });
});
