import { describe, expect, test } from "bun:test";
import { createCsvReader, type CsvItem, detectDialect, type Dialect } from "../../src/lib/csv.ts";

const BAD_QUOTE = "A quote inside a quoted value must be doubled.";
const UNCLOSED = "A quote opens a value here and is never closed.";
const UNCLOSED_FOR_LONG = "A quote opens a value here and is not closed within 1 MiB.";
const TOO_LONG = "The line is longer than 1 MiB.";

/** Reads `text` in pieces whose sizes repeat `sizes`. */
function readAll(text: string, sizes: readonly number[]): CsvItem[] {
  const reader = createCsvReader(detectDialect(text.slice(0, 64 * 1024)));
  const items: CsvItem[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] ?? text.length;
    for (const batch of reader.push(text.slice(at, at + size))) items.push(...batch);
    at += size;
  }
  for (const batch of reader.end()) items.push(...batch);
  return items;
}

/** Converts records to `[line, ...cells]`, and faults to an object with `[line, message]`. */
function brief(items: readonly CsvItem[]): unknown[] {
  return items.map((item) =>
    item.kind === "record" ? [item.line, ...item.cells] : { [item.line]: item.message },
  );
}

const cases: [name: string, text: string, items: unknown[]][] = [
  ["nothing", "", []],
  ["one cell without a newline", "a", [[1, "a"]]],
  [
    "LF",
    "a,b\n1,2\n",
    [
      [1, "a", "b"],
      [2, "1", "2"],
    ],
  ],
  [
    "CRLF, no newline at the end",
    "a,b\r\n1,2",
    [
      [1, "a", "b"],
      [2, "1", "2"],
    ],
  ],
  [
    "CR alone",
    "a,b\r1,2\r",
    [
      [1, "a", "b"],
      [2, "1", "2"],
    ],
  ],
  [
    "line ends inside the last quoted cell",
    'a,"b\r"\r\n"c\n\r"\r\n1,"\r"\r\n"\r\n\r"\n"2"\r\n3\r\n"4\r"',
    [
      [1, "a", "b\r"],
      [2, "c\n\r"],
      [4, "1", "\r"],
      [5, "\r\n\r"],
      [7, "2"],
      [8, "3"],
      [9, "4\r"],
    ],
  ],
  [
    "CRLF after a quoted cell",
    'a,"b"\r\n1,"2"\r\n',
    [
      [1, "a", "b"],
      [2, "1", "2"],
    ],
  ],
  [
    "LF after CRLF",
    "a,b\r\n1,2\n3,4\r\n",
    [
      [1, "a", "b"],
      [2, "1", "2"],
      [3, "3", "4"],
    ],
  ],
  [
    "semicolons",
    "a;b\n1,5;2\n",
    [
      [1, "a", "b"],
      [2, "1,5", "2"],
    ],
  ],
  [
    "tabs",
    "a\tb\n1,5\t;\n",
    [
      [1, "a", "b"],
      [2, "1,5", ";"],
    ],
  ],
  [
    "a delimiter inside a quoted name",
    '"a,b,c";d\n1;2\n',
    [
      [1, "a,b,c", "d"],
      [2, "1", "2"],
    ],
  ],
  [
    "a quoted delimiter",
    'a,b\n"1,2",3\n',
    [
      [1, "a", "b"],
      [2, "1,2", "3"],
    ],
  ],
  [
    "a doubled quote",
    'a\n"say ""hi"""\n',
    [
      [1, "a"],
      [2, 'say "hi"'],
    ],
  ],
  [
    "an empty quoted cell",
    'a,b\n"",x\n',
    [
      [1, "a", "b"],
      [2, "", "x"],
    ],
  ],
  [
    "a newline inside quotes",
    'a,b\n1,"x\ny\r\nz"\n3,4\n',
    [
      [1, "a", "b"],
      [2, "1", "x\ny\r\nz"],
      [5, "3", "4"],
    ],
  ],
  [
    "a quote inside a bare cell",
    'a,b\n1,5" pipe\n',
    [
      [1, "a", "b"],
      [2, "1", '5" pipe'],
    ],
  ],
  [
    "blank lines",
    "\n\na\n\n1\n  \n\n",
    [
      [3, "a"],
      [5, "1"],
    ],
  ],
  [
    "blanks beside delimiters, which are not part of a value, and quotes after them",
    'a , b\t,c\r\n 1 , "x, ""y"" " , z \r\n"  q  ",  ,\t"r\n s"\n',
    [
      [1, "a", "b", "c"],
      [2, "1", 'x, "y" ', "z"],
      [3, "  q  ", "", "r\n s"],
    ],
  ],
  [
    "the line sep=, which names the delimiter",
    "sep=;\r\na,b;c\r\n1;2\r\n",
    [
      [2, "a,b", "c"],
      [3, "1", "2"],
    ],
  ],
  ["sep= with quotes", '"sep=|"\na|b\n', [[2, "a", "b"]]],
  ["sep= with a tab", "SEP=\t\na,b\tc\n", [[2, "a,b", "c"]]],
  [
    "vertical bars",
    "a|b\n1|2\n",
    [
      [1, "a", "b"],
      [2, "1", "2"],
    ],
  ],
  [
    "lines with only delimiters",
    "a,b\n,\n1,2\n,\n",
    [
      [1, "a", "b"],
      [3, "1", "2"],
    ],
  ],
  [
    "fewer and more cells",
    "a,b\n1\n1,2,3\n",
    [
      [1, "a", "b"],
      [2, "1"],
      [3, "1", "2", "3"],
    ],
  ],
  [
    "text after a quoted cell",
    'a,b\n1,"x"y\n3,"4"\n',
    [[1, "a", "b"], { 2: BAD_QUOTE }, [3, "3", "4"]],
  ],
  [
    "a quote that is never closed",
    'a,b\n1,"x\n3,4\n',
    [[1, "a", "b"], { 2: UNCLOSED }, [3, "3", "4"]],
  ],
  [
    "a quote that is never closed, in the last line",
    'a,b\n3,4\n1,"x',
    [[1, "a", "b"], [2, "3", "4"], { 3: UNCLOSED }],
  ],
  [
    "a quote that would include other records",
    'a,b\n1,"x\n3,"4"\n5,6\n',
    [[1, "a", "b"], { 2: BAD_QUOTE }, [3, "3", "4"], [4, "5", "6"]],
  ],
  [
    "faults after a broken record",
    'a\n"1\n2",3\n"x"y\nz\n',
    [[1, "a"], [2, "1\n2", "3"], { 4: BAD_QUOTE }, [5, "z"]],
  ],
  [
    "a byte order mark inside the text",
    "a\n\u{feff}1\n",
    [
      [1, "a"],
      [2, "\u{feff}1"],
    ],
  ],
  [
    "letters of any script",
    "имя,名前\nОльга,太郎\n",
    [
      [1, "имя", "名前"],
      [2, "Ольга", "太郎"],
    ],
  ],
];

