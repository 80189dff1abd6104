import { describe, expect, spyOn, test } from "bun:test";
import { withoutOtherWork } from "../../support/clock.ts";
import { templateCache } from "../../../src/render/template/cache.ts";
import {
  checkTemplate,
  compileTemplate,
  render,
  type Rendered,
  type TemplateKind,
} from "../../../src/render/template/template.ts";

type Variables = Record<string, unknown>;

function run(
  source: string,
  variables: Variables = {},
  kind: TemplateKind = "html",
  limitMs?: number,
): Rendered {
  const compiled = compileTemplate(source, kind);
  if (!compiled.ok) return { ok: false, reason: `does not compile: ${compiled.message}` };
  return render(compiled.template, variables, limitMs);
}

function expectText(source: string, variables: Variables, text: string, kind?: TemplateKind): void {
  expect(run(source, variables, kind)).toEqual({ ok: true, text });
}

const HOSTILE = `<b>&"'`;
const ESCAPED = "&lt;b&gt;&amp;&quot;&#x27;";

describe("render outputs", () => {
  const cases: [what: string, source: string, variables: Variables, text: string][] = [
    ["text without tags", "Hello", {}, "Hello"],
    ["an empty template", "", {}, ""],
    ["single braces", "a { b } { c", {}, "a { b } { c"],
    ["a variable", "Hello {{ name }}", { name: "Jane" }, "Hello Jane"],
    ["a variable without spaces", "{{name}}", { name: "Jane" }, "Jane"],
    ["a path", "{{ data.order.id }}", { data: { order: { id: 7 } } }, "7"],
    ["an index", "{{ items[1] }}", { items: ["a", "b"] }, "b"],
    ["a missing name", "[{{ missing }}]", {}, "[]"],
    ["a missing path", "[{{ a.b.c.d }}]", {}, "[]"],
    ["null", "[{{ a }}]", { a: null }, "[]"],
    ["zero and false", "{{ a }} {{ b }}", { a: 0, b: false }, "0 false"],
    ["an array", "{{ a }}", { a: [1, "b", null] }, "1b"],
    ["an object as JSON", "{{ a | raw }}", { a: { b: 1 } }, '{"b":1}'],
    ["a filter", "{{ a | upcase | append: '!' }}", { a: "x" }, "X!"],
    ["if", "{% if a %}yes{% else %}no{% endif %}", { a: true }, "yes"],
    ["unless", "{% unless a %}yes{% endunless %}", {}, "yes"],
    ["case", "{% case a %}{% when 1 %}one{% when 2 %}two{% endcase %}", { a: 2 }, "two"],
    ["for", "{% for i in a %}{{ forloop.index }}{{ i }} {% endfor %}", { a: ["x"] }, "1x "],
    [
      "for over an object",
      "{% for p in a %}{{ p[0] }}={{ p[1] }}{% endfor %}",
      { a: { k: 1 } },
      "k=1",
    ],
    ["a range", "{% for i in (1..n) %}{{ i }}{% endfor %}", { n: "3" }, "123"],
    ["whitespace control", "a {{- b -}} c", { b: "x" }, "axc"],
    ["a comment", "a{% comment %}{{ b }}{% endcomment %}{% # note (1) %}c", {}, "ac"],
    ["a raw block", "{% raw %}{{ a }}{% endraw %}", { a: 1 }, "{{ a }}"],
    ["an inline comment of several lines", "a{% # b\n\n  # c\n %}d", {}, "ad"],
    ["a liquid block", "{% liquid\n assign x = a\n echo x\n%}", { a: "y" }, "y"],
    [
      "dates in UTC and English",
      "{{ d | date: '%H:%M %z %B' }}",
      { d: "2026-03-01T23:30:00Z" },
      "23:30 +0000 March",
    ],
    [
      "counters without a change of the data",
      "{% increment n %}{% increment n %} {{ n }}",
      { n: 5 },
      "01 2",
    ],
  ];

  for (const [what, source, variables, text] of cases) {
    test(what, () => expectText(source, variables, text));
  }

  test("does not change the variables", () => {
    const variables = { n: 1, list: [3, 1, 2], data: { a: 1 } };
    const before = structuredClone(variables);
    run("{% increment n %}{{ list | sort | push: 4 }}{% assign data = 2 %}{{ n }}", variables);
    expect(variables).toEqual(before);
  });

  test("does not share assigned variables between two renders", () => {
    const source = "{% assign x = name %}{% capture y %}{{ name }}{% endcapture %}{{ x }}{{ y }}";
    expectText(`[{{ x }}]${source}`, { name: "a" }, "[]aa");
    expectText(`[{{ x }}]${source}`, { name: "b" }, "[]bb");
  });
});

