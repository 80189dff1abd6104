import { describe, expect, test } from "bun:test";
import { readCell, writeCell, writeRecord } from "../../../src/modules/contacts/cells.ts";
import { createCsvReader } from "../../../src/lib/csv.ts";

describe("what a cell stands for", () => {
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
    ["1234567890123456", "1234567890123456"],
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
  ])("%j is %j", (cell, value) => {
    expect(readCell(cell)).toBe(value);
  });
});

describe("export", () => {
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
    ["true", "'true"],
    ["", "'"],
    ["  ", "'  "],
    ["'=1", "''=1"],
    ["'s-Gravenhage", "'s-Gravenhage"],
    ["a=b", "a=b"],
    ["007", "007"],
  ])("writes the text %j as %j, which no spreadsheet runs", (text, cell) => {
    expect(writeCell(text)).toBe(cell);
  });

  test.each([
    [-5, "-5"],
    [1.5, "1.5"],
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
  test("whatever text it writes comes back as it was", () => {
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
