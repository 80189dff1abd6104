/** The visual editor without a browser: Liquid, variables, conditions, links, themes and pasted HTML. */

import { describe, expect, test } from "bun:test";
import { findBlocks } from "../../src/dashboard/ui/editors/visual/blocks.ts";
import { cleanHtml } from "../../src/dashboard/ui/editors/visual/clean-html.ts";
import {
  chooseOperator,
  describeCondition,
  findFaults,
  listOperators,
  readKind,
} from "../../src/dashboard/ui/editors/visual/conditions.ts";
import {
  cleanImage,
  cleanLink,
  completeLink,
} from "../../src/dashboard/ui/editors/visual/links.ts";
import {
  escapeAttribute,
  escapeText,
  repairLiquid,
  splitLiquid,
} from "../../src/dashboard/ui/editors/visual/liquid-text.ts";
import {
  chooseTextOn,
  DEFAULT_THEME,
  deriveDark,
  derivePalette,
  findThemeFaults,
  measureContrast,
  readColor,
  readTheme,
} from "../../src/dashboard/ui/editors/visual/mail-theme.ts";
import {
  describeVariable,
  findVariables,
  readVariable,
  writeTagName,
  writeVariable,
} from "../../src/dashboard/ui/editors/visual/variables.ts";
import { seeded } from "../modules/segments/seeded.ts";

describe("Liquid in a text is found", () => {
  test.each([
    ["plain", []],
    ["{{ a }}", ["{{ a }}"]],
    ["x {{ a }} y {% if b %}z{% endif %}", ["{{ a }}", "{% if b %}", "{% endif %}"]],
    [`{{ a | default: "}}" }} b`, [`{{ a | default: "}}" }}`]],
    ["{{ it's }} x {{ b's }}", ["{{ it's }}", "{{ b's }}"]],
    ["{{ open", []],
    ["{% open", []],
    ["{ {a} } {", []],
    [`{{ a | default: "x }} y`, [`{{ a | default: "x }}`]],
  ])("%s", (text, found) => {
    const pieces = splitLiquid(text);
    expect(pieces.filter(({ isLiquid }) => isLiquid).map((piece) => piece.text)).toEqual(found);
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  });
});

describe("what an HTML editor made of Liquid is undone", () => {
  test.each([
    ["{{ name | default: &quot;x&quot; }}", `{{ name | default: "x" }}`],
    ["{% if a &gt; 1 and b &lt; 2 %}", "{% if a > 1 and b < 2 %}"],
    ["{{ a | default: &#39;x&#x27; }}", "{{ a | default: 'x' }}"],
    ["{{ a\n   | upcase }}", "{{ a | upcase }}"],
    ["{{\u00a0a&nbsp;}}", "{{ a }}"],
    ["{{ a | default: “x” }}", `{{ a | default: "x" }}`],
    ["{{ Mother’s name }}", "{{ Mother’s name }}"],
    ["{{ a &amp;&copy; }}", "{{ a &&copy; }}"],
  ])("%s", (code, repaired) => expect(repairLiquid(code)).toBe(repaired));
});

test("HTML is escaped around Liquid and not in it", () => {
  expect(escapeText(`a < b {% if a < 1 %}"&"{% endif %}`)).toBe(
    "a &lt; b {% if a < 1 %}&quot;&amp;&quot;{% endif %}",
  );
  expect(escapeText("a   b {{ a  b }}")).toBe("a &nbsp; b {{ a  b }}");
  expect(escapeAttribute(`{{ url | default: "/x" }}?a=1&b="2"`)).toBe(
    "{{ url | default: '/x' }}?a=1&amp;b=&quot;2&quot;",
  );
  expect(escapeAttribute(`{{ url | default: "it's" }}`)).toBe(
    "{{ url | default: &quot;it's&quot; }}",
  );
});