describe("HTML templates escape", () => {
  const capture = "{% capture c %}<i>{{ a }}</i>{% endcapture %}";
  const captured = `<i>${ESCAPED}</i>`;
  const cases: [what: string, source: string, text: string][] = [
    ["an output", "{{ a }}", ESCAPED],
    ["an output inside if", "{% if a %}{{ a }}{% endif %}", ESCAPED],
    ["an output inside for", "{% for x in list %}{{ x }}{% endfor %}", ESCAPED],
    ["an output inside case", "{% case a %}{% when a %}{{ a }}{% endcase %}", ESCAPED],
    ["echo", "{% echo a %}", ESCAPED],
    ["cycle", "{% cycle a %}", ESCAPED],
    ["a literal", "{{ '<b>' }}", "&lt;b&gt;"],
    ["an assigned value", "{% assign x = a %}{{ x }}", ESCAPED],
    ["a filtered value", "{{ a | append: '<' }}", `${ESCAPED}&lt;`],
    ["an array", "{{ list }}", ESCAPED],
    ["not an output with raw", "{{ a | raw }}", HOSTILE],
    ["not an echo with raw", "{% echo a | raw %}", HOSTILE],
    ["not a value assigned with raw", "{% assign x = a | raw %}{{ x }}", HOSTILE],
    [
      "an output whose last filter is not raw",
      "{{ a | raw | replace: 'b', 'i' }}",
      "&lt;i&gt;&amp;&quot;&#x27;",
    ],
    ["an output with escape once", "{{ a | escape }}", ESCAPED],
    ["an output with escape before a filter", "{{ a | escape | append: '<' }}", `${ESCAPED}&lt;`],
    ["escape and raw", "{{ a | escape | raw }}", ESCAPED],
    ["escape in an assign", "{% assign x = a | escape %}{{ x }}", ESCAPED],
    ["escape in an echo", "{% echo a | escape %}", ESCAPED],
    ["escape_once", "{{ '&lt;<' | escape_once }}", "&lt;&lt;"],
    ["line breaks", "{{ lines | newline_to_br }}", "&lt;1&gt;<br />\n2"],
    ["line breaks, raw", "{{ lines | newline_to_br | raw }}", "<1><br />\n2"],
    [
      "line breaks, escaped, raw",
      "{{ lines | escape | newline_to_br | raw }}",
      "&lt;1&gt;<br />\n2",
    ],
    ["a captured value once", `${capture}{{ c }}`, captured],
    ["a captured value in an echo", `${capture}{% echo c %}`, captured],
    [
      "a captured value, captured",
      `${capture}{% capture d %}{{ c }}{% endcapture %}{{ d }}`,
      captured,
    ],
    ["a captured value, stripped", `${capture}{{ c | strip | default: 'x' }}`, captured],
    ["text appended to a captured value", `${capture}{{ c | append: a }}`, `${captured}${ESCAPED}`],
    [
      "a captured value as an argument",
      `${capture}{{ a | append: c }}`,
      `${ESCAPED}${Bun.escapeHTML(captured)}`,
    ],
    ["the size of a captured value", `${capture}{{ c.size }} {{ c | size }}`, "33 33"],
    [
      "a captured value compared",
      `${capture}{% if c contains 'lt' and c != '' %}x{% endif %}`,
      "x",
    ],
    [
      "a captured value, decoded",
      "{% capture c %}%3Cb%3E{% endcapture %}{{ c | url_decode }}",
      "&lt;b&gt;",
    ],
    ["a fallback", "{{ b ?? <i> }}", "&lt;i&gt;"],
  ];

  for (const [what, source, text] of cases) {
    test(what, () => {
      expectText(source, { a: HOSTILE, list: [HOSTILE], lines: "<1>\n2" }, text);
    });
  }

  test("and text templates escape only with the filter escape", () => {
    expectText("{{ a }}", { a: HOSTILE }, HOSTILE, "text");
    expectText("{{ a | raw }}", { a: HOSTILE }, HOSTILE, "text");
    expectText("{% capture c %}{{ a }}{% endcapture %}{{ c }}", { a: "<" }, "<", "text");
    expectText("{{ a | escape }}", { a: "<" }, "&lt;", "text");
  });
});

