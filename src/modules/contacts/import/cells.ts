/**
 * Converts between cells of a CSV file and values. Text is written with an apostrophe before it if
 * an import would read it as another type, or if a spreadsheet would run it as a formula (OWASP,
 * CSV injection). An import removes that apostrophe, so an exported value is imported unchanged.
 */

import type { ColumnType } from "./column-types.ts";

const MARK = "'";
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const FLAG = /^(?:true|false)$/i;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** A decimal with at most this many digits survives the conversion to a double (IEEE 754). */
const MAX_DIGITS = 15;
/** Read as text, because JSON would lose the sign of the number. */
const MINUS_ZERO = "-0";

type CellValue = string | number | boolean;

/**
 * The value of a cell in a column of a type: undefined if the cell is empty, which sets no value, and
 * null if the cell is no value of the type.
 */
export function readCell(cell: string, type: ColumnType): CellValue | undefined | null {
  if (cell.trim() === "") return undefined;
  switch (type) {
    case "text":
      return removeMark(cell);
    case "number":
      return Number(cell);
    case "boolean":
      return cell.toLowerCase() === "true";
    case "number-dot":
      return readDecimal(cell.trim(), ".");
    case "number-comma":
      return readDecimal(cell.trim(), ",");
    case "date-dmy":
      return readLocalDate(cell.trim(), "DMY");
    case "date-mdy":
      return readLocalDate(cell.trim(), "MDY");
  }
}

export const isFlag = (text: string): boolean => FLAG.test(text);

/** True if the number has exactly this text, so that no text is lost: `19.9` but not `19.90`. */
export function isExactNumber(text: string): boolean {
  const value = Number(text);
  return text !== MINUS_ZERO && Number.isFinite(value) && String(value) === text;
}

/**
 * True for a number such as `1.234` or `-12.345`, which may also be a thousand with a separator as
 * many languages write it.
 */
export const UNCLEAR_NUMBER = /^-?[1-9]\d{0,2}\.\d{3}$/;
export const isUnclearNumber = (text: string): boolean => UNCLEAR_NUMBER.test(text);

/** Reads a decimal as people write it: `1,299.50` or `1.299,50`; null if it is none. */
export function readDecimal(text: string, separator: "." | ","): number | null {
  if (text.length > LONGEST_DECIMAL) return null;
  if (!(separator === "." ? WITH_DOT : WITH_COMMA).test(text)) return null;
  const plain = separator === "." ? text.replaceAll(",", "") : text.replaceAll(".", "");
  return Number(plain.replaceAll(GROUPS, "").replace(",", "."));
}

/** A group of thousands is separated by the other sign, a blank or an apostrophe. */
const WITH_DOT = /^[-+]?(?:\d+|\d{1,3}(?:[,'\u00a0\u202f ]\d{3})+)(?:\.\d+)?$/;
const WITH_COMMA = /^[-+]?(?:\d+|\d{1,3}(?:[.'\u00a0\u202f ]\d{3})+)(?:,\d+)?$/;
const GROUPS = /['\u00a0\u202f ]/g;
const LONGEST_DECIMAL = 40;

const LOCAL_DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,? +(.{4,11}))?$/;
const YEAR_FIRST = /^(\d{4})([./-])(\d{1,2})\2(\d{1,2})(?:[ T](.{4,11}))?$/;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d.{0,20}$/;
const TIME = /^(\d{1,2}):(\d{2})(?::(\d{2}))?(?: ?([ap])\.?m\.?| ?Z)?$/i;

/**
 * Reads a date as people write it, and returns it in ISO 8601, with a time in UTC if it has one; null
 * if it is none. With dots the day is always first: `15.06.2030`.
 */
export function readLocalDate(text: string, order: "DMY" | "MDY"): string | null {
  if (ISO_TIME.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)))
    return text;
  const local = LOCAL_DATE.exec(text);
  const found = local ?? YEAR_FIRST.exec(text);
  if (found === null) return null;
  const [, first = "", sign = "", second = "", third = "", time] = found;
  const isDayFirst = order === "DMY" || sign === ".";
  const [year, month, day] =
    local === null
      ? [first, second, third]
      : isDayFirst
        ? [third, second, first]
        : [third, first, second];
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  if (!isDay(date)) return null;
  if (time === undefined) return date;
  const clock = readTime(time);
  return clock === null ? null : `${date}T${clock}Z`;
}

function isDay(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}

function readTime(text: string): string | null {
  const [found, hour = "", minute = "", second = "00", half] = TIME.exec(text) ?? [];
  if (found === undefined) return null;
  const isAfternoon = half?.toLowerCase() === "p";
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (isAfternoon ? 12 : 0);
  if (hours > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  return `${String(hours).padStart(2, "0")}:${minute}:${second}`;
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

/** A cell as it stands in a file, with a mark if a spreadsheet would run it. */
export function withoutFormula(cell: string): string {
  return FORMULA.test(cell) && !Number.isFinite(Number(cell)) ? MARK + cell : cell;
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
