/**
 * Reads CSV (RFC 4180) as its text comes in, in bounded memory. The library splits records into
 * cells; this file decides where a piece ends, and goes on after a fault with the next line, so that
 * one bad quote costs one line and not the rest of the file.
 */

import Papa from "papaparse";

export type CsvItem =
  /** `line` is where the record begins, from 1. */
  | { kind: "record"; line: number; cells: string[] }
  | { kind: "fault"; line: number; message: string }
  /** The last item: nothing beyond it was read. */
  | { kind: "end"; line: number; message: string };

const DELIMITERS = [",", ";", "\t"] as const;

export type Dialect = { delimiter: (typeof DELIMITERS)[number]; newline: "\n" | "\r" };

export type CsvReader = {
  /** Takes more text and yields what is complete by now, in batches of a few milliseconds. */
  push(text: string): Generator<CsvItem[]>;
  /** Yields what is left at the end. */
  end(): Generator<CsvItem[]>;
};

/**
 * What is read at once, in characters; twice as much where a record is longer, up to a limit. Behind
 * a quoting fault it starts small, since the rest of a window with a fault is read again.
 */
const WINDOW = 32 * 1024;
const WINDOW_AFTER_FAULT = 256;
const LONGEST_RECORD = 1024 * 1024;
/** Each costs a second look at some text. More of them, and the file is something else. */
const MOST_QUOTING_FAULTS = 1000;

/** That tell how values are separated. */
const SAMPLE_RECORDS = 10;

const TOO_LONG = "The line is longer than 1 MiB.";
const UNCLOSED = "A quote opens a value here and is never closed.";
const UNCLOSED_FOR_LONG = "A quote opens a value here and is not closed within 1 MiB.";
const BAD_QUOTE = "A quote inside a quoted value must be doubled.";
const HOPELESS = `More than ${MOST_QUOTING_FAULTS} lines have broken quotes. The rest was not read.`;

type Piece = {
  items: CsvItem[];
  /** Lines that the items take. */
  lines: number;
  /** What is wrong with the record after them. */
  trouble: "unclosed" | "bad quote" | null;
};