describe("the fallback operator handles", () => {
  const cases: [what: string, source: string, variables: Variables, text: string][] = [
    ["a missing name", "Dear {{ name ?? customer }},", {}, "Dear customer,"],
    ["a present name", "{{ name ?? customer }}", { name: "Jane" }, "Jane"],
    ["an empty name", "{{ name ?? customer }}", { name: "" }, "customer"],
    ["zero", "{{ n ?? none }}", { n: 0 }, "0"],
    ["a path", "{{ data.name ?? you }}", {}, "you"],
    ["several words", "{{ name ?? our dear friend }}", {}, "our dear friend"],
    ["no spaces", "{{name??you}}", {}, "you"],
    ["an apostrophe", "{{ name ?? don't know }}", {}, "don't know"],
    ["quotes inside the text", '{{ name ?? the "boss" }}', {}, 'the "boss"'],
    ["a backslash", "{{ name ?? a\\n }}", {}, "a\\n"],
    ["double quotes around", '{{ name ?? "you" }}', {}, "you"],
    ["single quotes around", "{{ name ?? 'you' }}", {}, "you"],
    ["braces and bars in quotes", "{{ name ?? 'a | b }} c' }}", {}, "a | b }} c"],
    ["a filter after the text", "{{ name ?? you | upcase }}", {}, "YOU"],
    ["a filter after quotes", "{{ name ?? 'you' | upcase }}", {}, "YOU"],
    ["a filter before the operator", "{{ name | upcase ?? you }}", { name: "x" }, "X"],
    ["no text", "[{{ name ?? }}]", {}, "[]"],
    ["the text after the last operator", "{{ name ?? a ?? b }}", {}, "b"],
    ["a value between operators", "{{ name ?? a ?? b }}", { a: "A" }, "A"],
    ["the first of two values", "{{ name ?? a ?? b }}", { name: "N", a: "A" }, "N"],
    ["a path between operators", "{{ name ?? data.a ?? b }}", { data: { a: "A" } }, "A"],
    ["a key between operators", "{{ name ?? Full Name ?? b }}", { "Full Name": "A" }, "A"],
    ["a string between operators", "{{ name ?? 'a | ?? }}' ?? b }}", {}, "a | ?? }}"],
    ["a filter between operators", "{{ name ?? a | upcase ?? b }}", { a: "x" }, "X"],
    ["four values", "{{ a ?? b ?? c ?? d ?? none }}", { c: "", d: "D" }, "D"],
    ["a quoted text at the end", "{{ a ?? b ?? 'my c' }}", {}, "my c"],
    ["an operator within the quoted text", "{{ a ?? 'b ?? c' }}", {}, "b ?? c"],
    ["an empty list", "{{ a ?? none }}", { a: [] }, "none"],
    ["false", "{{ a ?? none }}", { a: false }, "none"],
    ["a quote before the text", "{{ a ?? 'tis | upcase }}", {}, "'TIS"],
    ["a quote within the text", "{{ a ?? the 'b }}' }}", {}, "the 'b' }}"],
    ["whitespace control", "a {{- name ?? you -}} b", {}, "ayoub"],
    ["two lines", "{{ name ??\n  you }}", {}, "you"],
    ["two outputs", "{{ a ?? 1 }}{{ b ?? 2 }}", {}, "12"],
    ["inside a quoted string", "{{ 'a ?? b' }}", {}, "a ?? b"],
    ["inside a raw block", "{% raw %}{{ a ?? b }}{% endraw %}{{ a ?? c }}", {}, "{{ a ?? b }}c"],
    ["in plain text", "what?? {{ a }}", { a: 1 }, "what?? 1"],
  ];

  for (const [what, source, variables, text] of cases) {
    test(what, () => expectText(source, variables, text, "text"));
  }

  test("no operator inside a tag", () => {
    expectText("{% assign x = a ?? b %}[{{ x }}]", {}, "[]");
  });
});

