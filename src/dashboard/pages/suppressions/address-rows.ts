/** Pasted addresses as the rows of a file, whose first line has the names of the columns. */

const LONGEST_LINE = 80;
const DELIMITERS = [",", ";", "\t", "|"] as const;

/** `addedLines` is the number of lines that the text does not have, for the lines of faults. */
export type AddressRows = { rows: string; addedLines: number };

/** A text whose first line has an address has no names of columns, and gets them. */
export function addressRows(text: string): AddressRows {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const [first = "", ...rest] = lines;
  if (!first.includes("@")) return { rows: lines.join("\n"), addedLines: 0 };
  const delimiter = DELIMITERS.find((each) => first.trim().slice(0, -1).includes(each));
  if (delimiter === undefined || rest.length === 0) {
    // One line may have all addresses.
    const cells = rest.length === 0 ? first.split(/[,;|\t]/) : lines;
    const addresses = cells.map((cell) => cell.trim().replace(/[,;]$/, ""));
    return { rows: ["email", ...addresses.filter(Boolean)].join("\n"), addedLines: 1 };
  }
  const cells = first.split(delimiter);
  const at = cells.findIndex((cell) => cell.includes("@"));
  const names = cells.map((_, i) => (i === at ? "email" : `column ${i + 1}`));
  return { rows: [names.join(delimiter), ...lines].join("\n"), addedLines: 1 };
}

/** Names the pasted line that has a fault, with its text. `line` is its number among the rows. */
export function faultPlace({ rows, addedLines }: AddressRows, line: number): string {
  const text = rows.split("\n")[line - 1]?.trim() ?? "";
  const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE).toWellFormed()}…` : text;
  return `Line ${line - addedLines}${cut === "" ? "" : `, “${cut}”`}`;
}
