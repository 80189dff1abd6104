/**
 * The body that a design becomes: it compiles, renders, and works in the three large mail programs.
 */

import { describe, expect, test } from "bun:test";
import { checkHtmlSupport } from "../../src/checks/html-support/check.ts";
import { lint } from "../../src/checks/lint.ts";
import { writeCondition } from "../../src/dashboard/ui/editors/visual/conditions.ts";
import { readDesign, storeDesign } from "../../src/dashboard/ui/editors/visual/design.ts";
import { DEFAULT_THEME } from "../../src/dashboard/ui/editors/visual/mail-theme.ts";
import { writeVariable } from "../../src/dashboard/ui/editors/visual/variables.ts";
import { writeHtml } from "../../src/dashboard/ui/editors/visual/write-html.ts";
import { hasUnsubscribeLink } from "../../src/render/footer.ts";
import { compileTemplate, render } from "../../src/render/template/template.ts";
import { seeded } from "../modules/segments/seeded.ts";
import { everyBlock, text } from "./visual-design.ts";

const KB = 1_024;
const GMAIL_CLIP_BYTES = 102 * KB;

function write(...content: object[]): string {
  const read = readDesign(storeDesign({ type: "doc", content }, DEFAULT_THEME));
  if (!read.ok) throw new Error(read.problem);
  return writeHtml(read.design);
}

/** The blocks of a body, without the document and the table around them. */
const blocksOf = (html: string): string =>
  html
    .slice(html.indexOf(`<td class="mt mo"`), html.lastIndexOf("</td></tr></table>\n</td>"))
    .replace(/^[^\n]*\n/, "")
    .trim();

function renderWith(body: string, data: Record<string, unknown>): string {
  const compiled = compileTemplate(body, "html");
  if (!compiled.ok) throw new Error(compiled.message);
  expect(compiled.template.foreign).toBeNull();
  const rendered = render(compiled.template, { ...data, data });
  if (!rendered.ok) throw new Error(rendered.reason);
  return rendered.text;
}

describe("variables render", () => {
  const names = [
    ..."name|First Name|if x|else|this|a-b|it's|1st|né|x if y|for a in b|true|items[0]|b ] c|_x|a,b|Mother's name|née Müller|user@work|100%|a?b|#1".split(
      "|",
    ),
    'say "hi"',
    "a|b",
  ];
  const defaults = ["", "friend", "it's", 'say "hi"', "a & b < c", "{ 5 }", "1 ?? 2", "50 % off"];
  test.each(names)("%s", (name) => {
    for (const fallback of defaults) {
      const output = writeVariable({ name, fallback });
      expect(output).not.toBe("");
      expect(renderWith(`<p>${output}</p>`, { [name]: "Ä<" })).toBe("<p>Ä&lt;</p>");
      expect(renderWith(`<p>${output}</p>`, {})).toBe(`<p>${Bun.escapeHTML(fallback)}</p>`);
    }
  });
});

describe("conditions render", () => {
  const on = "Y";
  test.each([
    ["city", "is", "Rome", { city: "Rome" }, on],
    ["city", "is", "Rome", { city: "Bath" }, ""],
    ["city", "isNot", "Rome", {}, on],
    ["First Name", "is", `O'Hara "x`, { "First Name": "Ada" }, ""],
    ["First Name", "contains", "da", { "First Name": "Ada" }, on],
    ["orders", "greater", "3", { orders: 4 }, on],
    ["orders", "greater", "3", {}, ""],
    ["orders", "less", "3.5", { orders: 3 }, on],
    ["orders", "is", "0", { orders: 0 }, on],
    ["orders", "is", "3", { orders: "3" }, on],
    ["orders", "isNot", "3", { orders: "3" }, ""],
    ["orders", "isNot", "3", { orders: 3 }, ""],
    ["orders", "isNot", "3", {}, on],
    ["name", "is", "NaN", {}, ""],
    ["zip", "is", "00123", { zip: "00123" }, on],
    ["zip", "is", "00123", { zip: 123 }, ""],
    ["zip", "is", "1e3", { zip: "1e3" }, on],
    ["First Name", "is", "true", { "First Name": "true" }, on],
    ["vip", "is", "true", { vip: true }, on],
    ["vip", "is", "true", {}, ""],
    ["joined", "after", "2026-01-01", { joined: "2026-05-13T10:00:00Z" }, on],
    ["joined", "before", "2026-01-01", { joined: "2026-05-13T10:00:00Z" }, ""],
    ["tags", "contains", "new", { tags: ["old", "new"] }, on],
    ["city", "has", "", { city: "" }, ""],
    ["city", "has", "", { city: " " }, ""],
    ["city", "has", "", { city: "Rome" }, on],
    ["orders", "has", "", { orders: 0 }, on],
    ["city", "hasNot", "", {}, on],
    ["", "is", "x", { "": "x" }, ""],
    ["city", "is", "", { city: "" }, ""],
    ["city", "unknown", "", { city: "x" }, ""],
    ["city", "is", "x %} y {% if true %}", { city: "x" }, ""],
  ])("%s %s %s with %j", (field, operator, value, data, shown) => {
    const body = `{% if ${writeCondition({ field, operator, value })} %}Y{% endif %}`;
    expect(renderWith(body, data)).toBe(shown);
  });
});