describe("compileTemplate reports the position of", () => {
  const cases: [what: string, source: string, line: number, column: number, message: RegExp][] = [
    ["an unknown tag", "a\nb {% foo %}", 2, 3, /tag "foo" not found/],
    ["an unknown filter", "{{ a | upcas }}", 1, 1, /undefined filter: upcas/],
    ["an output that is not closed", "x\n\n  {{ a", 3, 3, /not closed/],
    ["a tag that is not closed", "{% if a", 1, 1, /not closed/],
    ["a block that is not closed", "x{% if a %}", 1, 2, /not closed/],
    [
      "a block that is not closed after fallbacks",
      "{{ a ?? b }}{{ c ?? 'd' }}{% if a %}",
      1,
      27,
      /not closed/,
    ],
    ["a tag on the line of a fallback", "\n{{ a ?? b }} {% foo %}", 2, 14, /"foo" not found/],
    ["an include", "{% include 'x' %}", 1, 1, /cannot load other files/],
    ["a render", "{% render 'x' %}", 1, 1, /cannot load other files/],
    ["a layout", "{% layout 'x' %}", 1, 1, /cannot load other files/],
    ["a liquid tag in another one", "{% liquid\n liquid echo a %}", 2, 2, /nested in another/],
    ["an inline comment with a line without #", "{% # a\n b %}", 1, 1, /must start with a '#'/],
    ["a NUL character", "a\n\0", 2, 1, /NUL/],
    ["more than 1 MiB", "ü".repeat(600_000), 1, 1, /longer than 1 MiB/],
    // The number of levels that fit into the stack depends on the code that the runtime has compiled so
    // far.
    ["deep nesting", "{% if a %}".repeat(9_999), 1, expect.any(Number), /too deeply|not closed/],
    [
      "a range that begins with a variable",
      "{% for i in (a..9) %}{% endfor %}",
      1,
      expect.any(Number),
      /must begin with a number/,
    ],
    [
      "a range that begins with a huge number",
      "{% for i in (9007199254740992..9007199254740994) %}{% endfor %}",
      1,
      expect.any(Number),
      /must begin with a number/,
    ],
  ];

  for (const [what, source, line, column, message] of cases) {
    test(what, () => {
      const expected = {
        ok: false as const,
        line,
        column,
        message: expect.stringMatching(message),
      };
      expect(compileTemplate(source, "html")).toEqual(expected);
    });
  }

  test("an error, as a field error with line and column", () => {
    expect(checkTemplate("Hi {{ name }}", "subject", { kind: "text" })).toEqual([]);
    expect(checkTemplate("a\nb {% foo %}", "body", { kind: "html" })).toEqual([
      {
        field: "body",
        message: 'has a syntax error in line 2, column 3: tag "foo" not found',
        code: "invalid_format",
      },
    ]);
  });

  test("an error in a long expression, with a short message", () => {
    const compiled = compileTemplate(`{% if ${"a or ".repeat(10_000)} b %}`, "html");
    expect(compiled.ok || compiled.message.length).toBeLessThan(250);
  });
});

