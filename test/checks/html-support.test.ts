/** The features of HTML and CSS that are recognised, and their support. */

import { describe, expect, test } from "bun:test";
import { checkHtmlSupport, supportPlatforms } from "../../src/checks/html-support/check.ts";
import { supportData } from "../../src/checks/html-support/data.ts";
import { detectFeatures } from "../../src/checks/html-support/detect.ts";

const CASES: [html: string, slugs: string[]][] = [
  ["<!DOCTYPE html><p>x</p>", ["html-doctype", "html-p"]],
  ["<video src='a.mp4'></video>", ["html-video", "image-mp4"]],
  ["<h2>x</h2><!-- x -->", ["html-h1-h6", "html-comments"]],
  [`<input type="radio" required>`, ["html-input-radio", "html-required"]],
  [`<img src="https://x.test/a.WEBP?v=1" width="1">`, ["html-img", "image-webp", "html-width"]],
  [`<img src="data:image/png;base64,AA==">`, ["html-img", "image-base64"]],
  [`<a href="mailto:a@example.com" target="_blank">x</a>`, ["html-mailto-links", "html-target"]],
  [
    `<b style="display: flex; gap: 1rem">x</b>`,
    ["css-display-flex", "css-display", "css-gap", "css-unit-rem"],
  ],
  [
    `<b style="width:calc(1px + 2%)!important"></b>`,
    ["css-width", "css-unit-calc", "css-unit-px", "css-unit-percent", "css-important"],
  ],
  [
    "<style>/* x */ a.b > c:hover, #d::before { color: rgba(0,0,0,.5) }</style>",
    [
      "html-style",
      "css-comments",
      "css-selector-child",
      "css-selector-chaining",
      "css-selector-class",
      "css-selector-id",
      "css-selector-grouping",
      "css-selector-type",
      "css-pseudo-class-hover",
      "css-pseudo-element-before",
      "css-rgba",
    ],
  ],
  [
    "<style>@media (prefers-color-scheme: dark) { p { color: red } }</style>",
    ["css-at-media", "css-at-media-prefers-color-scheme", "css-selector-type"],
  ],
  [
    "<style>@import url(x.css); @font-face { src: url(x) }</style>",
    ["css-at-import", "css-at-font-face"],
  ],
  [
    "<style>:root { --x: 1px } * { margin-top: var(--x) }</style>",
    ["css-variables", "css-selector-universal", "css-margin"],
  ],
];

describe("recognises", () => {
  for (const [html, slugs] of CASES) {
    test(html, () => {
      const { found } = detectFeatures(html);
      expect([...found.keys()]).toEqual(expect.arrayContaining(slugs));
    });
  }
});

test("plain words use no feature", () => {
  expect(checkHtmlSupport("only words")).toEqual({
    nodes: 0,
    findings: [],
    total: { supported: 100, partial: 0, unsupported: 0 },
  });
});

test("counts uses, and shows the worst support first", () => {
  const { nodes, findings, total } = checkHtmlSupport("<p>a</p><p>b</p><dialog>c</dialog>");
  expect(nodes).toBe(3);
  expect(findings.map(({ feature, found }) => [feature.slug, found])).toEqual([
    ["html-dialog", 1],
    ["html-p", 2],
  ]);
  for (const { results, shares } of findings) {
    expect(results.length).toBeGreaterThan(20);
    expect(shares.supported + shares.partial + shares.unsupported).toBeCloseTo(100, 0);
  }
  expect(total.supported).toBeGreaterThan(findings[0]?.shares.supported ?? 100);
});

test("every slug that can be recognised is in the data or has no data on purpose", () => {
  const known = new Set(supportData().features.map(({ slug }) => slug));
  const html = CASES.map(([each]) => each).join("\n");
  const unknown = [...detectFeatures(html).found.keys()].filter((slug) => !known.has(slug));
  // Properties without data: `color`, `src` of @font-face, and variables.
  expect(unknown.sort()).toEqual(["css---x", "css-color", "css-src"]);
});

test("names the families of each platform", () => {
  expect(supportPlatforms()["ios"]).toContain("Gmail");
  expect(supportData().date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});

const HOSTILE: [name: string, html: string][] = [
  ["opened comments", `<style>${"/*".repeat(50_000)}</style>`],
  ["opened blocks", `<style>${"a{".repeat(50_000)}</style>`],
  ["many semicolons after spaces", `<style>${" ".repeat(100_000)}${";".repeat(100_000)}</style>`],
  ["spaces before a semicolon", `<style>${" ;".repeat(50_000)}</style>`],
  ["a long style attribute", `<b style="${"a:b;".repeat(50_000)}">`],
  ["deep nesting", "<div>".repeat(20_000)],
  ["a million opening brackets", "<".repeat(1_000_000)],
];
for (const [name, html] of HOSTILE) {
  test(`answers for ${name}`, () => expect(checkHtmlSupport(html).nodes).toBeNumber());
}
