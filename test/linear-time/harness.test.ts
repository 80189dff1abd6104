/** The measurement detects functions of more than linear time, and no others. */

import { describe, expect, test } from "bun:test";
import { superLinear } from "../support/linear.ts";
import { findGrowth, type Run } from "../support/growth.ts";
import { pumpsOf } from "../support/regex-samples.ts";

/** Former expressions of this project for policies (cubic time) and fallbacks (quadratic time). */
const POLICY_LINE = /^([a-z0-9][a-z0-9_.-]*)[ \t]*:[ \t]*(.*?)[ \t]*$/i;
const FALLBACK = /\s*([^]*?)\s*(?=\||-?\}\}|$)/y;

function fallbackOf(source: string): string | undefined {
  FALLBACK.lastIndex = source.indexOf("??") + 2;
  return FALLBACK.exec(source)?.[1];
}

/** Searches all earlier words for each word, which takes quadratic time. */
function distinctWords(text: string): readonly string[] {
  const words: string[] = [];
  for (const [i, word] of text.split(" ").entries()) {
    if (words.every((other) => other !== word + i)) words.push(word + i);
  }
  return words;
}

describe("detects", () => {
  test.each<[name: string, run: Run, frame: readonly [string, string]]>([
    ["the expression for lines of policies", (text) => POLICY_LINE.exec(text), ["mx:", "\u2028"]],
    ["the expression for fallbacks", fallbackOf, ["{{ a ?? x", "y }}"]],
    ["an exponential expression", (text) => /^(?:a|a)+$/.test(text), ["", "!"]],
    ["a quadratic expression", (text) => /[ \t]+$/.test(text), ["", "!"]],
    ["a list that is searched for each item", distinctWords, ["", ""]],
    ["normalization", (text) => text.normalize("NFC"), ["", ""]],
  ])("%s", async (name, run, frame) => {
    // Other work on the machine can hide the growth in one search.
    let found: readonly unknown[] = [];
    for (let search = 1; search <= 3 && found.length === 0; search++) {
      found = await superLinear({ name, run, frames: [frame], maxCharacters: 50_000 });
    }
    expect(found).not.toEqual([]);
  });
});

describe("does not report", () => {
  test.each<[name: string, run: Run]>([
    ["a function that reads each character once", (text) => text.split("").length],
    ["sorting", (text) => text.split("").toSorted().length],
    ["a quadratic parser with a small bound", (text) => /[ \t]+$/.test(text.slice(0, 500))],
    ["a function of constant time", () => "x ".repeat(50_000).split(" ").length],
    ["waiting", () => Bun.sleep(3)],
  ])("%s", async (_, run) => {
    for (const pump of [" ", "a ", "\t"]) {
      expect(await findGrowth(run, { pump, tail: "!" }, 65_536)).toBeNull();
    }
  });
});

/** Resolves to true if a text made from the expression takes it more than linear time. */
async function isSuspected(source: string): Promise<boolean> {
  const pattern = new RegExp(source, "g");
  for (const pump of pumpsOf(source)) {
    const growth = await findGrowth((text) => text.replace(pattern, ""), pump, 10_000);
    if (growth !== null) return true;
  }
  return false;
}

describe("texts made from an expression", () => {
  test.each([
    POLICY_LINE.source,
    FALLBACK.source,
    "(a+)+$",
    "^(?:x|[a-z])*=",
    "\\s+$",
    "^-+|-+$",
    "<([^>]*)>",
    "(?:;\\s*\\w+=\\w*)*\\s*,$",
    "^a(?:[+*](?! )|(?<! )[+*])*b$",
  ])("show that /%s/ is not linear", async (source) => {
    expect(await isSuspected(source)).toBe(true);
  });

  test.each([
    "^[a-z]+(?:\\.[a-z]+)*$",
    "^\\d+(?:,\\d*)*$",
    "<[^<>]*>",
    '^(?:[^"\\\\]|\\\\.)*$',
    "^a(?:[+*](?! )|(?<! )[+*](?= ))*b$",
    "\\b\\w{1,20}@",
  ])("do not show that of /%s/", async (source) => {
    expect(await isSuspected(source)).toBe(false);
  });
});
