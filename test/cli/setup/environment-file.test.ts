import { describe, expect, test } from "bun:test";
import {
  changeEnvironment,
  formatEnvironmentValue,
  readEnvironment,
} from "../../../src/cli/setup/environment-file.ts";

describe("a file is read as systemd reads it", () => {
  const table: readonly (readonly [
    what: string,
    text: string,
    expected: Record<string, string>,
  ])[] = [
    ["plain values", "A=1\nB=two words\n", { A: "1", B: "two words" }],
    ["blanks around a value do not count", "A=  x  \t\nB=\n", { A: "x", B: "" }],
    ["comments and lines without =", "# A=1\n; B=2\nnothing\n  C=3", { C: "3" }],
    ["a # inside a value belongs to it", "A=a#b #c", { A: "a#b #c" }],
    ["a percent sign is no specifier", "A=100%s", { A: "100%s" }],
    [
      "double quotes with escapes",
      'A="a \\"b\\" \\$c \\`d\\` \\\\ \\e"',
      { A: 'a "b" $c `d` \\ \\e' },
    ],
    ["single quotes keep everything", "A='a \\n \"b\" $c'", { A: 'a \\n "b" $c' }],
    ["quoted parts are joined", "A='a'\"b\"' c'", { A: "ab c" }],
    ["a quote inside a word is itself", "A=it's", { A: "it's" }],
    ["a quoted value may span lines", 'A="a\nB=b"\nC=c', { A: "a\nB=b", C: "c" }],
    ["a backslash continues a line", "A=a\\\nb\nB=c", { A: "ab", B: "c" }],
    ["the later one counts", "A=1\nA=2", { A: "2" }],
    ["names that are none are skipped", "1A=1\nB C=2\nexport D=3\nE=4", { E: "4" }],
    ["an open quote ends with the text", 'A="a\nb', { A: "a\nb" }],
    ["line ends of Windows", "A=1\r\nB=2\r\n", { A: "1", B: "2" }],
  ];
  test.each(table)("%s", (_, text, expected) => expect(readEnvironment(text)).toEqual(expected));
});

const HOSTILE = [
  "",
  "plain",
  " blanks ",
  "a b",
  "it's",
  'say "x"',
  "50% # not a comment",
  "$(id) `id` ${HOME} \\",
  "two\nlines\nMAILSTEAD_TRANSPORT=capture",
  "tab\tand\\n",
  "ends with \\",
  "#",
  ";x",
  "=",
  "ä€𝄞",
];

test.each(HOSTILE)("a written value is read again: %j", (value) => {
  const text = changeEnvironment("# first\n", { A: value, B: "after" });
  expect(readEnvironment(text)).toEqual({ A: value, B: "after" });
});

test("a shell reads the same values as systemd", async () => {
  const names = HOSTILE.map((_, i) => `V${i}`);
  const text = changeEnvironment(
    "",
    Object.fromEntries(HOSTILE.map((value, i) => [`V${i}`, value])),
  );
  const script = `set -a\n${text}\nprintf '%s\\0' ${names.map((name) => `"$${name}"`).join(" ")}`;
  const output = await Bun.spawn(["sh", "-c", script], { env: {}, stdout: "pipe" }).stdout.text();
  expect(output.split("\0").slice(0, -1)).toEqual(HOSTILE);
});

test.each(["a\0b", "a\rb", "\u001b[31m", "\u007f", "\ud800"])(
  "refuses a value with %j",
  (value) => {
    expect(() => formatEnvironmentValue(value)).toThrow("control characters");
  },
);

describe("changes keep the rest of the file", () => {
  const text = "# mine\nA=1\n\n# about B\nB='two'\nC=3";
  const table: readonly (readonly [
    what: string,
    changes: Record<string, string | null>,
    string,
  ])[] = [
    ["nothing changes", { A: "1", B: "two", D: null }, text],
    ["a value is replaced in its place", { B: "x y" }, '# mine\nA=1\n\n# about B\nB="x y"\nC=3\n'],
    ["a variable is removed", { A: null, C: null }, "# mine\n\n# about B\nB='two'\n"],
    ["a new one comes to the end", { D: "4" }, `${text}\nD=4\n`],
  ];
  test.each(table)("%s", (_, changes, expected) => {
    expect(changeEnvironment(text, changes)).toBe(expected);
  });

  test("a variable that is set twice is set once", () => {
    expect(changeEnvironment("A=1\nB=2\nA=3\n", { A: "4" })).toBe("A=4\nB=2\n");
  });
});

test("a long file is read in linear time", () => {
  const text = `A="${"\\".repeat(200_000)}\n`.repeat(1) + "B=b\n".repeat(5_000);
  expect(readEnvironment(`X=${" ".repeat(100_000)}y`)).toEqual({ X: "y" });
  expect(Object.keys(readEnvironment(text))).toEqual(["A"]);
});
