/**
 * Trims in linear time, because `/[ \t]+$/` takes quadratic time on runs of spaces inside a text.
 *
 * Blanks are spaces and tabs only (WSP, RFC 5234 appendix B.1). `String.prototype.trim` also
 * removes line breaks, no-break spaces, the byte order mark and other Unicode spaces, and so hides
 * text that must be refused.
 */

const SPACE = 0x20;
const TAB = 0x09;

export function trimBlanks(text: string): string {
  return trimEndBlanks(trimStartBlanks(text));
}

export function trimStartBlanks(text: string): string {
  let start = 0;
  while (isBlank(text.charCodeAt(start))) start++;
  return text.slice(start);
}

export function trimEndBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Removes all `character`s at the end. */
export function trimEndOf(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/**
 * Trims white space of all kinds, and the zero-width characters that editors and copied text bring
 * along. Variation selectors stay, because they belong to the character before them.
 */
export function trimInvisible(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isInvisible(text.charAt(start))) start++;
  while (end > start && isInvisible(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function isInvisible(char: string): boolean {
  return char.trim() === "" || "\u200b\u200c\u200d\u2060".includes(char);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
