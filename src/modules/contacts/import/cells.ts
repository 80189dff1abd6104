/**
 * Cells of a CSV file and the values they stand for. Text that would be read as something else, by
 * us or by a spreadsheet that runs what begins like a formula (OWASP, CSV injection), is written
 * with an apostrophe before it, which reading takes off again: what is exported comes back as it was.
 */

const MARK = "'";
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const FLAG = /^(?:true|false)$/i;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** As many survive in any number (IEEE 754 double). */
const MOST_DIGITS = 15;
/** JSON would drop the sign. */
const MINUS_ZERO = "-0";

export type CellValue = string | number | boolean;

/** Undefined for an empty cell: it sets nothing. */
export function readCell(cell: string): CellValue | undefined {
  if (cell.trim() === "") return undefined;
  if (isNumber(cell)) return Number(cell);
  if (FLAG.test(cell)) return cell.toLowerCase() === "true";
  return unmarked(cell);
}

/** The text of a cell that is text by its column. */
export function unmarked(cell: string): string {
  const text = cell.slice(MARK.length);
  return cell.startsWith(MARK) && needsMark(text) ? text : cell;
}

export function writeCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") return JSON.stringify(value);
  return needsMark(value) ? MARK + value : value;
}

/** Not for `'s-Gravenhage`: only what follows the apostrophes counts. */
function needsMark(text: string): boolean {
  const bare = text.replace(/^'+/, "");
  return FORMULA.test(bare) || FLAG.test(bare) || isNumber(bare) || bare.trim() === "";
}

/** A short decimal, or just what a number is written as: then nothing of the text is lost. */
function isNumber(text: string): boolean {
  if (!/^-?\d/.test(text) || text === MINUS_ZERO) return false;
  const isShort = DECIMAL.test(text) && text.replace(/\D/g, "").length <= MOST_DIGITS;
  return isShort || String(Number(text)) === text;
}

/** One record, RFC 4180: quoted where it must be, CRLF at its end. */
export function writeRecord(cells: readonly string[]): string {
  return `${cells.map(quoted).join(",")}\r\n`;
}

function quoted(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
