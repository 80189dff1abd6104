/**
 * The text alternative of a shape. Paragraphs without values are wrapped and encoded once; those with
 * values are wrapped for each mail.
 *
 * html-to-text converts the body with many words for each value, once unwrapped and once wrapped,
 * which shows the indent of each paragraph with values. Then the paragraphs are wrapped again here,
 * and must give the same text.
 */

import {
  type Fillings,
  hasValueMark,
  fillMarks,
  type MarkedText,
  type Marks,
  splitAtMarks,
  valueMark,
} from "../../protocols/mime/marks.ts";
import { type Lines, newLines, prepareLines } from "../../protocols/mime/prepared-lines.ts";
import { withLineEnds } from "../../protocols/mime/text-encoding.ts";
import type { Footer } from "../footer.ts";
import { withFooter } from "../outgoing.ts";
import { convertUnfinished, finishText, paddingOf } from "../text.ts";
import { alignLines, type Paragraph, wrapParagraph } from "./paragraphs.ts";

/** A paragraph with values. */
type OpenParagraph = { prefix: string; words: MarkedText; indent: string };

export type TextAlternative = {
  lines(fillings: Fillings): Lines[];
  /** UTF-16 units in memory. */
  size: number;
};

/** The text alternative of a body with marks and of its footer. */
export function prepareText(
  html: string,
  footer: Footer | null,
  marks: Marks,
): TextAlternative | null {
  const wide = convertUnfinished(html.replace(ANY_MARK, manyWords));
  if (wide === null) return null;
  const isWhole = hasPaddingAtValues(wide.unwrapped);
  const finish = isWhole ? (text: string) => text : finishText;
  const paragraphs = alignLines(finish(wide.unwrapped), finish(wide.wrapped));
  if (paragraphs === null) return null;
  const lost = isWhole ? 0 : leadingBlanks(wide.unwrapped);
  const items = paragraphs.map((paragraph, i) =>
    hasValueMark(paragraph.unwrapped)
      ? openParagraph(paragraph, { lost: i === 0 ? lost : 0, marks })
      : paragraph.wrapped.join("\n"),
  );
  if (!items.every((item) => item !== null)) return null;
  const values = Array.from({ length: marks.values }, (_, value) => manyWords(valueMark(value)));
  if (writeText(items, [...values, ...marks.tokens]) !== finish(wide.wrapped)) return null;
  const isEmpty = items.every((item) => item === "");
  const ending = isEmpty ? withFooter("", footer) : withFooter("x", footer).slice(1);
  return isWhole ? wholeText(items, ending, marks) : preparedText(items, ending, marks);
}

/** Long enough for two lines. */
const MANY = 45;

function manyWords(mark: string): string {
  return Array.from({ length: MANY }, () => mark).join(" ");
}

const ANY_MARK = /[\ue000-\uf8ff]/g;
/** The words of one value. */
const MANY_WORDS = /([\ue000-\uf8ff])(?: \1)+/g;

/** The blanks that `finishText` removes from the first line. */
function leadingBlanks(text: string): number {
  const removed = text.slice(0, text.length - text.trimStart().length);
  return removed.length - (removed.lastIndexOf("\n") + 1);
}

/** True if invisible characters stand in a line with values, or white space after them reaches one. */
function hasPaddingAtValues(unwrapped: string): boolean {
  return paddingOf(unwrapped).some(({ from, to }) => {
    const start = unwrapped.lastIndexOf("\n", from - 1) + 1;
    const end = unwrapped.indexOf("\n", to);
    return hasValueMark(unwrapped.slice(start, end === -1 ? undefined : end));
  });
}

function openParagraph(
  { unwrapped, indent }: Paragraph,
  { lost, marks }: { lost: number; marks: Marks },
): OpenParagraph | null {
  if (indent === null || unwrapped.includes("\r")) return null;
  const length = Math.max(0, indent.length - lost);
  const prefix = unwrapped.slice(0, length);
  if (hasValueMark(prefix)) return null;
  const words = unwrapped.slice(length).replace(MANY_WORDS, "$1");
  return { prefix, words: splitAtMarks(words, marks), indent };
}

function writeText(items: readonly (string | OpenParagraph)[], fillings: Fillings): string {
  return items
    .map((item) => (typeof item === "string" ? item : writeParagraph(item, fillings, "\n")))
    .join("\n");
}

function writeParagraph(
  { prefix, words, indent }: OpenParagraph,
  fillings: Fillings,
  lineEnd: string,
): string {
  return wrapParagraph(prefix, fillMarks(words, fillings), { indent, lineEnd });
}

/** A text whose fixed lines are encoded at once. */
function preparedText(
  items: readonly (string | OpenParagraph)[],
  ending: string,
  marks: Marks,
): TextAlternative {
  const prepared: (Lines | { paragraph: OpenParagraph; end: string })[] = [];
  let fixed = "";
  function flush(): void {
    if (fixed !== "") prepared.push(...prepareLines(fixed, marks));
    fixed = "";
  }
  items.forEach((item, i) => {
    const end = i < items.length - 1 ? "\n" : ending.slice(0, 1);
    if (typeof item === "string") {
      fixed += item + end;
      return;
    }
    flush();
    prepared.push({ paragraph: item, end: withLineEnds(end) });
  });
  fixed += ending.slice(1);
  flush();
  return {
    lines: (fillings) =>
      prepared.map((part) =>
        "paragraph" in part
          ? newLines(writeParagraph(part.paragraph, fillings, "\r\n") + part.end)
          : part,
      ),
    size: prepared.reduce((sum, part) => sum + ("size" in part ? part.size : PARAGRAPH_SIZE), 0),
  };
}

/** Estimated memory of a paragraph with values, in UTF-16 units. */
const PARAGRAPH_SIZE = 500;

/** A text that is finished for each mail, because its padding is next to values. */
function wholeText(
  items: readonly (string | OpenParagraph)[],
  ending: string,
  marks: Marks,
): TextAlternative {
  const end = splitAtMarks(ending, marks);
  const size = items.reduce(
    (sum, item) => sum + (typeof item === "string" ? item.length : PARAGRAPH_SIZE),
    ending.length,
  );
  return {
    lines(fillings) {
      const text = finishText(writeText(items, fillings));
      return [newLines(withLineEnds(text + fillMarks(end, fillings)))];
    },
    size,
  };
}
