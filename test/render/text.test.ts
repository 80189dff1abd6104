import { describe, expect, test } from "bun:test";
import { htmlToText } from "../../src/render/text.ts";
import { threadMs } from "../support/growth.ts";

describe("htmlToText converts", () => {
  const cases: [what: string, html: string, text: string][] = [
    ["an empty body", "", ""],
    ["a body without tags", "just text", "just text"],
    ["paragraphs", "<p>one</p><p>two</p>", "one\n\ntwo"],
    ["a heading without a change of case", "<h1>Über uns</h1><p>x</p>", "Über uns\n\nx"],
    ["line breaks", "a<br>b<br/>c", "a\nb\nc"],
    ["entities", "A &amp; B &lt; &euro; &#x1F44B;", "A & B < € 👋"],
    ["blanks", "a \n\t b&nbsp;&nbsp;c", "a b c"],
    ["a link", '<a href="https://x.example/a">shop</a>', "shop [https://x.example/a]"],
    [
      "a link that shows its url",
      '<a href="https://x.example">https://x.example</a>',
      "https://x.example",
    ],
    ["a link without text", '<a href="https://x.example"></a>', "https://x.example"],
    [
      "a link around an image",
      '<a href="https://x.example"><img alt="Shop"></a>',
      "Shop [https://x.example]",
    ],
    ["an anchor within the page", '<a href="#top">up</a>', "up"],
    ["an image with text", 'a<img src="x.png" alt="our logo">b', "a our logo b"],
    ["a tracking pixel", '<p>a</p><img src="https://x.example/o.gif" width=1>', "a"],
    ["an unordered list", "<ul><li>one</li><li>two</li></ul>", "* one\n * two"],
    ["an ordered list", "<ol><li>one</li><li>two</li></ol>", "1. one\n 2. two"],
    ["a quotation", "<blockquote>a<br>b</blockquote>", "> a\n> b"],
    ["preformatted text", "<pre>a  b\n  c</pre>", "a  b\n  c"],
    [
      "a table of data",
      "<table><tr><th>Item</th><th>Price</th></tr><tr><td>A</td><td><b>10</b></td></tr></table>",
      "Item | Price\nA | 10",
    ],
    [
      "cells without content",
      "<table><tr><td></td><td>a</td><td>&nbsp;</td><td>b</td></tr></table>",
      "a | b",
    ],
    [
      "a table for layout",
      "<table><tr><td><p>left</p></td><td><table><tr><td>right</td></tr></table></td></tr></table>",
      "left\n\nright",
    ],
    [
      "head, style and script",
      "<head><title>t</title><style>s</style></head><script>j</script><p>a</p>",
      "a",
    ],
    ["comments", "a<!-- b --><!--[if mso]>c<![endif]-->d", "ad"],
    [
      "padding of a preview text",
      `<div>Sale${"&#847;&zwnj;&nbsp;".repeat(30)}</div>Hi`,
      "Sale\nHi",
    ],
    ["joiners inside of words and emoji", "می‌خواهم 👨‍👩‍👧", "می‌خواهم 👨‍👩‍👧"],
    ["broken markup", "<p>a<div>b</p></b>c<", "a\n\nb\n\nc<"],
    ["a lone surrogate", "a\ud800b", "a\ufffdb"],
  ];

  for (const [what, html, text] of cases) {
    test(what, () => expect(htmlToText(html)).toBe(text));
  }

  test("a paragraph to one line of any length, also in lists and quotes", () => {
    const words = "word ".repeat(100).trim();
    expect(htmlToText(`<p>${words}</p><p>x</p>`)).toBe(`${words}\n\nx`);
    expect(htmlToText(`<ul><li>${words}<br>x</li></ul>`)).toBe(`* ${words}\n   x`);
    expect(htmlToText(`<blockquote>${words}<br>x</blockquote>`)).toBe(`> ${words}\n> x`);
  });
});

/** The time of longer bodies is tested in linear-time. */
describe("htmlToText reads, and limits the text of", () => {
  const bodies: [what: string, html: string][] = [
    ["deep elements", "<div>".repeat(20_000)],
    ["deep elements with end tags of other elements", "<b>".repeat(10_000) + "</i>".repeat(10_000)],
    ["deep tables", "<table><tr><td>".repeat(6_000)],
    ["deep lists", "<ul><li>".repeat(10_000)],
    ["deep quotations of a long text", "<blockquote>".repeat(90) + "hello world ".repeat(8_000)],
    ["nested links", "<a href=x>y".repeat(10_000)],
    ["many cells", `<table><tr>${"<td>a</td>".repeat(10_000)}</tr></table>`],
    ["a long word", "x".repeat(1_000_000)],
    ["opening angle brackets", "<".repeat(100_000)],
    ["comments that are not closed", "<!--".repeat(25_000)],
    ["many attributes", `<p ${"a=b ".repeat(20_000)}>x`],
    ["invisible characters", "&zwnj; ".repeat(10_000)],
  ];

  for (const [what, html] of bodies) {
    test(what, () => {
      const text = htmlToText(html);
      expect(text.length).toBeLessThanOrEqual(512 * 1024);
    });
  }

  // The parser searches all open elements at each end tag.
  test.each([
    ["elements", "<b>".repeat(12_500) + "</x>".repeat(12_500)],
    ["cells", "<p><td>".repeat(6_000) + "</x>".repeat(12_500)],
    ["foreign content", "<svg>".repeat(12_500) + "</x>".repeat(12_500)],
  ])("deep %s with end tags of other elements (below 60 ms)", (_, html) => {
    const before = threadMs();
    htmlToText(html);
    expect(threadMs() - before).toBeLessThan(60);
  });

  test("a body with an element nested too deeply, and keeps the text before that element", () => {
    const text = htmlToText(`<p>Hello</p>${"<div>".repeat(501)}lost`);
    expect([text.slice(0, 5), text.includes("lost")]).toEqual(["Hello", false]);
    expect(htmlToText(`<p>Hello</p>${"<p>a".repeat(600)}`)).toEndWith("a");
  });
});
