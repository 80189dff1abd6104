/** Logic of the editors: differences of texts, and what the code editor completes and replaces. */

import { describe, expect, test } from "bun:test";
import {
  closingOf,
  completionPlace,
} from "../../src/dashboard/ui/editors/code/completion-place.ts";
import { FILTERS, TAGS } from "../../src/dashboard/ui/editors/code/liquid-words.ts";
import { replacedRange } from "../../src/dashboard/ui/editors/code/replaced-range.ts";
import { diffLines, pairLines, shortenRows } from "../../src/dashboard/ui/editors/line-diff.ts";
import {
  completeVariable,
  findOpenVariable,
} from "../../src/dashboard/pages/templates/editor/open-variable.ts";
import { liquidEngine } from "../../src/render/template/engine.ts";

/** Each line as its sign and its text. */
const signs = (before: string, after: string) =>
  diffLines(before, after).map(
    ({ kind, text }) => ({ SAME: " ", REMOVED: "-", ADDED: "+" })[kind] + text,
  );

describe("the difference of two texts", () => {
  test.each([
    ["", "", []],
    ["a", "a", [" a"]],
    ["", "a", ["+a"]],
    ["a", "", ["-a"]],
    ["a\nb\nc", "a\nx\nc", [" a", "-b", "+x", " c"]],
    ["a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc", null],
    ["a\r\nb", "a\nb", [" a", " b"]],
  ])("%j and %j", (before, after, expected) => {
    const found = signs(before, after);
    if (expected !== null) expect(found).toEqual(expected);
    const side = (sign: string) =>
      found.filter(([first]) => first === " " || first === sign).map((line) => line.slice(1));
    expect(side("-").join("\n")).toBe(before.replaceAll("\r", ""));
    expect(side("+").join("\n")).toBe(after);
  });

  test("is the shortest one", () => {
    const found = signs("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc");
    expect(found.filter((line) => line[0] !== " ").length).toBe(5);
  });

  test("of random texts leads from one to the other, with numbered lines", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const text = () => Array.from({ length: random(30) }, () => "abcd"[random(4)]).join("\n");
    for (let i = 0; i < 300; i++) {
      const [before, after] = [text(), text()];
      const lines = diffLines(before, after);
      const sideOf = (side: "before" | "after") => lines.filter((line) => line[side] !== null);
      expect(
        sideOf("before")
          .map((line) => line.text)
          .join("\n"),
      ).toBe(before);
      expect(
        sideOf("after")
          .map((line) => line.text)
          .join("\n"),
      ).toBe(after);
      expect(sideOf("after").map((line) => line.after)).toEqual(
        sideOf("after").map((_, n) => n + 1),
      );
    }
  });

  test("of large texts without a common line takes little time", () => {
    const lines = (word: string) =>
      Array.from({ length: 20_000 }, (_, i) => `${word} ${i}`).join("\n");
    const startedMs = performance.now();
    expect(diffLines(lines("a"), lines("b")).length).toBe(40_000);
    expect(performance.now() - startedMs).toBeLessThan(900);
  });

  test("is shown in pairs, without equal lines far away", () => {
    const lines = (n: number) => Array.from({ length: n }, (_, i) => `${i}`).join("\n");
    const pairs = pairLines(diffLines(lines(40), lines(40).replace("20", "x\ny")));
    const parts = shortenRows(pairs, ({ left }) => left?.kind === "SAME");
    expect(parts.map((part) => ("hidden" in part ? part.hidden : part.rows.length))).toEqual([
      17, 8, 16,
    ]);
    expect(pairs.find(({ left }) => left === null)?.right?.text).toBe("y");
  });
});

describe("completion", () => {
  test.each([
    ["<p>{{ na", { kind: "VARIABLE", typed: "na" }],
    ["{{", { kind: "VARIABLE", typed: "" }],
    ["{{ data.ci", { kind: "VARIABLE", typed: "data.ci" }],
    ["{{ name | up", { kind: "FILTER", typed: "up" }],
    ["{{ name | append: o", { kind: "VARIABLE", typed: "o" }],
    ["{% i", { kind: "TAG", typed: "i" }],
    ["{%- ", { kind: "TAG", typed: "" }],
    ["{% if plan == pro", { kind: "VARIABLE", typed: "pro" }],
    ["{{ name }} and", null],
    ["{% if a %} and", null],
    ['{{ name | default: "na', null],
    ["plain", null],
  ] as const)("after %j", (before, expected) => {
    expect(completionPlace(before)).toEqual(expected);
  });

  test("closes what is open", () => {
    expect(closingOf("VARIABLE", " text")).toBe(" }}");
    expect(closingOf("VARIABLE", " }} text")).toBe("");
    expect(closingOf("VARIABLE", "}} text")).toBe(" ");
    expect(closingOf("TAG", " {{ other }} %}")).toBe(" %}");
  });

  test("offers only words that the engine knows", () => {
    const { filters, tags } = liquidEngine("html");
    expect(FILTERS.map(({ name }) => name).filter((name) => filters[name] === undefined)).toEqual(
      [],
    );
    const inner = new Set(["elsif", "else", "when"]);
    const known = TAGS.map(({ name }) => name).filter(
      (name) => !inner.has(name) && tags[name.replace(/^end/, "")] === undefined,
    );
    expect(known).toEqual([]);
  });
});

test.each([
  ["abc", "abXc"],
  ["abc", "abc"],
  ["aaaa", "aa"],
  ["", "new"],
  ["old", ""],
])("%j becomes %j by one change", (before, after) => {
  const { from, to, insert } = replacedRange(before, after);
  expect(before.slice(0, from) + insert + before.slice(to)).toBe(after);
  expect(to).toBeGreaterThanOrEqual(from);
});

describe("a variable in a field of one line", () => {
  // The cursor is at the bar.
  test.each([
    ["Hello {{|", "Hello {{ name }}|"],
    ["Hello {{ na|", "Hello {{ name }}|"],
    ["Hello {{ na| }}, you", "Hello {{ name }}|, you"],
    ["{{ a }} and {{First N|!", "{{ a }} and {{ name }}|!"],
    ["Hello|", null],
    ["{{ name }}|", null],
    ["{{ name | upcase|", null],
    ['{{ name ?? "you|', null],
    ["{ na|", null],
  ])("%s becomes %s", (before, after) => {
    const cursor = before.lastIndexOf("|");
    const text = before.slice(0, cursor) + before.slice(cursor + 1);
    const open = findOpenVariable(text, cursor);
    const completed = open === null ? null : completeVariable(text, open, "name");
    const shown =
      completed === null
        ? null
        : `${completed.text.slice(0, completed.cursor)}|${completed.text.slice(completed.cursor)}`;
    expect(shown).toBe(after);
  });
});
