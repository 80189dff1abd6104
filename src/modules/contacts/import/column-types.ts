/**
 * The type of a column of data, decided from all of its cells: a column whose cells are all numbers in
 * their shortest form has numbers, unless each decimal could be a thousand (`1.234`), one of only `true` and `false` has flags, and any other column has
 * its texts as they are written. `19.90`, `01067` and `15.06.2030` are therefore texts, and a mapping
 * to `number:KEY` or `date:KEY` converts them. The probable content of such a column is shown.
 */

import { readDecimal, readLocalDate, isExactNumber, isFlag, isUnclearNumber } from "./cells.ts";

/** The types that a mapping or a header may name for a column. */
export const NAMED_TYPES = ["text", "number", "date"] as const;
export type NamedType = (typeof NAMED_TYPES)[number];

/** The form in which the cells of a column are read. */
export const COLUMN_TYPES = [
  "text",
  "number",
  "boolean",
  "number-dot",
  "number-comma",
  "date-dmy",
  "date-mdy",
] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** The kinds of values that cells seem to have. In a plain `date`, the day or the month may be first. */
export const GUESSES = ["number", "number-comma", "date", "date-dmy", "date-mdy", "mixed"] as const;
type Guess = (typeof GUESSES)[number];

/** The choices of a request for cells that can be read in two ways. */
export type TypeOptions = {
  dateOrder?: "DMY" | "MDY" | undefined;
  decimalSeparator?: "." | "," | undefined;
};

export type ColumnSurvey = {
  see(cell: string): void;
  /** The type, or why the column cannot be read as the named type. */
  type(options: TypeOptions): ColumnType | { fault: string };
  /** Null if the type says all. */
  guess(): Guess | null;
};

/** Cells of a column from which its guess is made; the type is decided from all cells. */
const MOST_GUESSED = 5_000;

/** A survey of one column, whose type may be named. It holds counts only. */
export function createColumnSurvey(named: NamedType | null): ColumnSurvey {
  let isEmpty = true;
  let isExact = true;
  let isFlags = true;
  /** Exact numbers whose dot may stand before thousands, and those whose dot cannot. */
  let unclearDots = 0;
  let decimalDots = 0;
  /** Cells that are counted for the guess, or to read those of the named type. */
  let cells = 0;
  let dots = 0;
  let commas = 0;
  /** Cells with a comma or a dot that could be a number with either separator. */
  let unclear = 0;
  let dmy = 0;
  let mdy = 0;
  /** Local dates in either order, and dates with the year first. */
  let local = 0;
  let dates = 0;
  let unclearDates = 0;
  /** Cells such as `01067` and `+49`, which are codes and not amounts. */
  let codes = 0;

  const hasThousands = () => unclearDots > 0 && decimalDots === 0;

  return {
    see(cell) {
      const text = cell.trim();
      if (text === "") return;
      isEmpty = false;
      isExact &&= isExactNumber(cell);
      isFlags &&= isFlag(cell);
      if (isExact && cell.includes(".")) {
        if (isUnclearNumber(cell)) unclearDots++;
        else decimalDots++;
      }
      if (named === "text" || (named === null && cells === MOST_GUESSED)) return;
      cells++;
      if (!/^[-+\d]/.test(text)) return;
      if (/^(?:\+|0\d)/.test(text)) codes++;
      const withDot = readDecimal(text, ".") !== null;
      const withComma = readDecimal(text, ",") !== null;
      if (withDot) dots++;
      if (withComma) commas++;
      if (withDot && withComma && (text.includes(",") || isUnclearNumber(text))) unclear++;
      const dayFirst = readLocalDate(text, "DMY");
      const monthFirst = readLocalDate(text, "MDY");
      if (dayFirst !== null) dmy++;
      if (monthFirst !== null) mdy++;
      if (dayFirst !== null && monthFirst !== null && dayFirst !== monthFirst) unclearDates++;
      if (dayFirst !== null || monthFirst !== null) {
        dates++;
        if (!/^\d{4}-/.test(text)) local++;
      }
    },

    type({ dateOrder, decimalSeparator }) {
      if (named === "text") return "text";
      if (named === "number") {
        if (decimalSeparator !== undefined) {
          return decimalSeparator === "." ? "number-dot" : "number-comma";
        }
        if (unclear > 0 && commas === dots) return { fault: UNCLEAR_NUMBER };
        return commas > dots ? "number-comma" : "number-dot";
      }
      if (named === "date") {
        if (dateOrder !== undefined) return dateOrder === "DMY" ? "date-dmy" : "date-mdy";
        if (dmy === mdy && unclearDates > 0) return { fault: UNCLEAR_DATE };
        return dmy >= mdy ? "date-dmy" : "date-mdy";
      }
      if (isEmpty) return "text";
      if (isExact && !hasThousands()) return "number";
      return isFlags ? "boolean" : "text";
    },

    guess() {
      if (cells === 0 || (isExact && !hasThousands()) || isFlags) return null;
      if (local > 0 && dates === cells) {
        if (dmy === cells && mdy === cells && unclearDates > 0) return "date";
        if (dmy === cells) return "date-dmy";
        return mdy === cells ? "date-mdy" : "mixed";
      }
      if (local > 0) return "mixed";
      if (codes > 0) return null;
      if (dots === cells && (unclear === 0 || commas === cells)) return "number";
      if (commas === cells) return "number-comma";
      return dots > 0 || commas > 0 ? "mixed" : null;
    },
  };
}

const UNCLEAR_NUMBER =
  "can be read with decimals or with thousands after the comma or dot: say it in decimalSeparator";
const UNCLEAR_DATE = "can be read with the day or the month first: say it in dateOrder";
