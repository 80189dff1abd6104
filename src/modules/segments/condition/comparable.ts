/**
 * The operand of an operator that compares order, such as `lessThan`: a number, or a date in ISO
 * 8601. Texts have no order that their reader expects ("9" after "10", 2025/01/01 before
 * 2025-01-01), so a text that is no date is refused, with the right form where it can be guessed.
 */

import { trimBlanks } from "../../../lib/trim.ts";
import { parsePeriod, type Period } from "./dates.ts";

/** A comparison that an earlier version stored and that cannot be made. It matches no contact. */
export type Incomparable = {
  /** The field of the filter, such as `data.joined`. */
  field: string;
  value: string;
  message: string;
};

export type Comparable = number | Period | Incomparable;

export const isIncomparable = (value: unknown): value is Incomparable =>
  typeof value === "object" && value !== null && "message" in value;

const DATES = "a date such as 2026-01-31 or 2026-01-31T12:00:00Z";
/** Longest text that is searched for a number or a date in another form. */
const LONGEST_GUESS = 40;

/** The reason why a text is no date. */
export const dateMessage = (text: string): string => withHint(`must be ${DATES}`, guessDate(text));

/** The reason why a text is neither a number nor a date. */
export const comparableMessage = (text: string): string =>
  withHint(
    `must be a number such as 99.5, without quotation marks, or ${DATES}`,
    guessDate(text) ?? guessNumber(text),
  );

function withHint(message: string, hint: string | null): string {
  return hint === null ? message : `${message}; write ${hint}`;
}

/** Year, month and day with other separators or without any, and a time that follows. */
const YEAR_FIRST = /^(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?:[T ](.+))?$/i;

/** A valid date with the year first; the order of day and month is not guessed. */
function guessDate(text: string): string | null {
  if (text.length > LONGEST_GUESS) return null;
  const [, year = "", , month = "", day = "", time = ""] =
    YEAR_FIRST.exec(trimBlanks(text).toUpperCase()) ?? [];
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const offset = time.replace(/ ?([+-]\d{2})(\d{2})$/, "$1:$2").replace(/ Z$/, "Z");
  const whole = time === "" ? date : `${date}T${offset}`;
  if (parsePeriod(whole) !== null) return whole;
  return parsePeriod(date) === null ? null : date;
}

/** A number in quotation marks, with a decimal comma or with blanks around it. */
function guessNumber(text: string): string | null {
  if (text.length > LONGEST_GUESS) return null;
  const trimmed = trimBlanks(text);
  // With three digits behind it, a comma could also separate thousands.
  const isDecimalComma = /^[+-]?\d{1,15},(?:\d{1,2}|\d{4,15})$/.test(trimmed);
  if (!isDecimalComma && !/^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(trimmed)) return null;
  return String(Number(trimmed.replace(",", ".")));
}
