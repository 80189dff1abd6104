/**
 * Cleans HTML that is pasted, or that was the body before there was a design, before a browser parses
 * it: only the elements and attributes that the editor has remain. No style attribute reaches the
 * page, whose policy would report it, and nothing of it can run or load. Linear in the length.
 */

import { cleanLink } from "./links.ts";

/** Longer HTML is cut: a letter of this length cannot be sent. */
const LONGEST = 2_000_000;
const MAX_ATTRIBUTES = 10_000;
const MAX_DEPTH = 100;

/** The elements whose text is no text of the letter. */
const SKIPPED = new Set(
  "script style head title template noscript noembed noframes iframe object svg math select textarea audio video canvas xml".split(
    " ",
  ),
);

/** The element in the editor for each element that is kept. */
const KEPT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    (
      "p h1 h2 h3 ul ol li blockquote hr br a img b strong i em u s sup code " +
      "div section table tbody tr td th span"
    )
      .split(" ")
      .map((name) => [name, name]),
  ),
  h4: "h3",
  h5: "h3",
  h6: "h3",
  strike: "s",
  del: "s",
  ins: "u",
  center: "div",
  article: "div",
  header: "div",
  footer: "div",
  main: "div",
  pre: "p",
};
const VOID = new Set(["br", "hr", "img"]);

/** Attributes by element; all of them are names of the editor. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ["href", "data-id"],
  img: ["src", "alt", "width"],
  ol: ["start"],
};
/** Attributes of the editor's own blocks, when they are copied within it. */
const OWN =
  /^data-(?:type|pm-slice|name|fallback|field|operator|value|html|links|height|background|color|alignment|remote|alt|width|href)$/;

const ATTRIBUTE = /([^\s"'<>/=]{1,100})(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;

export function cleanHtml(html: string): string {
  const text = html.slice(0, LONGEST);
  const out: string[] = [];
  /** The names that were written for the open elements, and those that were read. */
  const open: { read: string; written: readonly string[] }[] = [];
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf("<", at);
    if (next === -1) {
      out.push(text.slice(at));
      break;
    }
    out.push(text.slice(at, next));
    const tag = readTag(text, next);
    if (tag === null) {
      out.push("&lt;");
      at = next + 1;
      continue;
    }
    at = tag.end;
    const { name } = tag;
    if (name === "") continue;
    if (SKIPPED.has(name)) {
      if (!tag.isClosing && !tag.isSelfClosing) at = skipElement(text, name, at);
      continue;
    }
    if (tag.isClosing) closeElement(name, open, out);
    else openElement(name, tag.attributes, open, out);
  }
  for (const { written } of open.toReversed()) out.push(...written.map((name) => `</${name}>`));
  return out.join("");
}

type Tag = {
  /** The name of the element; "" for comments and declarations. */
  name: string;
  isClosing: boolean;
  isSelfClosing: boolean;
  attributes: string;
  end: number;
};

const NAME = /[A-Za-z][A-Za-z0-9:-]{0,40}/y;

/** Reads the tag at a `<`; null for one that begins no tag. */
function readTag(text: string, at: number): Tag | null {
  const none = { name: "", isClosing: false, isSelfClosing: false, attributes: "" };
  if (text.startsWith("<!--", at)) return { ...none, end: skipTo(text, "-->", at + 4) };
  const isClosing = text[at + 1] === "/";
  if (text[at + 1] === "!" || text[at + 1] === "?") return { ...none, end: skipTo(text, ">", at) };
  NAME.lastIndex = at + (isClosing ? 2 : 1);
  const name = NAME.exec(text)?.[0].toLowerCase() ?? "";
  if (name === "") return isClosing ? { ...none, end: skipTo(text, ">", at) } : null;
  const end = findTagEnd(text, NAME.lastIndex);
  const attributes = text.slice(NAME.lastIndex, Math.max(NAME.lastIndex, end - 1));
  return {
    name,
    isClosing,
    isSelfClosing: attributes.endsWith("/"),
    attributes: attributes.slice(0, MAX_ATTRIBUTES),
    end,
  };
}

function skipTo(text: string, close: string, from: number): number {
  const found = text.indexOf(close, from);
  return found === -1 ? text.length : found + close.length;
}

/**
 * The offset after the `>`. As in browsers, a value that is not closed takes the rest of the text.
 */
function findTagEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === ">") return at + 1;
    if ((char === '"' || char === "'") && isAfterEquals(text, at)) {
      const close = text.indexOf(char, at + 1);
      if (close === -1) return text.length;
      at = close;
    }
  }
  return text.length;
}