describe("a variable is read as it was written", () => {
  test.each([
    ["name", "", "{{ name }}"],
    ["name", "friend", `{{ name | default: "friend" }}`],
    ["name", `the "boss"`, `{{ name | default: 'the "boss"' }}`],
    ["First Name", "", "{{ First Name }}"],
    ["address.city", "Rome", `{{ address.city | default: "Rome" }}`],
    ["if x", "", `{{ data["if x"] }}`],
    ["items[0]", "", `{{ data["items[0]"] }}`],
    [`say "hi"`, "", `{{ data['say "hi"'] }}`],
  ])("%s, %s", (name, fallback, written) => {
    expect(writeVariable({ name, fallback })).toBe(written);
    expect(readVariable(written)).toEqual({ name, fallback });
  });

  test.each([
    "{{ name | upcase }}",
    "{{ a ?? b }}",
    "{{ }}",
    "{{ 'x' }}",
    "{% if a %}",
    "{{ if x }}",
  ])("other Liquid stays text: %s", (code) => expect(readVariable(code)).toBeNull());

  test("a name that cannot be written is none, and neither is such a default", () => {
    expect(writeVariable({ name: `a"b'c`, fallback: "" })).toBe("");
    expect(writeVariable({ name: "a }} b", fallback: "" })).toBe("");
    expect(writeVariable({ name: "a", fallback: `"'` })).toBe("{{ a }}");
    expect(writeTagName("First Name")).toBe(`data["First Name"]`);
    expect(describeVariable({ name: "name", fallback: "friend" })).toBe("name or “friend”");
  });
});

test("the picker has the fields of contacts first, and offers a name that it does not know", () => {
  const fields = [
    { name: "surname", type: "string" },
    { name: "name", type: "string" },
    { name: "email", type: "string" },
    { name: `"'`, type: "string" },
  ];
  const names = (typed: string) => findVariables(fields, typed).map(({ name }) => name);
  expect(names("").slice(0, 4)).toEqual(["surname", "name", "email", "unsubscribeUrl"]);
  expect(names("Na")).toEqual(["name", "surname", "manageUrl", "project.name"]);
  expect(names("order.total")).toEqual(["order.total"]);
  expect(names("&&")).toEqual([]);
  expect(findBlocks("cta").map(({ name }) => name)).toEqual(["button"]);
  expect(findBlocks("head").map(({ name }) => name)[0]).toBe("heading2");
  expect(findBlocks("nothing")).toEqual([]);
});

describe("a condition", () => {
  test("has operators by the type of its field", () => {
    expect(["number", "boolean", "date", "array", "string", undefined].map(readKind)).toEqual([
      "number",
      "flag",
      "date",
      "list",
      "text",
      "any",
    ]);
    expect(listOperators("date").map(({ name }) => name)).toEqual([
      "after",
      "before",
      "has",
      "hasNot",
    ]);
    // A name that no contact has may have any operator, and a choice stays after the type changed.
    expect(listOperators("any").length).toBe(9);
    expect(listOperators("text", "greater").map(({ name }) => name)).toContain("greater");
    expect(chooseOperator("date", "is")).toBe("after");
    expect(chooseOperator("number", "is")).toBe("is");
  });

  test.each([
    [{ field: "", operator: "is", value: "" }, "text", { field: "Choose a field." }],
    [{ field: "a", operator: "is", value: " " }, "text", { value: "Enter a value." }],
    [{ field: "a", operator: "has", value: "" }, "text", {}],
    [{ field: "a", operator: "greater", value: "1e3" }, "number", { value: "Enter a number." }],
    [{ field: "a", operator: "less", value: "x" }, "any", { value: "Enter a number." }],
    [
      { field: "a", operator: "after", value: "1.2.2026" },
      "date",
      { value: "Enter a date as 2026-05-13." },
    ],
    [
      { field: `"'`, operator: "has", value: "" },
      "text",
      { field: "This name cannot be used in a condition." },
    ],
  ] as const)("%j of %s is checked", (condition, kind, faults) => {
    expect(findFaults(condition, kind)).toEqual(faults);
  });

  test("is said in words", () => {
    expect(describeCondition({ field: "city", operator: "is", value: "Rome" })).toBe(
      "Only if city is Rome",
    );
    expect(describeCondition({ field: "city", operator: "hasNot", value: "x" })).toBe(
      "Only if city has no value",
    );
    expect(describeCondition({ field: "", operator: "is", value: "" })).toContain("nobody");
  });
});

