import { describe, expect, test } from "bun:test";
import { readCell, writeCell, writeRecord } from "../../../src/modules/contacts/import/cells.ts";
import {
  type NamedType,
  createColumnSurvey,
  type TypeOptions,
} from "../../../src/modules/contacts/import/column-types.ts";
import { createCsvReader } from "../../../src/lib/csv.ts";

/** The value of the only cell of a column. */
function readAlone(cell: string) {
  const survey = createColumnSurvey(null);
  survey.see(cell);
  const type = survey.type({});
  return typeof type === "string" ? readCell(cell, type) : type;
}

describe("the only cell of a column reads", () => {
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
    ["1.50", "1.50"],
    ["19.90", "19.90"],
    ["-0.25", -0.25],
    ["123456789012345", 123456789012345],
    ["1234567890123456", 1234567890123456],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
    ["9007199254740993", "9007199254740993"],
    ["12345678901234567890", "12345678901234567890"],
    ["100000000000000000000", 1e20],
    ["0.30000000000000004", 0.1 + 0.2],
    ["0.33333333333333333", "0.33333333333333333"],
    ["1e-7", 1e-7],
    ["1e-07", "1e-07"],
    ["1e+308", 1e308],
    ["1e308", "1e308"],
    ["5e-324", Number.MIN_VALUE],
    ["1e400", "1e400"],
    ["9".repeat(400), "9".repeat(400)],
    ["-0", "-0"],
    ["-Infinity", "-Infinity"],
    ["007", "007"],
    ["01067", "01067"],
    ["+4", "+4"],
    [".5", ".5"],
    ["5.", "5."],
    ["1e3", "1e3"],
    ["1,5", "1,5"],
    ["--5", "--5"],
    ["0x10", "0x10"],
    ["Infinity", "Infinity"],
    ["NaN", "NaN"],
    ["null", "null"],
    ["2025-01-31", "2025-01-31"],
    ["15.06.2030", "15.06.2030"],
    ["[1]", "[1]"],
    ["'s-Gravenhage", "'s-Gravenhage"],
    ["'=1+1", "=1+1"],
    ["'5", "5"],
    ["'true", "true"],
    ["'", ""],
    ["''5", "'5"],
  ])("%j as %j", (cell, value) => {
    expect(readAlone(cell)).toBe(value);
  });
});

describe("a column", () => {
  type Case = [
    cells: string[],
    named: NamedType | null,
    options: TypeOptions,
    type: string,
    guess: string | null,
  ];
  const cases: Case[] = [
    [["1", "2.5", ""], null, {}, "number", null],
    [["1", "2.50"], null, {}, "text", "number"],
    [["1", "x"], null, {}, "text", "mixed"],
    // A dot before three digits may separate thousands, unless another value shows that it does not.
    [["1.234"], null, {}, "text", "number"],
    [["1.234", "5", "12.345"], null, {}, "text", "number"],
    [["-1.234"], null, {}, "text", "number"],
    [["1.234", "2.5"], null, {}, "number", null],
    [["0.123"], null, {}, "number", null],
    [["1234.567"], null, {}, "number", null],
    [["1.234", "2.5"], "number", {}, "number-dot", null],
    [["1.234", "2,50"], "number", {}, "number-comma", null],
    [["1,299"], null, {}, "text", "number"],
    [["1.234"], "number", { decimalSeparator: "," }, "number-comma", null],
    [["true", "FALSE"], null, {}, "boolean", null],
    [["true", "1"], null, {}, "text", "mixed"],
    [["1.10", "2.0.1"], null, {}, "text", "mixed"],
    [["01067", "80331"], null, {}, "text", null],
    [["'5", "6"], null, {}, "text", "mixed"],
    [["99,50", "5", "1.299,00"], null, {}, "text", "number-comma"],
    [["99,50", "5", "1.299,00"], "number", {}, "number-comma", null],
    [["1,299"], "number", {}, "unclear", "mixed"],
    [["1,299"], "number", { decimalSeparator: "," }, "number-comma", "mixed"],
    [["1.299"], "number", {}, "unclear", null],
    [["5"], "text", {}, "text", null],
    [["15.06.2030", "01.02.2020"], null, {}, "text", "date-dmy"],
    [["15.06.2030", "01.02.2020"], "date", {}, "date-dmy", "date-dmy"],
    [["06/15/2030", "01/02/2020"], null, {}, "text", "date-mdy"],
    [["01/02/2020"], null, {}, "text", "date"],
    [["01/02/2020"], "date", {}, "unclear", "date"],
    [["01/02/2020"], "date", { dateOrder: "MDY" }, "date-mdy", "date"],
    [["2020-01-02"], null, {}, "text", null],
    [["2020/01/02", "31.12.2020"], "date", {}, "date-dmy", "date-dmy"],
    [["31/12/2020", "soon"], null, {}, "text", "mixed"],
  ];
  test.each(cases)("%j named %p with %j", (cells, named, options, type, guess) => {
    const survey = createColumnSurvey(named);
    for (const cell of cells) survey.see(cell);
    const found = survey.type(options);
    expect(typeof found === "string" ? found : "unclear").toBe(type);
    if (named === null) expect<string | null>(survey.guess()).toBe(guess);
  });

  test.each([
    ["99,50", "number-comma", 99.5],
    ["1.299,00", "number-comma", 1299],
    ["1 299,5", "number-comma", 1299.5],
    ["1,299.5", "number-dot", 1299.5],
    ["1'299", "number-dot", 1299],
    ["-5", "number-dot", -5],
    ["1,2,3", "number-dot", null],
    ["12.34", "number-comma", null],
    ["5 EUR", "number-dot", null],
    ["15.06.2030", "date-dmy", "2030-06-15"],
    ["1.2.2030", "date-mdy", "2030-02-01"],
    ["6/15/2030", "date-mdy", "2030-06-15"],
    ["6/15/2030", "date-dmy", null],
    ["31.02.2030", "date-dmy", null],
    ["15.06.2030 14:05", "date-dmy", "2030-06-15T14:05:00Z"],
    ["6/15/2030 2:05 PM", "date-mdy", "2030-06-15T14:05:00Z"],
    ["6/15/2030 25:00", "date-mdy", null],
    ["2030/6/5", "date-dmy", "2030-06-05"],
    ["2030-06-15T10:00:00+02:00", "date-dmy", "2030-06-15T10:00:00+02:00"],
    ["soon", "date-dmy", null],
  ] as const)("cell %j as %s is %j", (cell, type, value) => {
    expect(readCell(cell, type)).toBe(value);
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
      expect([text, readAlone(cell)]).toEqual([text, text]);
    }
  });
});