describe("render returns a reason for", () => {
  const cases: [what: string, source: string, variables: Variables, reason: RegExp][] = [
    [
      "an invalid input of a filter",
      "a\n{{ a | url_encode }}",
      { a: "\ud800" },
      /^Line 2, column 1: /,
    ],
    ["a missing argument", "{{ a | append }}", {}, /^Line 1, column 1: append/],
    ["an error after a fallback", "{{ a ?? b }} {{ a | append }}", {}, /^Line 1, column 14: /],
    ["a NUL character from a variable", "{{ a }}", { a: "\0" }, /NUL/],
    ["a circular object", "{{ a | json }}", circularData(), /circular|cyclic/i],
    [
      "a range inside a string",
      "{{ a | where: '[(9007199254740992..9007199254740994)]' }}",
      { a: [1] },
      /must begin with a number/,
    ],
  ];

  for (const [what, source, variables, reason] of cases) {
    test(what, () => {
      const rendered = run(source, variables);
      expect(rendered).toEqual({ ok: false, reason: expect.stringMatching(reason) });
      expect(run(source, variables)).toEqual(rendered);
    });
  }
});

describe("a template cannot read inherited properties", () => {
  const sources = [
    "{{ ''.constructor }}",
    "{{ x.constructor.constructor }}",
    "{{ x.__proto__ }}",
    "{{ __proto__ }}{{ constructor }}{{ toString }}{{ hasOwnProperty }}",
    "{{ list.constructor }}{{ list.push }}",
    "{{ 'x' | constructor }}",
  ];

  for (const source of sources) {
    test(source, () => {
      const rendered = run(source, { x: {}, list: [] });
      expect(rendered.ok ? rendered.text : "").toBe("");
    });
  }

  test("and cannot change a prototype by an assignment to __proto__", () => {
    run(
      "{% assign __proto__ = 'x' %}{% capture __proto__ %}y{% endcapture %}{% increment __proto__ %}",
    );
    expect(Object.keys(Object.getPrototypeOf({}))).toEqual([]);
  });
});