describe("the address of a link", () => {
  test.each([
    ["https://x.example/a?b=1", "https://x.example/a?b=1"],
    [" HTTP://x.example ", "HTTP://x.example"],
    ["mailto:a@x.example", "mailto:a@x.example"],
    ["tel:+391", "tel:+391"],
    ["{{ url }}", "{{ url }}"],
    ["{{ url }}?a=1", "{{ url }}?a=1"],
    ["https://x.example/{{ id }}", "https://x.example/{{ id }}"],
    ["#top", "#top"],
    ["javascript:alert(1)", null],
    ["JaVa\nScript:alert(1)", null],
    ["data:text/html,x", null],
    ["vbscript:x", null],
    ["//x.example", null],
    ["/relative", null],
    ["{% if a %}javascript:1{% endif %}", null],
    ["", null],
  ])("%j", (href, clean) => expect(cleanLink(href)).toBe(clean));

  test.each([
    ["shop.example/a b", "shop.example/a b"],
    ["shop.example/a?b", "https://shop.example/a?b"],
    ["ada@shop.example", "mailto:ada@shop.example"],
    ["javascript:alert(1)", "javascript:alert(1)"],
    ["{{ url }}", "{{ url }}"],
  ])("%s is completed", (typed, href) => expect(completeLink(typed)).toBe(href));

  test("an image is on the web, or of this server", () => {
    expect(["https://x.example/a.png", "/images/a.png", "{{ photo }}"].map(cleanImage)).toEqual([
      "https://x.example/a.png",
      "/images/a.png",
      "{{ photo }}",
    ]);
    const refused = [
      "data:image/png;base64,AA",
      "//x.example/a.png",
      "mailto:a@x.example",
      "a.png",
    ];
    expect(refused.map(cleanImage)).toEqual([null, null, null, null]);
  });
});