describe("a block is written", () => {
  const link = (href: string) => [{ type: "link", attrs: { href } }];
  test.each([
    ["an empty line", { type: "paragraph" }, `<p style="margin:0 0 16px">&nbsp;</p>`],
    [
      "text that looks like HTML",
      { type: "paragraph", content: [text("<b> & {{ a | default: “x” }}")] },
      `<p style="margin:0 0 16px">&lt;b&gt; &amp; {{ a | default: "x" }}</p>`,
    ],
    [
      "styles of text, and one link over several of them",
      {
        type: "paragraph",
        attrs: { alignment: "center" },
        content: [
          { ...text("a"), marks: [...link("https://x.example/?a=1&b"), { type: "bold" }] },
          { ...text("b"), marks: link("https://x.example/?a=1&b") },
          { type: "hardBreak" },
          { ...text("c"), marks: [{ type: "textColor", attrs: { color: "#d92d20" } }] },
          { ...text("d"), marks: [{ type: "textColor", attrs: { color: "red;x:y" } }] },
        ],
      },
      `<p style="margin:0 0 16px;text-align:center"><a href="https://x.example/?a=1&amp;b" class="ml" style="color:#4338ca;text-decoration:underline"><strong>a</strong>b</a><br><span class="mx0" style="color:#d92d20">c</span>d</p>`,
    ],
    [
      "a link that a mail must not have, without the link",
      { type: "paragraph", content: [{ ...text("a"), marks: link("javascript:alert(1)") }] },
      `<p style="margin:0 0 16px">a</p>`,
    ],
    [
      "a list in a list",
      {
        type: "orderedList",
        attrs: { start: 3 },
        content: [
          {
            type: "listItem",
            content: [
              { type: "paragraph", content: [text("a")] },
              {
                type: "bulletList",
                content: [{ type: "listItem", content: [{ type: "paragraph" }] }],
              },
            ],
          },
        ],
      },
      `<ol start="3" style="margin:0 0 16px;padding:0 0 0 24px"><li style="margin:0 0 4px">a<ul style="margin:0 0 16px;padding:0 0 0 24px"><li style="margin:0 0 4px">&nbsp;</li></ul></li></ol>`,
    ],
    ["source as it is", { type: "htmlBlock", attrs: { html: "<i>{{ x }}</i>" } }, "<i>{{ x }}</i>"],
    [
      "a condition",
      {
        type: "condition",
        attrs: { field: "orders", operator: "greater", value: "3" },
        content: [{ type: "htmlBlock", attrs: { html: "x" } }],
      },
      "{% if orders > 3 %}\nx\n{% endif %}",
    ],
    [
      "an image of a scheme that loads nothing, as nothing",
      { type: "image", attrs: { src: "data:x" } },
      "",
    ],
  ])("%s", (_, block, html) => {
    expect(blocksOf(write(block))).toBe(html);
  });

  test("a button with a variable as its address", () => {
    const button = {
      type: "button",
      attrs: { href: `{{ url | default: "https://x.example/?a&b" }}`, background: "#f7d154" },
      content: [text("Buy "), { type: "variable", attrs: { name: "item", fallback: "it" } }],
    };
    const html = renderWith(write(button), { url: "https://y.example/?a=1&b=2" });
    expect(html).toContain(`<a href="https://y.example/?a=1&amp;b=2" style="display:inline-block`);
    expect(html).toContain(">Buy it</a>");
    expect(html).toContain(`bgcolor="#f7d154"`);
    expect(renderWith(write(button), {})).toContain(`<a href="https://x.example/?a&amp;b"`);
  });

  test("an image has its size, its text and its link", () => {
    const image = {
      type: "image",
      attrs: { src: "https://x.example/a.png", alt: `A "b" & c`, width: 2_000, href: "{{ url }}" },
    };
    expect(write(image)).toContain(
      `<a href="{{ url }}"><img src="https://x.example/a.png" alt="A &quot;b&quot; &amp; c" width="536" style="display:block;width:100%;max-width:536px;height:auto;border:0"></a>`,
    );
  });
});

