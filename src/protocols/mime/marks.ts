/**
 * Texts with marks, which stand for what differs from mail to mail: values, marked by private-use
 * characters, and tokens, which are written as they are (see prepared-lines.ts).
 */

/** Values and tokens of one mail, by the number of their mark: first the values, then the tokens. */
export type Fillings = readonly string[];

/** The marks of a text: U+E000 is the first value. The tokens are written as they are. */
export type Marks = { values: number; tokens: readonly string[] };

const FIRST_VALUE = 0xe000;
const VALUE = /[\ue000-\uf8ff]/;

/** The private-use character that marks a value. */
export function valueMark(value: number): string {
  return String.fromCharCode(FIRST_VALUE + value);
}

/** The number of the value that a private-use character marks. */
export function markedValue(mark: string): number {
  return mark.charCodeAt(0) - FIRST_VALUE;
}

/** The private-use characters of a text, without the rest of it. */
export function valueMarksOf(text: string): string {
  return text.replace(/[^\ue000-\uf8ff]+/g, "");
}

/** Whether the text has a private-use character. */
export function hasValueMark(text: string): boolean {
  return VALUE.test(text);
}

/** Fixed texts, and between two of them the number of a value or token. */
export type MarkedText = { texts: readonly string[]; gaps: readonly number[] };

export function splitAtMarks(text: string, { values, tokens }: Marks): MarkedText {
  let parts: (string | number)[] = text
    .split(/([\ue000-\uf8ff])/)
    .map((part, i) => (i % 2 === 0 ? part : markedValue(part)));
  for (const [i, token] of tokens.entries()) {
    parts = parts.flatMap((part) =>
      typeof part === "string" ? splitAt(part, token, values + i) : part,
    );
  }
  return {
    texts: parts.filter((part) => typeof part === "string"),
    gaps: parts.filter((part) => typeof part === "number"),
  };
}

/** The texts between the occurrences of a token, with its number between two of them. */
function splitAt(text: string, token: string, number: number): (string | number)[] {
  return text.split(token).flatMap((part, i) => (i === 0 ? [part] : [number, part]));
}

/** The text with its marks filled. */
export function fillMarks({ texts, gaps }: MarkedText, fillings: Fillings): string {
  let result = texts[0] ?? "";
  for (let i = 0; i < gaps.length; i++) {
    result += (fillings[gaps[i] ?? 0] ?? "") + (texts[i + 1] ?? "");
  }
  return result;
}
