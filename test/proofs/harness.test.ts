/** The measurement of growth finds functions of more than linear time, and no others. */

import { describe, expect, test } from "bun:test";
import { findGrowth, type Run } from "../support/growth.ts";
import { superLinear } from "./linear-time/linear.ts";
import { regexLiterals } from "./linear-time/regex-literals.ts";
import { findSlowText } from "./linear-time/regexes.ts";
import { LIMIT_MS } from "./prove.ts";

/** A former expression of this project for fallbacks in templates. */
const FALLBACK = /\s*([^]*?)\s*(?=\||-?\}\}|$)/y;

function fallbackOf(source: string): string | undefined {
  FALLBACK.lastIndex = source.indexOf("??") + 2;
  return FALLBACK.exec(source)?.[1];
}

/** Searches all earlier words for each word, which takes quadratic time. */
function distinctWords(text: string): readonly string[] {
  const words: string[] = [];
  for (const [i, word] of text.split(" ").entries()) {
    // It is made once, because the memory of many short texts takes a time of its own.
    const own = word + i;
    if (words.every((other) => other !== own)) words.push(own);
  }
  return words;
}

describe("the short form finds", () => {
  test.each<[name: string, run: Run, frame: readonly [string, string], pump: string]>([
    ["a quadratic expression", fallbackOf, ["{{ a ?? x", "y }}"], " "],
    ["an exponential expression", (text) => /^(?:a|a)+$/.test(text), ["", "!"], "a"],
    ["a list that is searched for each item", distinctWords, ["", ""], "a "],
  ])(
    "%s",
    async (name, run, frame, pump) => {
      const only = { pumps: [pump], hasOwnPumpsOnly: true, maxCharacters: 50_000 };
      const parser = { name, run, frames: [frame], ...only };
      expect(await superLinear(parser, "short")).not.toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    "texts made from an expression that show its growth",
    async () => {
      expect(await findSlowText({ source: "<([^>]*)>", flags: "g" }, "short")).not.toBeNull();
    },
    LIMIT_MS,
  );
});

describe("nothing is found in", () => {
  test.each<[name: string, run: Run]>([
    ["sorting", (text) => text.split("").toSorted().length],
    ["a quadratic parser with a small bound", (text) => /[ \t]+$/.test(text.slice(0, 500))],
  ])("%s", async (name, run) => {
    expect(await findGrowth(run, { pump: "a ", tail: "!" }, 65_536)).toBeNull();
    expect(await superLinear({ name, run }, "short")).toEqual([]);
  });

  test.each(["<[^<>]*>", '^(?:[^"\\\\]|\\\\.)*$'])("/%s/", async (source) => {
    expect(await findSlowText({ source, flags: "g" }, "short")).toBeNull();
  });
});

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
