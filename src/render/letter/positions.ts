/**
 * Checks where the values of a body stand. A letter is safe only if all stand in the text of elements:
 * not in tags, comments, scripts, styles or preformatted text, and not after the beginning of a tag or
 * a character reference, which a value would complete.
 */

import { decodeHTMLAttribute } from "entities/decode";
import { markedValue, marksIn, valueMark } from "./values.ts";

/** Elements whose text is not written like that of others. */
const EXCLUDED =
  "script, style, textarea, xmp, iframe, noembed, noframes, noscript, plaintext, pre, svg, math, template";

/**
 * A rule for the values in the text of a link: none has this character. The text alternative writes
 * a link whose text is its own URL without the URL.
 */
export type LinkRule = { values: readonly number[]; character: string };

type Anchor = { href: string; values: number[]; text: string };

/**
 * Checks a body in which private-use characters mark `count` values. Returns the rules for values in
 * links, or null if a value stands elsewhere.
 */
export function checkPositions(html: string, count: number): LinkRule[] | null {
  const marks = Array.from({ length: count }, (_, value) => valueMark(value)).join("");
  if (marksIn(html) !== marks || completesMarkup(html)) return null;
  let found = "";
  let isExcluded = false;
  const anchors: Anchor[] = [];
  const open: Anchor[] = [];
  const rewriter = new HTMLRewriter()
    .onDocument({ text: (chunk) => void (found += marksIn(chunk.text)) })
    .on(EXCLUDED, {
      text(chunk) {
        if (marksIn(chunk.text) !== "") isExcluded = true;
      },
    })
    .on("a[href]", {
      element(element) {
        const href = decodeHTMLAttribute(element.getAttribute("href") ?? "");
        const anchor = { href: href.replace(/^mailto:/, ""), values: [], text: "" };
        anchors.push(anchor);
        open.push(anchor);
        element.onEndTag(() => void open.splice(open.indexOf(anchor), 1));
      },
      text(chunk) {
        for (const anchor of open) addText(anchor, chunk.text);
      },
    })
    .on("a[href] img[alt]", {
      element(image) {
        for (const anchor of open) addText(anchor, image.getAttribute("alt") ?? "");
      },
    });
  rewriter.transform(html);
  return found !== marks || isExcluded ? null : linkRules(anchors);
}

/** True if a value follows text that may be the beginning of a tag or of a character reference. */
function completesMarkup(html: string): boolean {
  for (let at = html.search(MARK); at !== -1;) {
    if (/[<&][^\s;><&]*$/.test(html.slice(Math.max(0, at - LONGEST_REFERENCE), at))) return true;
    const next = html.slice(at + 1).search(MARK);
    at = next === -1 ? -1 : at + 1 + next;
  }
  return false;
}

const LONGEST_REFERENCE = 40;
const MARK = /[\ue000-\uf8ff]/;

function addText(anchor: Anchor, text: string): void {
  for (const mark of marksIn(text)) anchor.values.push(markedValue(mark));
  anchor.text += text;
}

/** Null if the text of a link could be its URL in spite of all rules. */
function linkRules(anchors: readonly Anchor[]): LinkRule[] | null {
  const rules: LinkRule[] = [];
  for (const { href, values, text } of anchors) {
    if (values.length === 0) continue;
    const character = [":", "@"].find((sign) => href.includes(sign) && !mayWrite(text, sign));
    if (character === undefined) return null;
    rules.push({ values, character });
  }
  return rules;
}

/** True if the fixed text has the character, or a character reference, which may stand for it. */
function mayWrite(text: string, character: string): boolean {
  return text.includes(character) || text.includes("&");
}
