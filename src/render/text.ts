/** The plain-text alternative of an HTML body (docs/delivery.md#C7). */

import { compile, type DomNode, type FormatCallback } from "html-to-text";
import { offsetOfDepth } from "./html-depth.ts";

/** What is read of a body, and the most that is written, in UTF-16 units. */
const LONGEST = 512 * 1024;

/** Tags that are read of a body. */
const MOST_TAGS = 25_000;

/** A body is read up to the element that nests deeper: the parser takes the more time the deeper. */
const DEEPEST_PARSED = 500;

/** Elements within elements that are converted; layout tables in real mail stay below fifty. */
const DEEPEST = 100;

const LINE_LENGTH = 78;

/**
 * Readable text: links as `text [url]`, images by their alternative text, table rows as lines.
 * Never throws; a body of any size or depth takes bounded time.
 */
export function htmlToText(html: string): string {
  const start = bounded(html);
  try {
    return tidy(convert(start).slice(0, LONGEST)).trim().toWellFormed();
  } catch {
    return withoutTags(start).trim().toWellFormed();
  }
}

function bounded(html: string): string {
  const end = offsetOfTag(html, MOST_TAGS);
  const start = html.slice(0, end === -1 ? LONGEST : Math.min(end, LONGEST));
  if (offsetOfTag(start, DEEPEST_PARSED) === -1) return start;
  const deep = offsetOfDepth(start, DEEPEST_PARSED);
  return deep === -1 ? start : start.slice(0, deep);
}

/** Where the tag with this number begins, counted from 0; -1 if there are not so many. */
function offsetOfTag(html: string, number: number): number {
  let at = html.length <= 3 * number ? -1 : html.indexOf("<");
  for (let tags = 0; at !== -1 && tags < number; tags++) at = html.indexOf("<", at + 1);
  return at;
}

/** The image's alternative text; an image without one says nothing (a tracking pixel, a spacer). */
const image: FormatCallback = (element, _walk, builder) => {
  const alt: unknown = element.attribs?.alt;
  if (typeof alt === "string") builder.addInline(` ${alt} `);
};

/** A row of short cells is a line of data; cells with blocks inside are layout: one by one. */
const row: FormatCallback = (element, walk, builder) => {
  const cells = element.children.filter(({ name }) => name === "td" || name === "th");
  const isData = cells.length > 1 && !cells.some((cell) => hasBlock(cell, 0));
  builder.openBlock({ leadingLineBreaks: 1 });
  let isFirst = true;
  for (const cell of cells) {
    if (isData && isBlank(cell)) continue;
    if (!isData) builder.openBlock({ leadingLineBreaks: 1 });
    if (isData && !isFirst) builder.addInline(" | ");
    walk(cell.children, builder);
    if (!isData) builder.closeBlock({ trailingLineBreaks: 1 });
    isFirst = false;
  }
  builder.closeBlock({ trailingLineBreaks: 1 });
};

const BLOCKS: ReadonlySet<string> = new Set(
  "table div p h1 h2 h3 h4 h5 h6 ul ol blockquote pre hr br center section".split(" "),
);

function hasBlock(element: DomNode, depth: number): boolean {
  if (depth > DEEPEST) return true;
  return (element.children ?? []).some(
    (child) => BLOCKS.has(child.name ?? "") || hasBlock(child, depth + 1),
  );
}

function isBlank(cell: DomNode): boolean {
  return cell.children.every(({ type, data }) => type === "text" && (data ?? "").trim() === "");
}

const block = { leadingLineBreaks: 1, trailingLineBreaks: 1 };
const paragraph = { leadingLineBreaks: 2, trailingLineBreaks: 2 };
const heading = { ...paragraph, uppercase: false };

/** Compiled once: putting the options together takes longer than converting a mail. */
const convert = compile({
  wordwrap: LINE_LENGTH,
  limits: { maxDepth: DEEPEST },
  // No search for the body: the whole document is converted, but for what is skipped below.
  baseElements: { selectors: [], returnDomByDefault: true },
  // No-break spaces included: nobody needs them here, and spacers are full of them.
  whitespaceCharacters: " \t\r\n\f\u200b\u00a0",
  formatters: { image, row },
  selectors: [
    { selector: "a", options: { hideLinkHrefIfSameAsText: true, linkBrackets: ["[", "]"] } },
    { selector: "img", format: "image" },
    { selector: "table", format: "block", options: block },
    { selector: "tr", format: "row" },
    { selector: "center", format: "block", options: block },
    { selector: "head", format: "skip" },
    { selector: "title", format: "skip" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: heading })),
  ],
});

/** Takes out the invisible characters that keep a preview text short, and piles of empty lines. */
function tidy(text: string): string {
  return text
    .replace(INVISIBLE_RUN, (run) => ((run.match(INVISIBLE)?.length ?? 0) >= 3 ? "\n" : run))
    .replace(/\n{3,}/g, "\n\n");
}

const INVISIBLE_CHARACTERS = "\u200c\u200d\u200e\u00ad\u034f\ufeff";
const INVISIBLE = new RegExp(`[${INVISIBLE_CHARACTERS}]`, "g");
const INVISIBLE_RUN = new RegExp(`[${INVISIBLE_CHARACTERS}][${INVISIBLE_CHARACTERS}\\s]*`, "g");

function withoutTags(html: string): string {
  return html.replace(/<[^<>]*>/g, " ").replace(/\s+/g, " ");
}