describe("reads", () => {
  test.each(cases)("%s", (_, text, items) => {
    expect(brief(readAll(text, [text.length]))).toEqual(items);
  });

  test.each(cases)("%s: the same if the text comes in pieces of any size", (_, text, items) => {
    for (const sizes of [[1], [2], [3], [5], [1, 7, 2], [11]]) {
      expect([sizes, brief(readAll(text, sizes))]).toEqual([sizes, items]);
    }
  });

  test("a text of many windows, with values that cross their ends", () => {
    const row = (i: number) =>
      `${i},"line one of ${i}\nline ""two"" of ${i}",${"x".repeat(i % 90)}`;
    const count = 5000;
    const text = `a,b,c\n${Array.from({ length: count }, (_, i) => row(i)).join("\n")}\n`;
    for (const size of [text.length, 64 * 1024, 10_007]) {
      const items = readAll(text, [size]);
      expect(items.length).toBe(count + 1);
      for (const [i, item] of items.slice(1).entries()) {
        expect(item).toEqual({
          kind: "record",
          line: 2 + 2 * i,
          cells: [String(i), `line one of ${i}\nline "two" of ${i}`, "x".repeat(i % 90)],
        });
      }
    }
  });
});

describe("limits its memory", () => {
  const MIB = 1024 * 1024;
  const long: [name: string, text: string, items: unknown[]][] = [
    ["a line", `a,b\n1,${"x".repeat(5 * MIB)}\n3,4\n`, [{ 2: TOO_LONG }, [3, "3", "4"]]],
    ["the last line", `a,b\n3,4\n1,${"x".repeat(2 * MIB)}`, [[2, "3", "4"], { 3: TOO_LONG }]],
    ["a quoted line", `a,b\n1,"${"x".repeat(2 * MIB)}"\n3,4\n`, [{ 2: TOO_LONG }, [3, "3", "4"]]],
  ];
  test.each(long)(
    "%s of more than 1 MiB is a fault, and the next one is read",
    (_, text, items) => {
      expect(brief(readAll(text, [64 * 1024]).slice(1))).toEqual(items);
    },
  );

  test("a line just below 1 MiB is read", () => {
    const cell = "x".repeat(1_000_000);
    expect(brief(readAll(`a\n${cell}\n1\n`, [64 * 1024]))).toEqual([
      [1, "a"],
      [2, cell],
      [3, "1"],
    ]);
  });

  test("a value of many lines that is never closed costs one line", () => {
    const lines = Array.from({ length: 200_000 }, (_, i) => `${i},y`);
    const items = readAll(`a,b\n1,"x\n${lines.join("\n")}\n`, [64 * 1024]);
    expect(brief(items.slice(0, 3))).toEqual([
      [1, "a", "b"],
      { 2: UNCLOSED_FOR_LONG },
      [3, "0", "y"],
    ]);
    expect(items.length).toBe(2 + lines.length);
  });

  test.each([
    ["bad quotes", '"x"y\n'],
    ["unclosed quotes", '"x\n'],
  ])("a thousand lines of %s are reported, then the reading ends", (_, line) => {
    const items = readAll(`a\n${line.repeat(5000)}b\n`, [64 * 1024]);
    expect(items.filter((item) => item.kind === "fault").length).toBe(1000);
    expect(items.at(-1)).toMatchObject({ kind: "end", line: 1002 });
  });
});

