/**
 * Plain values and their marks. A plain value cannot change the structure of a body: it begins and ends
 * with a visible character, and has no markup, no control or invisible character and no two blanks in a
 * row. All conversions of a mail keep such a value as it is.
 */

/** Longest value that can be plain, in UTF-16 units. */
const MAX_LENGTH = 2_000;

/** The usual form of a value; every other form is checked in several steps. */
const SIMPLE = /^[!-%'-;=?-~]+(?: [!-%'-;=?-~]+)*$/;

/**
 * Control, format and private-use characters, lone surrogates and unassigned code points; line
 * separators; blanks other than the space and the ideographic space; a mark that no font draws.
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\u{a0}\u1680\u2000-\u200a\u202f\u205f]|\u034f/u;

/** The character references that `Bun.escapeHTML` writes. */
const REFERENCES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

/** The text of a plain value that was written into HTML; null if the value is not plain. */
export function plainText(html: string): string | null {
  if (SIMPLE.test(html)) return html.length > MAX_LENGTH ? null : html;
  if (html.length > MAX_LENGTH || html === "" || /[<>]| {2}/.test(html)) return null;
  const text = html.includes("&") ? withoutReferences(html) : html;
  return text === null || UNSAFE.test(text) || text.trim() !== text ? null : text;
}

/** The text with its character references replaced; null if another "&" is left. */
function withoutReferences(html: string): string | null {
  const other = html.replace(/&(?:amp|lt|gt|quot|#x27);/g, "");
  if (other.includes("&")) return null;
  return html.replace(/&(?:amp|lt|gt|quot|#x27);/g, (reference) => REFERENCES[reference] ?? "");
}

/** The first of the private-use characters, which mark values in a body. */
const FIRST_MARK = 0xe000;

/** The character that marks a value. */
export function valueMark(value: number): string {
  return String.fromCharCode(FIRST_MARK + value);
}

/** The number of the value that a character marks. */
export function markedValue(mark: string): number {
  return mark.charCodeAt(0) - FIRST_MARK;
}

/** The marks in a text, without the rest of it. */
export function marksIn(text: string): string {
  return text.replace(/[^\ue000-\uf8ff]+/g, "");
}

/** The text with another text for each mark, of which `write` gets the number. */
export function replaceMarks(text: string, write: (value: number) => string): string {
  return text.replace(/[\ue000-\uf8ff]/g, (mark) => write(markedValue(mark)));
}

/** The texts between the marks, which may be empty, with a mark between two of them. */
export function splitAtMarks(text: string): string[] {
  return text.split(/([\ue000-\uf8ff])/);
}