describe("a letter with every block", () => {
  const html = write(...everyBlock);

  test("is always the same, and has the unsubscribe link where it was put", () => {
    expect(write(...everyBlock)).toBe(html);
    const read = readDesign(
      JSON.parse(JSON.stringify(storeDesign({ type: "doc", content: everyBlock }, DEFAULT_THEME))),
    );
    expect(read.ok && writeHtml(read.design)).toBe(html);
    const unsubscribeUrl = "https://m.example/unsubscribe/t?a=1&b=2";
    expect(hasUnsubscribeLink(renderWith(html, { unsubscribeUrl }), unsubscribeUrl)).toBe(true);
  });

  test("has the blocks alone in a layout", () => {
    const read = readDesign(storeDesign({ type: "doc", content: everyBlock }, DEFAULT_THEME, true));
    const fragment = read.ok ? writeHtml(read.design) : "";
    expect(fragment).not.toMatch(/<(?:html|head|body|!doctype)|prefers-color-scheme/i);
    expect(fragment).toContain("In a dark box");
    expect(renderWith(fragment, {})).toContain("Hello friend");
  });

  test("has readable dark colours for each colour of a text", () => {
    expect(html).toMatch(/\.mx0\{color:#[0-9a-f]{6}!important\}/);
    expect(html).toContain(`<span class="mx0" style="color:#d92d20">colour</span>`);
  });

  test("uses nothing that Gmail, Outlook or Apple Mail need and do not have", () => {
    const families = ["Gmail", "Outlook", "Apple Mail"];
    const unsupported = checkHtmlSupport(html).findings.flatMap(({ feature, results }) =>
      results.some(({ family, support }) => families.includes(family) && support === "no")
        ? [feature.slug]
        : [],
    );
    // The letter is whole without each of these.
    expect(unsupported.toSorted()).toEqual([
      "css-at-media", // Columns stay side by side.
      "css-at-media-prefers-color-scheme", // The program chooses dark colours itself.
      "css-border-radius", // Corners are square.
      "css-selector-class", // Only the two rules above use classes.
      "css-word-break", // A long word may be wider than a phone.
      "html-body", // The table in it has the same background.
      "html-doctype",
      "html-meta-color-scheme", // The program chooses dark colours itself.
      "html-role", // A screen reader may announce the tables of the layout.
      "html-style", // The style sheet has only the two rules above.
    ]);
  });

  test("has no finding of the checks of a message but those of headers", () => {
    const raw = new TextEncoder().encode(html.replaceAll("\n", "\r\n"));
    const detail = { text: "x", html, headers: [] };
    const findings = lint({ detail, raw, hasBareLf: false });
    const wanted = ["html-size", "image-texts", "link-schemes"];
    const found = findings.filter(({ name }) => wanted.includes(name));
    expect(found.map(({ status }) => status)).toEqual(["OK", "OK", "OK"]);
  });

  test("has tables of the layout only, and styles in each element", () => {
    let tables = 0;
    new HTMLRewriter()
      .on("table", {
        element(table) {
          tables++;
          expect(table.getAttribute("role")).toBe("presentation");
          expect(table.getAttribute("cellspacing")).toBe("0");
        },
      })
      .on("p, h1, h2, h3, ul, ol, li, td:not([align])", {
        element: (element) => expect(element.hasAttribute("style")).toBe(true),
      })
      .transform(html);
    expect(tables).toBeGreaterThan(5);
    expect(html.match(/<(?:table|td|p|a|strong|li)\b/g)?.length).toBeGreaterThan(20);
  });
});

test("an ordinary letter is far below the size that Gmail cuts", () => {
  const paragraph = { type: "paragraph", content: [text("A sentence of a letter. ".repeat(20))] };
  const html = write(...everyBlock, ...Array.from({ length: 40 }, () => paragraph));
  expect(Buffer.byteLength(html)).toBeLessThan(GMAIL_CLIP_BYTES / 2);
});

/** Writing takes some 5 ms, but tests share the processor. It is done after a pause in typing. */
const WRITE_LIMIT_MS = 100;

test("a letter of 100 kB is written between two keystrokes", () => {
  const paragraph = { type: "paragraph", content: [text("A sentence & {{ name }}. ".repeat(20))] };
  const content = Array.from({ length: 200 }, () => paragraph);
  write(...content);
  const times = Array.from({ length: 10 }, () => {
    const started = performance.now();
    write(...content);
    return performance.now() - started;
  });
  expect(Math.min(...times)).toBeLessThan(WRITE_LIMIT_MS);
});

describe("a design that cannot be read says why", () => {
  const nested = (depth: number): object =>
    depth === 0 ? { type: "paragraph" } : { type: "blockquote", content: [nested(depth - 1)] };
  const doc = (...content: unknown[]) => ({ version: 1, document: { type: "doc", content } });
  test.each([
    [null, "no design"],
    [[], "no design"],
    [{}, "another program"],
    [{ version: 2, document: {} }, "newer version"],
    [{ version: 1 }, "no type"],
    [{ version: 1, document: { type: "paragraph" } }, "document is missing"],
    [doc({ type: "video" }), "“video”"],
    [doc({ type: "paragraph", content: "x" }), "damaged"],
    [doc({ type: "paragraph", attrs: 5 }), "damaged"],
    [
      doc({ type: "paragraph", content: [{ ...text("a"), marks: [{ type: "blink" }] }] }),
      "“blink”",
    ],
    [doc(nested(50)), "nested"],
    [doc(...Array.from({ length: 50_001 }, () => ({ type: "paragraph" }))), "more than 50000"],
  ])("%#: %s", (stored, problem) => {
    const read = readDesign(stored);
    expect(read.ok ? "" : read.problem).toContain(problem);
  });

  test("and values that are not valid are left out", () => {
    const html = write(
      { type: "heading", attrs: { level: "9' onload=x" }, content: [text("a")] },
      { type: "spacer", attrs: { height: "1px;x" } },
      { type: "spacer", attrs: { height: 1e9 } },
      { type: "paragraph", attrs: { alignment: `center" onload="x` }, content: [text("a")] },
      { type: "section", attrs: { background: `red"><script>` }, content: [{ type: "paragraph" }] },
      {
        type: "social",
        attrs: {
          links: [
            { name: "<b>", href: "javascript:x" },
            5,
            { name: "<i>", href: "https://x.example" },
          ],
        },
      },
    );
    expect(html).not.toMatch(/onload|script|<b>|<i>|1e\+?9|1000000000/);
    expect(html).toContain("<h1 ");
    expect(html).toContain(`height="400"`);
    expect(html).toContain("&lt;i&gt;</a>");
  });
});

test("random letters compile, are balanced, and are written in the same way each time", () => {
  const random = seeded(11);
  const words = [
    "a",
    "<b>",
    "&amp;",
    `"`,
    "'",
    "{ ",
    "}",
    "%",
    "{{ name }}",
    "é",
    "😀",
    "\u202e",
    "  ",
    "]]>",
    "<!--",
    "-->",
    "$&",
  ];
  const some = (): string => Array.from({ length: 4 }, () => random.pick(words)).join("");
  const inline = (): object =>
    random.pick([
      () => text(some()),
      () => ({
        ...text(some()),
        marks: [{ type: "link", attrs: { href: `https://x.example/${some()}` } }],
      }),
      () => ({
        ...text(some()),
        marks: [{ type: "bold" }, { type: "textColor", attrs: { color: "#12805c" } }],
      }),
      () => ({
        type: "variable",
        attrs: { name: random.pick(["name", "First Name", some()]), fallback: some() },
      }),
      () => ({ type: "hardBreak" }),
    ])();
  const blocks = (depth: number): object[] => Array.from({ length: 3 }, () => block(depth));
  const block = (depth: number): object => {
    const type = random.pick([
      "paragraph",
      "heading",
      "button",
      "image",
      "section",
      "condition",
      "twoColumns",
      "footer",
    ]);
    const attrs = {
      level: 2,
      href: some(),
      src: `https://x.example/${some()}`,
      alt: some(),
      field: some(),
      operator: random.pick(["is", "has", "greater"]),
      value: some(),
      alignment: "center",
    };
    if (type === "twoColumns") {
      const column = () => ({
        type: "columnsColumn",
        content: depth > 0 ? blocks(depth - 1) : [{ type: "paragraph" }],
      });
      return { type, content: [column(), column()] };
    }
    const isContainer = type === "section" || type === "condition";
    if (isContainer)
      return { type, attrs, content: depth > 0 ? blocks(depth - 1) : [{ type: "paragraph" }] };
    return {
      type,
      attrs,
      ...(type === "image" ? {} : { content: [inline(), inline(), inline()] }),
    };
  };
  for (let round = 0; round < 60; round++) {
    const content = blocks(2);
    const html = write(...content);
    expect(write(...content)).toBe(html);
    const compiled = compileTemplate(html, "html");
    expect(
      compiled.ok && compiled.template.foreign === null ? "" : JSON.stringify([compiled, html]),
    ).toBe("");
    expect(unbalanced(renderWith(html, { name: "A" }))).toEqual([]);
  }
});

/** The names of elements that are not closed in their order. */
function unbalanced(html: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, slash, name = ""] of html.matchAll(/<(\/?)([a-z]\w*)/g)) {
    if (/^(?:meta|img|br|hr)$/.test(name)) continue;
    if (slash === "") open.push(name);
    else if (open.pop() !== name) wrong.push(name);
  }
  return [...wrong, ...open];
}