describe("a theme", () => {
  test("takes the values that are valid, within limits", () => {
    expect(readTheme(null)).toEqual(DEFAULT_THEME);
    const read = readTheme({
      page: "#ABC",
      text: "red;background:url(//x)",
      font: "Comic Sans",
      widthPx: 10_000,
      fontSizePx: "16",
      hasDark: false,
      other: 1,
    });
    expect(read).toEqual({ ...DEFAULT_THEME, page: "#aabbcc", widthPx: 900, hasDark: false });
    expect(["#12345", "red", 5, null].map(readColor)).toEqual([null, null, null, null]);
  });

  test("has readable derived colours, and says what is not readable", () => {
    expect(measureContrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
    expect([chooseTextOn("#4338ca"), chooseTextOn("#f7d154")]).toEqual(["#ffffff", "#111111"]);
    for (const accent of ["#4338ca", "#f7d154", "#000000", "#ffffff", "#d92d20"]) {
      const theme = { ...DEFAULT_THEME, accent };
      const { surface, text, muted, box, link } = deriveDark(theme);
      for (const color of [text, muted, link]) {
        expect(measureContrast(color, surface)).toBeGreaterThanOrEqual(4.5);
      }
      expect(measureContrast(text, box)).toBeGreaterThanOrEqual(4.5);
      const palette = derivePalette(theme);
      expect(measureContrast(palette.onAccent, accent)).toBeGreaterThanOrEqual(4.5);
      expect(measureContrast(palette.muted, theme.surface)).toBeGreaterThanOrEqual(4.5);
      expect(measureContrast(palette.link, theme.surface)).toBeGreaterThanOrEqual(4.5);
    }
    expect(findThemeFaults(DEFAULT_THEME)).toEqual([]);
    expect(findThemeFaults({ ...DEFAULT_THEME, text: "#cccccc", accent: "#ffffff" }).length).toBe(
      2,
    );
  });
});

describe("pasted HTML", () => {
  test.each([
    ["<p onclick='x()' style='color:red' class=a>Hi</p>", "<p>Hi</p>"],
    ["<script>alert(1)</script><p>a</p><style>@import '//x'</style>", "<p>a</p>"],
    [
      "<img src=x onerror=alert(1)><img src=https://x.example/a.png alt='A \"b\"'>",
      `<img><img src="https://x.example/a.png" alt="A &quot;b&quot;">`,
    ],
    ["<a href='javascript:alert(1)'>x</a>", "<a>x</a>"],
    ["<a href='java&#115;cript:alert(1)'>x</a>", "<a>x</a>"],
    ["<a href='&#106;avascript:1'>x</a><a href='\u0001javascript:1'>y</a>", "<a>x</a><a>y</a>"],
    ["<svg><script>1</script></svg><iframe src=//x></iframe>b", "b"],
    [
      "<b style='font-weight:normal' id=docs-internal><span style='font-weight:700;font-style:italic'>x</span></b>",
      "<span><span><strong><em>x</em></strong></span></span>",
    ],
    ["<o:p>Word</o:p><font color=red>x</font>", "Wordx"],
    ["<!--[if mso]><p>no</p><![endif]--><p>yes</p>", "<p>yes</p>"],
    [
      "<!DOCTYPE html><html><head><title>T</title></head><body><h5>x</h5></body></html>",
      "<h3>x</h3>",
    ],
    ["1 < 2 <3", "1 &lt; 2 &lt;3"],
    ["<p>open <b>bold", "<p>open <b>bold</b></p>"],
    ["</ul></p>x", "x"],
    [
      "<div data-type='htmlBlock' data-html='<script>'>x</div>",
      `<div data-type="htmlBlock" data-html="&lt;script&gt;">x</div>`,
    ],
    ['<p title="unclosed>x</p>', "<p></p>"],
  ])("%s", (html, clean) => expect(cleanHtml(html)).toBe(clean));

  test("is cleaned in linear time, and not deeper than the editor can draw", () => {
    const started = performance.now();
    for (const part of ['<a "', '<a b="', "<p>", "</ul>", "<script>", "<!--", "<", "<b x='"]) {
      cleanHtml(part.repeat(60_000));
    }
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(cleanHtml("<ul>".repeat(500)).split("<ul>").length).toBe(101);
  });
});

test("what remains of any HTML is clean, and cleaned again it is the same", () => {
  const parts =
    "<p>|</p>|<b style='font-weight:700'>|</b>|<a href='java|script:x'|>|<|\"|'| onload=x |<img src=x onerror=y>|<svg>|</svg>|<script>|</script>|<style>|<!--|-->|&lt;|&#106;|text|{{ a }}|=|/|<td|<a href=\"https://x.example\">|</a>|<h9>|\0|<div data-type='condition'>|</div>".split(
      "|",
    );
  const random = seeded(7);
  for (let round = 0; round < 3_000; round++) {
    const html = Array.from({ length: 12 }, () => random.pick(parts)).join("");
    const clean = cleanHtml(html);
    const tags = clean.match(/<[^>]*>/g) ?? [];
    for (const tag of tags) {
      expect(tag).toMatch(
        /^<\/?(?:p|b|strong|em|a|img|td|div|span)(?: (?:href|data-type)="[^"<>]*")*>$/,
      );
      expect(tag).not.toMatch(/javascript/i);
    }
    expect(cleanHtml(clean)).toBe(clean);
  }
});
