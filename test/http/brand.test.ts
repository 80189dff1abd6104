import { describe, expect, test } from "bun:test";
import { brandHtml, brandStyle, CARD, contrast, readableOn, textOn } from "../../src/http/brand.ts";
import { documentResponse } from "../../src/http/page.ts";

describe("text on a colour", () => {
  const cases: [color: string, text: string][] = [
    ["#000000", "#ffffff"],
    ["#ffffff", "#000000"],
    ["#ffd400", "#000000"],
    ["#1d56c4", "#ffffff"],
    ["#d62828", "#ffffff"],
    ["#00b894", "#000000"],
  ];
  test.each(cases)("is readable on %s", (color, text) => {
    expect(textOn(color)).toBe(text);
    expect(contrast(color, text)).toBeGreaterThanOrEqual(4.5);
  });
});

test("each colour gets a text, an edge and a link that can be read, in light and in dark", () => {
  const levels = ["00", "40", "80", "bf", "ff"];
  const colors = levels.flatMap((red) =>
    levels.flatMap((green) => levels.map((blue) => `#${red}${green}${blue}`)),
  );
  for (const color of colors) {
    expect(contrast(color, textOn(color))).toBeGreaterThanOrEqual(4.5);
    for (const card of [CARD.light, CARD.dark]) {
      for (const wanted of [3, 4.5]) {
        const readable = readableOn(card, color, wanted);
        expect(readable).toMatch(/^#[0-9a-f]{6}$/);
        expect(contrast(readable, card)).toBeGreaterThanOrEqual(wanted);
        if (contrast(color, card) >= wanted) expect(readable).toBe(color);
      }
    }
  }
});

test("a page without a colour has no styles besides those of all pages", () => {
  expect(brandStyle(null)).toBe("");
  expect(brandStyle("#ffd400")).toContain("--main: #ffd400; --on-main: #000000;");
});

describe("the head of a page", () => {
  const logo = (width: number, height: number) => ({ path: "/i/a.png", width, height });
  const cases: [what: string, brand: Parameters<typeof brandHtml>[0], html: string][] = [
    ["name", { name: "A & B", logo: null, color: null }, '<p class="sender">A &amp; B</p>\n'],
    [
      "wide logo",
      { name: '"A"', logo: logo(320, 100), color: null },
      '<p class="sender logo"><img src="/i/a.png" width="320" height="100" alt="&quot;A&quot;"></p>\n',
    ],
    [
      "square logo",
      { name: "A", logo: logo(64, 64), color: null },
      '<p class="sender logo"><img src="/i/a.png" width="64" height="64" alt=""><span>A</span></p>\n',
    ],
  ];
  test.each(cases)("shows a %s", (_, brand, html) => {
    expect(brandHtml(brand, "Unsubscribe?")).toBe(html);
  });

  test("does not repeat the title", () => {
    expect(brandHtml({ name: "A", logo: null, color: null }, "A")).toBe("");
    expect(brandHtml({ name: "A", logo: logo(9, 9), color: null }, "A")).not.toContain("<span>");
  });
});

test("a page allows only its own styles, and images of this server only with a logo", async () => {
  const brand = { name: "A", logo: { path: "/i/a.png", width: 9, height: 9 }, color: "#ffd400" };
  const page = { language: "en", title: "T", body: "<h1>T</h1>", brand };
  const response = documentResponse({ ...page, status: 404 });
  expect(response.status).toBe(404);
  const policy = response.headers.get("content-security-policy") ?? "";
  const styles = [...(await response.text()).matchAll(/<style>([\s\S]*?)<\/style>/g)];
  expect(styles).toHaveLength(2);
  for (const [, style = ""] of styles) {
    expect(policy).toContain(new Bun.CryptoHasher("sha256").update(style).digest("base64"));
  }
  expect(policy).toContain("img-src 'self' data:;");
  const plain = documentResponse({ ...page, brand: { ...brand, logo: null } });
  expect(plain.headers.get("content-security-policy")).toContain("img-src data:;");
});
