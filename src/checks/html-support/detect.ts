/** Finds which features of HTML and CSS a message uses, by the slugs of Can I email. */

import { addDeclarations, addStyleSheet, type CssUse, emptyCss } from "./css.ts";
import {
  CSS_VALUES,
  ELEMENTS,
  IMAGE_TYPES,
  MEDIA_FEATURES,
  PROPERTIES,
  SELECTORS,
} from "./features.ts";

type HtmlUse = {
  /** Number of elements. */
  nodes: number;
  /** Number of uses of each slug. */
  found: Map<string, number>;
};

/** Mail programs show at most about 100 KB; what is beyond is not checked. */
const MAX_CHARACTERS = 256 * 1024;

export function detectFeatures(html: string): HtmlUse {
  const text = html.slice(0, MAX_CHARACTERS);
  const found = new Map<string, number>();
  const css = emptyCss();
  let nodes = 0;
  let sheet = "";
  const add = (slug: string, count = 1): void => {
    if (count > 0) found.set(slug, (found.get(slug) ?? 0) + count);
  };
  const rewriter = new HTMLRewriter()
    .onDocument({
      doctype: () => add("html-doctype"),
      comments: () => add("html-comments"),
    })
    .on("*", {
      element(element) {
        nodes++;
        addDeclarations(css, decoded(element.getAttribute("style") ?? ""));
        for (const slug of imageSlugs(element.getAttribute("src") ?? "")) add(slug);
      },
    })
    .on("style", { text: ({ text: piece }) => void (sheet += piece) });
  for (const [slug, selector] of ELEMENTS) rewriter.on(selector, { element: () => add(slug) });
  rewriter.transform(text);
  addStyleSheet(css, sheet);
  for (const [slug, count] of cssSlugs(css)) add(slug, count);
  return { nodes, found };
}

const decoded = (text: string): string => text.replaceAll("&quot;", '"').replaceAll("&#39;", "'");

function imageSlugs(source: string): string[] {
  if (source.startsWith("data:image/")) return ["image-base64"];
  const path = source
    .slice(0, 2_000)
    .replace(/[?#].*$/s, "")
    .toLowerCase();
  const slug = IMAGE_TYPES.get(path.slice(path.lastIndexOf(".") + 1));
  return slug === undefined ? [] : [slug];
}

function cssSlugs(css: CssUse): Map<string, number> {
  const found = new Map<string, number>();
  const add = (slug: string, count: number): void => {
    if (count > 0) found.set(slug, (found.get(slug) ?? 0) + count);
  };
  for (const [property, count] of css.properties) {
    add(PROPERTIES.get(property) ?? `css-${property}`, count);
    if (property.startsWith("--")) add("css-variables", count);
  }
  const matching = (texts: readonly string[], pattern: RegExp) =>
    texts.filter((each) => pattern.test(each)).length;
  for (const [slug, pattern] of CSS_VALUES) add(slug, matching(css.declarations, pattern));
  for (const [slug, pattern] of SELECTORS) add(slug, matching(css.selectors, pattern));
  for (const rule of css.atRules) {
    const name = /^[a-z-]{1,40}/.exec(rule)?.[0] ?? "";
    add(`css-at-${name.replace(/^-\w+-/, "")}`, 1);
    for (const [slug, feature] of MEDIA_FEATURES) if (rule.includes(feature)) add(slug, 1);
  }
  if (css.hasComments) add("css-comments", 1);
  return found;
}
