/**
 * Text of a person or of their data, such as a cell of a CSV file, as one line of a mail header: a
 * subject, a display name or a file name. A line break in it must neither end a header nor make a
 * mail unsendable. Headers that a caller writes are refused instead (protocols/mime/headers.ts).
 */

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** Control characters and separators of lines and paragraphs, with the blanks around them. */
const RUNS = /[ \p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Each run of control characters becomes one blank; at the ends it is removed. */
export function oneLine(text: string): string {
  if (!CONTROL.test(text)) return text;
  return text.replace(RUNS, (run) => (CONTROL.test(run) ? " " : run)).trim();
}
