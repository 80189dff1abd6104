/**
 * Converts between cells of a CSV file and values. Text is written with an apostrophe before it if
 * an import would read it as another type, or if a spreadsheet would run it as a formula (OWASP,
 * CSV injection). An import removes that apostrophe, so an exported value is imported unchanged.
 */

const MARK = "'";
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const FLAG = /^(?:true|false)$/i;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** A decimal with at most this many digits survives the conversion to a double (IEEE 754). */
const MAX_DIGITS = 15;
/** Read as text, because JSON would lose the sign of the number. */
const MINUS_ZERO = "-0";

type CellValue = string | number | boolean;

/** The value of a cell; undefined if the cell is empty, which sets no value. */
export function readCell(cell: string): CellValue | undefined {
  if (cell.trim() === "") return undefined;
  if (isNumber(cell)) return Number(cell);
  if (FLAG.test(cell)) return cell.toLowerCase() === "true";
  return removeMark(cell);
}

/** The text of a cell whose column always contains text. */
export function removeMark(cell: string): string {
  const text = cell.slice(MARK.length);
  return cell.startsWith(MARK) && needsMark(text) ? text : cell;
}

export function writeCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") return JSON.stringify(value);
  return needsMark(value) ? MARK + value : value;
}

/** True if the text without its leading apostrophes needs a mark; `'s-Gravenhage` does not. */
function needsMark(text: string): boolean {
  const bare = text.replace(/^'+/, "");
  return FORMULA.test(bare) || FLAG.test(bare) || isNumber(bare) || bare.trim() === "";
}

/** True for a short decimal, and for text that a number converts back to exactly. */
function isNumber(text: string): boolean {
  if (!/^-?\d/.test(text) || text === MINUS_ZERO) return false;
  const isShort = DECIMAL.test(text) && text.replace(/\D/g, "").length <= MAX_DIGITS;
  return isShort || String(Number(text)) === text;
}

/** One record: cells are quoted if necessary, and CRLF ends the record (RFC 4180). */
export function writeRecord(cells: readonly string[]): string {
  return `${cells.map(quoteCell).join(",")}\r\n`;
}

function quoteCell(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
