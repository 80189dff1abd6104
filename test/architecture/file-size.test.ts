/** A source file has at most 300 lines. */

import { expect, test } from "bun:test";
import { filesOf, type TextFile } from "../support/exports.ts";

const MAX_LINES = 300;

/** Files that are longer, with their size. The list only shrinks. */
const LONGER: Readonly<Record<string, number>> = {};

const linesOf = ({ text }: Pick<TextFile, "text">) => text.split("\n").length - 1;

function tooLong(files: readonly TextFile[]): string[] {
  return files
    .filter((source) => linesOf(source) > (LONGER[source.file] ?? MAX_LINES))
    .map((source) => `${source.file} has ${linesOf(source)} lines`);
}

const sources = filesOf(["src"]);

test(`no source file has more than ${MAX_LINES} lines`, () => {
  expect(tooLong(sources)).toEqual([]);
});

test("every listed file is still too long", () => {
  const long = sources.filter((source) => linesOf(source) > MAX_LINES).map(({ file }) => file);
  expect(Object.keys(LONGER).filter((file) => !long.includes(file))).toEqual([]);
});

test("a file that is too long is found", () => {
  const of = (lines: number) => ({ file: `src/${lines}.tsx`, text: "line\n".repeat(lines) });
  expect(tooLong([of(300), of(301)])).toEqual(["src/301.tsx has 301 lines"]);
});
