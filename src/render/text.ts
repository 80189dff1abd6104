/** The plain-text alternative of an HTML body (docs/delivery.md#C7). */

import { compile, type DomNode, type FormatCallback } from "html-to-text";
import { offsetOfDepth } from "./html-depth.ts";

/** Longest part of a body that is read, and longest text that is written, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 512 * 1024;

/** A body is read up to this number of tags. */
const MAX_TAGS = 25_000;

/** A body is read up to the first element nested deeper: the parser's time grows with the depth. */
const MAX_PARSED_DEPTH = 500;

/**
 * Elements nested deeper are not converted; layout tables in real mail nest less than fifty deep.
 */
const MAX_CONVERTED_DEPTH = 100;

/** Length of the line that is written for `hr`. */
const RULE_LENGTH = 78;

/**
 * Converts HTML to readable text: links become `text [url]`, images their alternative text, and
 * paragraphs and table rows lines of any length. It never throws, and it takes bounded time for a body of any size and depth.
 */
export function htmlToText(html: string): string {
  const start = truncateHtml(html);
  try {
    return finishText(convert(start).slice(0, MAX_TEXT_LENGTH));
  } catch {
    return withoutTags(start).trim().toWellFormed();
  }
}

/** Removes padding and repeated empty lines from a converted text. */
function finishText(text: string): string {
  return removePadding(text).trim().toWellFormed();
}

/** The beginning of a body, within the limits of length, tags and depth. */
function truncateHtml(html: string): string {
  const end = offsetOfTag(html, MAX_TAGS);
  const start = html.slice(0, end === -1 ? MAX_TEXT_LENGTH : Math.min(end, MAX_TEXT_LENGTH));
  if (offsetOfTag(start, MAX_PARSED_DEPTH) === -1) return start;
  const deep = offsetOfDepth(start, MAX_PARSED_DEPTH);
  return deep === -1 ? start : start.slice(0, deep);
}

/** The offset of the tag with this number, counted from 0; -1 if there are fewer tags. */
function offsetOfTag(html: string, number: number): number {
  let at = html.length <= 3 * number ? -1 : html.indexOf("<");
  for (let tags = 0; at !== -1 && tags < number; tags++) at = html.indexOf("<", at + 1);
  return at;
}

/** Writes the image's alternative text. An image without one, such as a spacer, writes nothing. */
const image: FormatCallback = (element, _walk, builder) => {
  const alt: unknown = element.attribs?.alt;
  if (typeof alt === "string") builder.addInline(` ${alt} `);
};

/**
 * A row of inline cells is data, written as one line; a row with block cells is layout, one line
 * per cell.
 */
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
  if (depth > MAX_CONVERTED_DEPTH) return true;
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

/**
 * Compiled once, because preparing the options takes longer than converting a mail. Lines are not
 * wrapped: the encoding of the mail keeps those on the wire short, and programs wrap them to the
 * width of the window.
 */
const convert = compile({
  wordwrap: null,
  limits: { maxDepth: MAX_CONVERTED_DEPTH },
  // Convert the whole document, except the elements that are skipped below, without a search for
  // the body.
  baseElements: { selectors: [], returnDomByDefault: true },
  // Treat no-break spaces as white space: text does not need them, and spacers contain many.
  whitespaceCharacters: " \t\r\n\f\u200b\u00a0",
  formatters: { image, row },
  selectors: [
    { selector: "a", options: { hideLinkHrefIfSameAsText: true, linkBrackets: ["[", "]"] } },
    { selector: "img", format: "image" },
    // A preheader, which the inbox shows beside the subject (layout.ts, and react-email).
    { selector: "[data-skip-in-text=true]", format: "skip" },
    { selector: "table", format: "block", options: block },
    { selector: "tr", format: "row" },
    { selector: "center", format: "block", options: block },
    { selector: "head", format: "skip" },
    { selector: "title", format: "skip" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: heading })),
    { selector: "hr", options: { length: RULE_LENGTH } },
  ],
});

/** Removes the runs of invisible characters that pad a preview text, and repeated empty lines. */
function removePadding(text: string): string {
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
