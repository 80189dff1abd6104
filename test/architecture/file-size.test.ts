/** A source file has at most 500 lines. */

import { expect, test } from "bun:test";
import { filesOf, type TextFile } from "../support/exports.ts";

const MAX_LINES = 500;

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
  expect(tooLong([of(500), of(501)])).toEqual(["src/501.tsx has 501 lines"]);
});