export function createCsvReader({ delimiter, newline }: Dialect): CsvReader {
  /** Not read yet; begins with `line`. */
  let rest = "";
  let line = 1;
  let window = WINDOW;
  let isSkippingLine = false;
  let quotingFaults = 0;

  function split(text: string): Piece {
    const { data, errors } = Papa.parse<string[]>(text, { delimiter, newline });
    const wrong = errors.filter((error) => error.type === "Quotes");
    const row = wrong[0]?.row;
    const isBad = wrong.some((error) => error.row === row && error.code === "InvalidQuotes");
    const trouble = row === undefined ? null : isBad ? "bad quote" : "unclosed";
    // After the last newline the library sees one more, empty record.
    const isEnded = trouble === null && text.endsWith(newline);
    const records = data.slice(0, row ?? (isEnded ? -1 : undefined));
    return { ...itemsOf(records, text), trouble };
  }

  function itemsOf(records: string[][], text: string): Pick<Piece, "items" | "lines"> {
    const items: CsvItem[] = [];
    const hasQuotes = text.includes('"');
    let lines = 0;
    let offset = 0;
    for (const cells of records) {
      const begins = line + lines;
      const taken = hasQuotes ? 1 + breaksIn(cells) : 1;
      lines += taken;
      if (hasQuotes) offset = offsetOfLine(text, newline, { from: offset, lines: taken });
      if (!hasQuotes || !isLastQuoted(cells, text, endOfRecord(text, offset))) dropReturn(cells);
      if (cells.some((cell) => cell !== "")) items.push({ kind: "record", line: begins, cells });
    }
    return { items, lines };
  }

  function endOfRecord(text: string, next: number): number {
    return text[next - 1] === newline ? next - 1 : next;
  }

  function breaksIn(cells: readonly string[]): number {
    return cells.reduce((sum, cell) => sum + countOf(cell, newline), 0);
  }

  function* read(isLast: boolean): Generator<CsvItem[]> {
    const hasEnough = () => rest !== "" && (isLast || rest.length >= window);
    while (hasEnough()) {
      const isAll = isLast && rest.length <= window;
      const text = isAll ? rest : rest.slice(0, rest.lastIndexOf(newline, window - 1) + 1);
      const { items, lines, trouble } = split(text);
      const isWhole = trouble === null && text !== "";
      rest = rest.slice(isWhole ? text.length : offsetOfLine(text, newline, { from: 0, lines }));
      line += lines;
      if (items.length > 0) yield items;
      if (isWhole) window = window < WINDOW ? 2 * window : WINDOW;
      else if (trouble === "bad quote") yield [quotingFault(BAD_QUOTE)];
      else if (lines > 0)
        continue; // Once more, from where the record begins.
      else if (!isAll && window < LONGEST_RECORD) window *= 2;
      else if (isAll) yield [quotingFault(UNCLOSED)];
      else if (text !== "") yield [quotingFault(UNCLOSED_FOR_LONG)];
      else yield [skipLine(TOO_LONG)];
    }
  }

  /** Too many, and nothing more is read. */
  function quotingFault(message: string): CsvItem {
    quotingFaults++;
    if (quotingFaults <= MOST_QUOTING_FAULTS) return skipLine(message);
    rest = "";
    return { kind: "end", line, message: HOPELESS };
  }

  /** Leaves out the line that `rest` begins with, also what is still to come of it. */
  function skipLine(message: string): CsvItem {
    const fault: CsvItem = { kind: "fault", line, message };
    window = WINDOW_AFTER_FAULT;
    isSkippingLine = true;
    passOver();
    return fault;
  }

  function passOver(): void {
    const end = rest.indexOf(newline);
    rest = end === -1 ? "" : rest.slice(end + 1);
    if (end === -1) return;
    isSkippingLine = false;
    line++;
  }

  return {
    *push(text) {
      if (quotingFaults > MOST_QUOTING_FAULTS) return;
      rest += text;
      if (isSkippingLine) passOver();
      yield* read(false);
    },
    *end() {
      yield* read(true);
    },
  };
}

/** Told by the beginning of the text, quoted values left out: what they hold separates nothing. */
export function detectDialect(head: string): Dialect {
  const bare = head.replaceAll(/(?<=^|[,;\t\r\n])"(?:[^"]|"")*"/g, "");
  const newline = bare.includes("\n") || !bare.includes("\r") ? "\n" : "\r";
  const records = bare.split(newline).filter((line) => line.trim() !== "");
  const [first = ""] = records;
  const possible = DELIMITERS.filter((delimiter) => first.includes(delimiter));
  const [only = ",", ...others] = possible;
  if (others.length === 0) return { delimiter: only, newline };
  // The one that makes records of one width.
  const sample = records.slice(0, SAMPLE_RECORDS).join(newline);
  const { meta } = Papa.parse(sample, { delimitersToGuess: possible, newline });
  return { delimiter: possible.find((one) => one === meta.delimiter) ?? only, newline };
}

/** With LF between records, CRLF leaves its CR at the end of the last cell. */
function dropReturn(cells: string[]): void {
  const last = cells.at(-1);
  if (last?.endsWith("\r") === true) cells[cells.length - 1] = last.slice(0, -1);
}

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) count++;
  return count;
}

/** Where the text goes on after so many line ends; its length where it has no more of them. */
function offsetOfLine(
  text: string,
  newline: string,
  { from, lines }: { from: number; lines: number },
): number {
  let offset = from;
  for (let i = 0; i < lines; i++) {
    const end = text.indexOf(newline, offset);
    if (end === -1) return text.length;
    offset = end + 1;
  }
  return offset;
}

/** Whether the last cell is quoted in the text: then a CR at its end is content. */
function isLastQuoted(cells: readonly string[], text: string, end: number): boolean {
  const last = cells.at(-1) ?? "";
  return !text.endsWith(last, end) || text[end - last.length - 1] === '"';
}