describe("limits", () => {
  const slow: [what: string, source: string][] = [
    [
      "nested loops",
      "{% assign r = (1..900000) %}{% for i in r %}{% for j in r %}{% endfor %}{% endfor %}",
    ],
    [
      "slow filters in a loop",
      "{% assign r = (1..100000) %}{% for i in r %}{% assign a = r | where_exp: 'x', 'x == 0' %}{% endfor %}",
    ],
  ];

  for (const [what, source] of slow) {
    test(`stop ${what} after the time limit`, () => {
      const { rendered, tookMs } = withoutOtherWork(() => {
        const beganMs = performance.now();
        return { rendered: run(source, {}, "html", 60), tookMs: performance.now() - beganMs };
      });
      expect(rendered).toEqual({ ok: false, reason: "The template takes longer than 1000 ms." });
      expect(tookMs).toBeGreaterThanOrEqual(60);
    });
  }

  test.each([
    ["a second by default", undefined, 1_000],
    ["less if the caller gives less", 300, 300],
    ["at most a second", 5_000, 1_000],
  ])("allow %s", (_, limitMs, expectedMs) => {
    // Each reading of a clock takes a millisecond, and so does the processor.
    let usedMs = 0;
    const clock = spyOn(performance, "now").mockImplementation(() => ++usedMs);
    const processor = spyOn(process, "threadCpuUsage").mockImplementation(() => ({
      user: usedMs * 1_000,
      system: 0,
    }));
    const source = "{% for i in (1..5000) %}{% assign x = i %}{% endfor %}";
    const rendered = run(source, {}, "html", limitMs);
    clock.mockRestore();
    processor.mockRestore();
    expect(rendered).toEqual({ ok: false, reason: "The template takes longer than 1000 ms." });
    expect(usedMs).toBeWithin(expectedMs, expectedMs + 10);
  });

  test("do not count the time during which the machine was suspended", () => {
    const now = performance.now.bind(performance);
    let suspendedMs = 0;
    const clock = spyOn(performance, "now").mockImplementation(() => now() + suspendedMs);
    const variables = {
      get name() {
        suspendedMs ||= 60_000; // Only once: the machine is resumed after it.
        return "Ada";
      },
    };
    const rendered = run("{{ name }}{% for i in (1..9) %}{{ i }}{% endfor %}", variables);
    clock.mockRestore();
    expect(suspendedMs).toBe(60_000);
    expect(rendered).toEqual({ ok: true, text: "Ada123456789" });
  });

  const big: [what: string, source: string, reason: RegExp][] = [
    ["a huge range", "{% for i in (1..100000000) %}{% endfor %}", /memory/],
    [
      "a doubling string",
      "{% assign a = 'xxxxxxxx' %}{% for i in (1..99) %}{% assign a = a | append: a %}{% endfor %}",
      /memory/,
    ],
    ["a huge padding", "{{ '2026-01-01' | date: '%1000000000d' }}", /memory/],
    ["a huge output", `{% for i in (1..100000) %}${"x".repeat(1_000)}{% endfor %}`, /5 MiB/],
    [
      "a huge capture",
      `{% capture a %}{% for i in (1..100000) %}${"x".repeat(1_000)}{% endfor %}{% endcapture %}`,
      /5 MiB/,
    ],
    ["a filter on a long array", "{{ (1..200000) | sort }}", /100000 items/],
    ...["map", "sort", "where", "sum", "group_by", "find"].map((name): [string, string, RegExp] => [
      `a long path for many items, ${name}`,
      `{{ (1..10000) | ${name}: "${"a.".repeat(101)}" }}`,
      /too long for so many items/,
    ]),
    [
      "a long expression for many items",
      `{{ (1..10000) | where_exp: "i", "${"i.".repeat(101)}" }}`,
      /too long for so many items/,
    ],
  ];

  for (const [what, source, reason] of big) {
    test(`refuse ${what}`, () => {
      expect(run(source)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
    });
  }
});

describe("templateCache", () => {
  test("compiles a source once for each kind", () => {
    const cache = templateCache({ maxEntries: 10, maxBytes: 1_000_000 });
    const first = cache.compile("{{ a }}", "html");
    expect(cache.compile("{{ a }}", "html")).toEqual(first);
    const again = cache.compile("{{ a }}", "html");
    expect(first.ok && again.ok && first.template === again.template).toBe(true);
    expect(cache.compile("{{ a }}", "text")).toMatchObject({ template: { kind: "text" } });
    expect(cache.entries).toBe(2);
  });

  test("evicts the least recently used template", () => {
    const cache = templateCache({ maxEntries: 2, maxBytes: 1_000_000 });
    const first = cache.compile("{{ a1 }}", "html");
    cache.compile("{{ a2 }}", "html");
    cache.compile("{{ a1 }}", "html");
    cache.compile("{{ a3 }}", "html");
    const again = cache.compile("{{ a1 }}", "html");
    expect(first.ok && again.ok && first.template === again.template).toBe(true);
    expect(cache.entries).toBe(2);
  });

  test("does not exceed its limit of bytes", () => {
    const cache = templateCache({ maxEntries: 1_000, maxBytes: 50_000 });
    for (let i = 0; i < 100; i++) cache.compile(`{{ a${i} }}${"x".repeat(1_000)}`, "html");
    expect(cache.bytes).toBeLessThanOrEqual(50_000);
    expect(cache.entries).toBeGreaterThan(5);
    expect(cache.compile(`{{ a }}${"y".repeat(100_000)}`, "html").ok).toBe(true);
    expect(cache.bytes).toBeLessThanOrEqual(50_000);
  });

  test("does not store a finished text", () => {
    const cache = templateCache({ maxEntries: 10, maxBytes: 1_000_000 });
    expect(cache.compile("<p>Hello</p>", "html")).toMatchObject({ ok: true });
    expect(cache.entries).toBe(0);
  });

  test("does not store a template with an error", () => {
    const cache = templateCache({ maxEntries: 10, maxBytes: 1_000_000 });
    expect(cache.compile("{{ a", "html").ok).toBe(false);
    expect(cache.entries).toBe(0);
  });
});

function circularData(): Variables {
  const a: Variables = {};
  a["a"] = a;
  return { a };
}
