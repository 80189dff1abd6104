/** Rows of a table as CSV (RFC 4180). */

/** Numbers and booleans are written as they are, null as an empty cell, and other values as JSON. */
export type CsvColumn<T> = { name: string; value: (row: T) => unknown };

/** Writes the first line and the lines of rows; each ends with CR LF. */
export type CsvWriter<T> = { header: string; row: (row: T) => string };

export function csvWriter<T>(columns: readonly CsvColumn<T>[]): CsvWriter<T> {
  return {
    header: BYTE_ORDER_MARK + lineOf(columns.map(({ name }) => name)),
    row: (row) => lineOf(columns.map(({ value }) => value(row))),
  };
}

/** A column for each of the given properties, in their order. */
export const columnsOf = <T extends object>(keys: readonly (keyof T & string)[]): CsvColumn<T>[] =>
  keys.map((key) => ({ name: key, value: (row) => row[key] }));

const lineOf = (values: readonly unknown[]): string => `${values.map(cellOf).join(",")}\r\n`;

/** Without it, Excel reads the file in the code page of the computer. */
const BYTE_ORDER_MARK = "\u{feff}";

/** A spreadsheet runs a cell that begins with one of these as a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const given = typeof value === "string" ? value : JSON.stringify(value);
  const text = FORMULA.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