test("batches are small, so the caller can pause between them", () => {
  const reader = createCsvReader({ delimiter: ",", newline: "\n" });
  const sizes = [...reader.push("a,b\n".repeat(1_000_000))].map((items) => items.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual((64 * 1024) / 4);
});

describe("values are separated by", () => {
  const cases: [text: string, delimiter: Dialect["delimiter"]][] = [
    ["email", ","],
    ["", ","],
    ["email;name\na@x.io;Ada", ";"],
    ["email\tname\na@x.io\tAda", "\t"],
    ['email,"Topics (news; offers; events)"\nfd@i.com,x', ","],
    ['email,"Last\tFirst\tMiddle"', ","],
    ["email,Interests (a;b;c)\nfd@i.com,x\n", ","],
    ["email;first, last, middle\na@x.io;Ada\n", ";"],
    ["email;score;rate\na@x.io;1,5;2,5\nb@x.io;3,5;4,5\n", ";"],
    ["email;name\na@x.io\nb@x.io\n", ";"],
    ['\n\n"email";"a ""b"", c, d"\n', ";"],
    ['email,5" pipes;6" pipes\na@x.io,7\n', ","],
    ['"email"\t"name"\n"a@x.io"\t"Ada"\n', "\t"],
    ['"email"\t"name"\r\n"a@x.io"\t"b,c"\r\n', "\t"],
    ['\u{feff}"email"|"a, b, c"\n', "|"],
  ];

  test.each(cases)("%j: %j", (text, delimiter) => {
    expect(detectDialect(text).delimiter).toBe(delimiter);
  });

  test("a newline in a quoted value does not end the record", () => {
    expect(detectDialect('email,note\rp@i.com,"a\nb"\r').newline).toBe("\r");
    expect(detectDialect('email,"no\rte"\np@i.com,b\n').newline).toBe("\n");
  });
});
