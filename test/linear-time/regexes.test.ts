/**
 * Tests every regular expression of the program with texts made from the expression itself (see
 * regex-samples.ts). An expression is tested even if its input is always short, because later code
 * may use it for other texts.
 */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { describeGrowth, findGrowth } from "../support/growth.ts";
import { constructedPatterns, regexLiterals } from "../support/regex-literals.ts";
import { LIMIT_MS } from "../support/linear.ts";
import { pumpsOf } from "../support/regex-samples.ts";

const ROOT = join(import.meta.dir, "../..");
const SOURCE = join(ROOT, "src");
/** Length of the texts. A quadratic expression takes several milliseconds for this length. */
const TEXT_CHARACTERS = 10_000;
/** This file is not imported, because it runs a command. It constructs no expression. */
const NOT_IMPORTED = "src/main.ts";

type Expression = { location: string; source: string; flags: string };

async function expressionsIn(file: string): Promise<Expression[]> {
  const code = await Bun.file(join(ROOT, file)).text();
  const literals = regexLiterals(code).map((literal) => ({
    ...literal,
    location: `${file}:${literal.line}`,
  }));
  if (!/\bnew RegExp\(/.test(code)) return literals;
  expect(file).not.toBe(NOT_IMPORTED);
  const constructed = await constructedPatterns(
    SOURCE,
    () => import(`${join(ROOT, file)}?regexes`),
  );
  expect([file, constructed.length > 0]).toEqual([file, true]);
  return [
    ...literals,
    ...constructed.map(({ source, flags }) => ({ location: file, source, flags })),
  ];
}

async function faultOf({ location, source, flags }: Expression): Promise<string | null> {
  const pattern = new RegExp(source, flags.replace("y", ""));
  const run = (text: string) => (pattern.global ? text.replace(pattern, "") : pattern.exec(text));
  for (const pump of pumpsOf(source)) {
    const growth = await findGrowth(run, pump, TEXT_CHARACTERS);
    if (growth !== null) return `${location} /${source}/${flags} ${describeGrowth(pump, growth)}`;
  }
  return null;
}

const files = [...new Bun.Glob("src/**/*.ts").scanSync(ROOT)].toSorted();

test(
  "all regular expressions take linear time",
  async () => {
    const faults: string[] = [];
    let count = 0;
    for (const file of files) {
      for (const expression of await expressionsIn(file)) {
        count++;
        const fault = await faultOf(expression);
        if (fault !== null) faults.push(fault);
      }
    }
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(250);
  },
  LIMIT_MS,
);

describe("regular expressions are found in source", () => {
  test.each<[code: string, found: string[]]>([
    ["a.replace(/b/g, c)", ["b"]],
    ["const a = b / c / d;", []],
    ["x = (a + b) / 2 / c", []],
    ["return /a[/]b\\/c/.test(d)", ["a[/]b\\/c"]],
    ["// not /a/\n/* nor /b/ */ f(/c/)", ["c"]],
    ["'/a/' + \"/b/\" + `/c/${/d/.source}/e/`", ["d"]],
    ["`${a}${{ b: /c/ }.b}` / 2 / d", ["c"]],
    ["[/a/, /b/i]", ["a", "b"]],
    ["a ? /b/ : /c/", ["b", "c"]],
    ["const r = !/a/.test(b) && /c/.test(d)", ["a", "c"]],
  ])("%j", (code, found) => {
    expect(regexLiterals(code).map(({ source }) => source)).toEqual(found);
  });
});
