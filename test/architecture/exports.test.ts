/** An exported symbol is imported by another file, and each name is exported by one file only. */

import { describe, expect, test } from "bun:test";
import { exportedNames, filesOf, type TextFile, usedNames } from "../support/exports.ts";

/** Exports that no file imports, as `path name` or as a folder, each with its reason. */
const UNUSED: Readonly<Record<string, string>> = {
  "src/db/schema/": "drizzle-kit reads the tables, also those that are written in SQL alone.",
  "src/dashboard/": "The kit of the dashboard has parts for the pages that follow.",
};

/** Names that several files export. The list only shrinks. */
const REPEATED: readonly string[] = [
  "Admission",
  "Attachment",
  "Campaign",
  "CheckResult",
  "Decision",
  "Delivery",
  "Finding",
  "Input",
  "Page",
  "Plan",
  "Progress",
  "Recipient",
  "Route",
  "Step",
  "Template",
];

/** The dashboard is a program of its own, so its names may repeat those of the server. */
const DASHBOARD = "src/dashboard/";
const isDashboard = ({ file }: TextFile) => file.startsWith(DASHBOARD);

const sources = filesOf(["src"]);
const users = filesOf(["src", "test", "scripts"]);

function unusedNames(exporters: readonly TextFile[], importers: readonly TextFile[]): string[] {
  const used = new Set(importers.flatMap(usedNames));
  return exporters.flatMap((source) =>
    exportedNames(source)
      .filter((name) => !used.has(`${source.file} ${name}`) && !used.has(`${source.file} *`))
      .map((name) => `${source.file} ${name}`),
  );
}

function repeatedNames(exporters: readonly TextFile[]): string[] {
  const names = exporters.flatMap(exportedNames);
  return [...new Set(names.filter((name, i) => names.indexOf(name) !== i))].toSorted();
}

const isException = (unused: string) => Object.keys(UNUSED).some((path) => unused.startsWith(path));

test("every exported symbol is imported somewhere", () => {
  const unused = unusedNames(sources, users);
  expect(unused.filter((name) => !isException(name))).toEqual([]);
  const needed = Object.keys(UNUSED).filter((path) => unused.some((name) => name.startsWith(path)));
  expect(needed).toEqual(Object.keys(UNUSED));
});

test("no name is exported by two files, apart from those of the list", () => {
  expect(repeatedNames(sources.filter((source) => !isDashboard(source)))).toEqual([...REPEATED]);
  expect(repeatedNames(sources.filter(isDashboard))).toEqual([]);
});

describe("a violation is found", () => {
  const a = `export const one = 1;\nexport async function two() {}\nexport type Three = 3;\n`;
  const b = `import {\n  one,\n  type Three as T,\n} from "./a.ts";\nexport { T as Three };\n`;
  const files = [
    { file: "src/a.ts", text: a },
    { file: "src/b.ts", text: b },
  ];

  test("of an export that no file imports", () => {
    expect(unusedNames(files, files)).toEqual(["src/a.ts two", "src/b.ts Three"]);
  });

  test("of a name that two files export", () => {
    expect(repeatedNames(files)).toEqual(["Three"]);
  });

  test("but not of a file that is imported as a whole", () => {
    const whole = { file: "src/c.ts", text: `import * as a from "./a.ts";\n` };
    const later = { file: "src/d.ts", text: `await import("./b.ts");\n` };
    expect(unusedNames(files, [whole, later])).toEqual([]);
  });
});