function isAfterEquals(text: string, at: number): boolean {
  return /=\s{0,9}$/.test(text.slice(Math.max(0, at - 10), at));
}

const CLOSING_TAG = /<\/([a-z][a-z0-9-]{0,30})(?=[\s/>])[^<>]{0,200}>?/gi;

function skipElement(text: string, name: string, from: number): number {
  CLOSING_TAG.lastIndex = from;
  for (;;) {
    const match = CLOSING_TAG.exec(text);
    if (match === null) return text.length;
    if (match[1]?.toLowerCase() === name.toLowerCase()) return match.index + match[0].length;
  }
}

type Open = { read: string; written: readonly string[] };

function openElement(name: string, source: string, open: Open[], out: string[]): void {
  const kept = KEPT[name];
  if (kept === undefined || open.length >= MAX_DEPTH) return;
  const attributes = readAttributes(source);
  const style = (attributes.get("style") ?? "").toLowerCase();
  const names = chooseNames(kept, style);
  for (const each of names)
    out.push(`<${each}${each === kept ? writeAttributes(kept, attributes) : ""}>`);
  if (!VOID.has(kept)) open.push({ read: name, written: names.toReversed() });
}

/** Styles that mean a text style. Google Docs writes `<b>` around everything, in normal weight. */
function chooseNames(name: string, style: string): string[] {
  if (name === "b" || name === "strong") {
    return /font-weight:\s*(?:normal|400)/.test(style) ? ["span"] : [name];
  }
  if (name !== "span") return [name];
  const names = ["span"];
  if (/font-weight:\s*(?:bold|[6-9]00)/.test(style)) names.push("strong");
  if (/font-style:\s*italic/.test(style)) names.push("em");
  return names;
}

function closeElement(name: string, open: Open[], out: string[]): void {
  let at = open.length - 1;
  while (at >= 0 && open[at]?.read !== name) at--;
  // The element was never opened, so its closing tag is left out.
  if (at < 0) return;
  for (const { written } of open.splice(at).toReversed()) {
    out.push(...written.map((each) => `</${each}>`));
  }
}

function readAttributes(source: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", ...values] of source.matchAll(ATTRIBUTE)) {
    const value = values.find((each) => each !== undefined) ?? "";
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return found;
}

function writeAttributes(name: string, attributes: ReadonlyMap<string, string>): string {
  const kept = [...attributes].filter(
    ([attribute]) => ATTRIBUTES[name]?.includes(attribute) === true || OWN.test(attribute),
  );
  return kept
    .filter(([attribute, value]) => !/^(?:href|src)$/.test(attribute) || isSafe(value))
    .map(([attribute, value]) => ` ${attribute}="${value.replace(/["<>]/g, escapeChar)}"`)
    .join("");
}

const isSafe = (value: string): boolean => {
  const address = decodeBasic(value);
  return cleanLink(address) !== null || /^\/[^/]/.test(address);
};

/** Entities can hide the scheme of an address. An address with others is not kept. */
function decodeBasic(value: string): string {
  const decoded = value.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'");
  return /&(?:#|\w+;)/.test(decoded) && !/^(?:https?:|\{\{|mailto:)/i.test(decoded) ? "" : decoded;
}

const escapeChar = (char: string): string =>
  char === '"' ? "&quot;" : char === "<" ? "&lt;" : "&gt;";
