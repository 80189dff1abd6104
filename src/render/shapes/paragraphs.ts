/**
 * Wraps paragraphs of a text alternative as html-to-text does: a line ends at the last blank within
 * its width, a longer word has a line of its own, and further lines begin with the indent of their
 * list or quote.
 */

import { LINE_LENGTH, MIN_LINE_LENGTH } from "../text.ts";

/** A line of the unwrapped text with its lines in the wrapped text. */
export type Paragraph = {
  unwrapped: string;
  wrapped: readonly string[];
  /** The beginning of each further line; null if there is only one line. */
  indent: string | null;
};

/** Finds the wrapped lines of each unwrapped line; null if the two texts do not fit together. */
export function alignLines(unwrapped: string, wrapped: string): Paragraph[] | null {
  const lines = wrapped.split("\n");
  const paragraphs: Paragraph[] = [];
  let next = 0;
  for (const line of unwrapped.split("\n")) {
    const first = lines[next++];
    if (first === undefined || !continues(line, first)) return null;
    const group = [first];
    let indent: string | null = null;
    for (let rest = line.slice(first.length); rest !== "";) {
      const further = lines[next++];
      if (further === undefined) return null;
      const words = rest.slice(1);
      const length = indentLength(further, words);
      if (length === -1) return null;
      indent ??= further.slice(0, length);
      if (indent.length !== length) return null;
      group.push(further);
      rest = words.slice(further.length - length);
    }
    paragraphs.push({ unwrapped: line, wrapped: group, indent });
  }
  return next === lines.length ? paragraphs : null;
}

/** True if the line is the text, or is followed in it by a blank. */
function continues(text: string, line: string): boolean {
  return text.startsWith(line) && (text.length === line.length || text[line.length] === " ");
}

/** Length of the shortest indent after which the line is the beginning of the words; -1 if none. */
function indentLength(line: string, words: string): number {
  for (let length = 0; length < line.length; length++) {
    if (continues(words, line.slice(length))) return length;
    if (line[length] !== " " && line[length] !== ">") return -1;
  }
  return -1;
}

/** Wraps words with single blanks between them. The first line begins with `prefix`. */
export function wrapParagraph(
  prefix: string,
  words: string,
  { indent, lineEnd }: { indent: string; lineEnd: string },
): string {
  const width = Math.max(MIN_LINE_LENGTH, LINE_LENGTH - indent.length);
  let text = prefix;
  let from = 0;
  while (words.length - from > width) {
    const fitting = words.lastIndexOf(" ", from + width);
    const end = fitting > from ? fitting : words.indexOf(" ", from + width);
    if (end === -1) break;
    text += words.slice(from, end) + lineEnd + indent;
    from = end + 1;
  }
  return text + words.slice(from);
}
