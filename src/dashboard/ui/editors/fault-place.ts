/** The place that a message of the compiler of templates names. */

export type FaultPlace = { line: number; column: number; message: string };

const PLACE = /^has an? (?:syntax )?error in line (\d{1,9}), column (\d{1,9}): ([^]*)$/;

/** Reads the line and the column, which count from 1; null for a message that names no place. */
export function placeOf(message: string): FaultPlace | null {
  const [, line, column, text = ""] = PLACE.exec(message) ?? [];
  if (line === undefined || column === undefined) return null;
  return { line: Number(line), column: Number(column), message: text };
}
