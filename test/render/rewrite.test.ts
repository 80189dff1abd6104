import { describe, expect, test } from "bun:test";
import { rewriteHtml } from "../../src/render/rewrite.ts";

const redirect = (target: string) => `https://r.test/${Buffer.from(target).toString("base64url")}`;

function rewrite(html: string, ending = ""): string {
  return rewriteHtml(html, { redirect, ending });
}

/** The `href` of the first link. */
function hrefIn(html: string): string {
  return /href="([^"]*)"/i.exec(html)?.[1] ?? "";
}

describe("rewriteHtml replaces the href of a web link by the redirect of its target", () => {
  const cases: [html: string, target: string][] = [
    [`<a href="https://example.com">x</a>`, "https://example.com/"],
    [`<a href='http://example.com/a'>x</a>`, "http://example.com/a"],
    [`<a href=https://example.com/a>x</a>`, "https://example.com/a"],
    [`<A HREF="HTTPS://EXAMPLE.COM/A">x</A>`, "https://example.com/A"],
    [`<a href="https://example.com/?a=1&amp;b=2">x</a>`, "https://example.com/?a=1&b=2"],
    [`<a href="https://example.com/?a=1&b=2">x</a>`, "https://example.com/?a=1&b=2"],
    [`<a href="https://example.com/?a=1&copy=2">x</a>`, "https://example.com/?a=1&copy=2"],
    [`<a href="https://example.com/?q=&quot;&#39;&#x41;">x</a>`, "https://example.com/?q=%22%27A"],
    [`<a href="https://example.com/&eacute;">x</a>`, "https://example.com/%C3%A9"],
    [`<a href=" https://example.com/a ">x</a>`, "https://example.com/a"],
    [`<a href="https://example.com/a\nb">x</a>`, "https://example.com/ab"],
    [`<a href="https://münchen.de/ü">x</a>`, "https://xn--mnchen-3ya.de/%C3%BC"],
    [`<a href="https://example.com/a#part">x</a>`, "https://example.com/a#part"],
    [`<a class="b" href="https://example.com/" id="c">x</a>`, "https://example.com/"],
    [`<map><area shape="rect" href="https://example.com/"></map>`, "https://example.com/"],
    [`<a href="https://example.com/"><img src="https://i.test/x.png"></a>`, "https://example.com/"],
  ];

  for (const [html, target] of cases) {
    test(html, () => {
      const rewritten = rewrite(html);
      expect(hrefIn(rewritten)).toBe(redirect(target));
      expect(rewritten.replace(/href="[^"]*"/i, "")).toBe(
        html.replace(/href=(?:"[^"]*"|'[^']*'|[^\s>]+)/i, ""),
      );
    });
  }

  test("in several links of one mail", () => {
    const html = `<a href="https://a.test/">a</a><a href="#top">b</a><a href="https://c.test/">c</a>`;
    expect(rewrite(html)).toBe(
      `<a href="${redirect("https://a.test/")}">a</a><a href="#top">b</a>` +
        `<a href="${redirect("https://c.test/")}">c</a>`,
    );
  });
});

describe("rewriteHtml does not change", () => {
  const cases = [
    `<a href="#top">x</a>`,
    `<a href="">x</a>`,
    `<a href>x</a>`,
    `<a name="x">x</a>`,
    `<a href="mailto:a@example.com?subject=x&amp;body=y">x</a>`,
    `<a href="tel:+491234">x</a>`,
    `<a href="sms:+491234">x</a>`,
    `<a href="cid:logo">x</a>`,
    `<a href="data:text/html,x">x</a>`,
    `<a href="javascript:alert(1)">x</a>`,
    `<a href="ftp://example.com/">x</a>`,
    `<a href="/relative">x</a>`,
    `<a href="//example.com/">x</a>`,
    `<a href="https://">x</a>`,
    `<a href="https://exa mple.com/">x</a>`,
    `<a href="https://example.com/${"x".repeat(2000)}">x</a>`,
    `<a data-no-track href="https://example.com/">x</a>`,
    `<a href="https://example.com/" data-no-track="false">x</a>`,
    `<area data-no-track href="https://example.com/">`,
    `<link href="https://example.com/x.css">`,
    `<img src="https://example.com/x.png">`,
    `<p>https://example.com/</p>`,
    `<!-- <a href="https://example.com/">x</a> -->`,
    `<!--[if mso]><a href="https://example.com/">x</a><![endif]-->`,
    `<style>a[href="https://example.com/"] { color: red }</style>`,
    `<textarea><a href="https://example.com/"></textarea>`,
    `<p>ü 😀 &nbsp;&amp;</p>`,
    ``,
  ];

  for (const html of cases) {
    test(html.slice(0, 80) || "an empty body", () => {
      expect(rewrite(html)).toBe(html);
    });
  }

  test("a link that has no redirect", () => {
    const html = `<a href="https://example.com/?a&amp;b">x</a>`;
    expect(rewriteHtml(html, { redirect: () => null, ending: "" })).toBe(html);
    expect(rewriteHtml(html, { redirect: null, ending: "" })).toBe(html);
  });
});

describe("the ending is added at the end of the body", () => {
  const cases: [html: string, expected: string][] = [
    ["<body><p>x</p></body>", "<body><p>x</p><hr></body>"],
    [
      "<!doctype html><html><body>x</body></html>\n",
      "<!doctype html><html><body>x<hr></body></html>\n",
    ],
    ["<BODY>x</BODY>", "<BODY>x<hr></BODY>"],
    ["<p>x</p>", "<p>x</p><hr>"],
    ["x", "x<hr>"],
    ["", "<hr>"],
    ["<body>never closed", "<body>never closed<hr>"],
    ["<!-- </body> --><body>x</body>", "<!-- </body> --><body>x<hr></body>"],
    ["<body>a</body><!-- </body> -->", "<body>a<hr></body><!-- </body> -->"],
  ];

  for (const [html, expected] of cases) {
    test(`of ${html}`, () => {
      expect(rewriteHtml(html, { redirect: null, ending: "<hr>" })).toBe(expected);
      expect(rewrite(html, "<hr>")).toBe(expected);
    });
  }

  test("once, even if there are several bodies", () => {
    expect(rewrite("<body>a</body><body>b</body>", "<hr>").split("<hr>")).toHaveLength(2);
  });

  test("and its own links are not rewritten", () => {
    const ending = `<a href="https://example.com/">x</a>`;
    expect(rewrite("<body></body>", ending)).toBe(`<body>${ending}</body>`);
  });
});

describe("rewriteHtml accepts", () => {
  const pieces = [
    "<a href=",
    `<a href='https://x.test/?a&amp;b'>`,
    "</a>",
    "<body>",
    "</body>",
    "<select>",
    "<table>",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<svg>",
    "<math>",
    "<template>",
    "<plaintext>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<textarea>",
    "<title>",
    "<xmp>",
    "<frameset>",
    "text",
    '"',
    "'",
    ">",
    "<",
    "&",
    "ü",
    "😀",
    "<p",
    "/>",
  ];

  test("random malformed HTML, and adds the ending to it", () => {
    let state = 7;
    const next = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    for (let i = 0; i < 5_000; i++) {
      const html = Array.from({ length: next(12) }, () => pieces[next(pieces.length)]).join("");
      expect(rewrite(html, "<hr>")).toContain("<hr>");
    }
  });

  test("deeply nested and very long HTML", () => {
    const link = `<a href="https://example.com/">x</a>`;
    const deep = `${"<div>".repeat(20_000)}${link}`;
    expect(rewrite(deep)).toEndWith(`<a href="${redirect("https://example.com/")}">x</a>`);
    const long = `<img src="data:${"x".repeat(2_000_000)}">${link}`;
    expect(rewrite(long)).toEndWith(`<a href="${redirect("https://example.com/")}">x</a>`);
  });
});
