/**
 * Reads CSV (RFC 4180) from a stream of text, in bounded memory. The library Papa Parse splits
 * records into cells. This file divides the text into windows of complete records, and after a
 * fault it continues with the next line, so that a bad quote costs one line and not the rest of the
 * file.
 */

import Papa from "papaparse";

export type CsvItem =
  /** `line` is the first line of the record; lines are counted from 1. */
  | { kind: "record"; line: number; cells: string[] }
  | { kind: "fault"; line: number; message: string }
  /** Always the last item: the rest of the text was not read. */
  | { kind: "end"; line: number; message: string };

export const DELIMITERS = [",", ";", "\t", "|"] as const;
export type Delimiter = (typeof DELIMITERS)[number];

export type Dialect = {
  delimiter: Delimiter;
  newline: "\n" | "\r";
  /** Characters before the first record: the line `sep=;`, in which Excel reads the delimiter. */
  skipped?: number;
};

type CsvReader = {
  /** Adds text and yields the items that are complete now. A batch takes a few milliseconds. */
  push(text: string): Generator<CsvItem[]>;
  /** Yields the remaining items at the end of the text. */
  end(): Generator<CsvItem[]>;
};

/**
 * Characters that are parsed at once. The window doubles for a longer record, up to LONGEST_RECORD.
 * After a quoting fault it starts small, because the rest of a window with a fault is parsed again.
 */
const WINDOW = 32 * 1024;
const WINDOW_AFTER_FAULT = 256;
const LONGEST_RECORD = 1024 * 1024;
/** After each fault some text is parsed again. A file with more faults is probably not CSV. */
const MAX_QUOTING_FAULTS = 1000;

/** Number of records that are examined to find the delimiter. */
const SAMPLE_RECORDS = 10;

const TOO_LONG = "The line is longer than 1 MiB.";
const UNCLOSED = "A quote opens a value here and is never closed.";
const UNCLOSED_FOR_LONG = "A quote opens a value here and is not closed within 1 MiB.";
const BAD_QUOTE = "A quote inside a quoted value must be doubled.";
const TOO_MANY_FAULTS = `More than ${MAX_QUOTING_FAULTS} lines have broken quotes. The rest was not read.`;

type ParsedWindow = {
  items: CsvItem[];
  /** Number of lines of the items. */
  lines: number;
  /** The fault of the record after the items; null if there is none. */
  fault: "unclosed" | "bad quote" | null;
};

export function createCsvReader({ delimiter, newline, skipped = 0 }: Dialect): CsvReader {
  /** Text that is not parsed yet; it begins with `line`. */
  let rest = "";
  let toSkip = skipped;
  let line = skipped > 0 ? 2 : 1;
  let window = WINDOW;
  let isSkippingLine = false;
  let quotingFaults = 0;

  function parse(original: string): ParsedWindow {
    const text = withoutOuterBlanks(original, delimiter, newline);
    const { data, errors } = Papa.parse<string[]>(text, { delimiter, newline });
    const wrong = errors.filter((error) => error.type === "Quotes");
    const row = wrong[0]?.row;
    const isBad = wrong.some((error) => error.row === row && error.code === "InvalidQuotes");
    const fault = row === undefined ? null : isBad ? "bad quote" : "unclosed";
    // The library returns an additional empty record after the last newline.
    const isEnded = fault === null && text.endsWith(newline);
    const records = data.slice(0, row ?? (isEnded ? -1 : undefined));
    return { ...itemsOf(records, text), fault };
  }

  function itemsOf(records: string[][], text: string): Pick<ParsedWindow, "items" | "lines"> {
    const items: CsvItem[] = [];
    const hasQuotes = text.includes('"');
    let lines = 0;
    let offset = 0;
    for (const cells of records) {
      const firstLine = line + lines;
      const ownLines = hasQuotes ? 1 + breaksIn(cells) : 1;
      lines += ownLines;
      if (hasQuotes) offset = offsetOfLine(text, newline, { from: offset, lines: ownLines });
      if (!hasQuotes || !isLastQuoted(cells, text, endOfRecord(text, offset))) dropReturn(cells);
      if (cells.some((cell) => cell !== "")) items.push({ kind: "record", line: firstLine, cells });
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
      const { items, lines, fault } = parse(text);
      const isComplete = fault === null && text !== "";
      rest = rest.slice(isComplete ? text.length : offsetOfLine(text, newline, { from: 0, lines }));
      line += lines;
      if (items.length > 0) yield items;
      if (isComplete) window = window < WINDOW ? 2 * window : WINDOW;
      else if (fault === "bad quote") yield [quotingFault(BAD_QUOTE)];
      else if (lines > 0)
        continue; // Parses again, from the start of the incomplete record.
      else if (!isAll && window < LONGEST_RECORD) window *= 2;
      else if (isAll) yield [quotingFault(UNCLOSED)];
      else if (text !== "") yield [quotingFault(UNCLOSED_FOR_LONG)];
      else yield [skipLine(TOO_LONG)];
    }
  }

  /** Skips the faulty line. After too many faults, it ends the reading. */
  function quotingFault(message: string): CsvItem {
    quotingFaults++;
    if (quotingFaults <= MAX_QUOTING_FAULTS) return skipLine(message);
    rest = "";
    return { kind: "end", line, message: TOO_MANY_FAULTS };
  }

  /** Skips the first line of `rest`, including the part of it that was not pushed yet. */
  function skipLine(message: string): CsvItem {
    const fault: CsvItem = { kind: "fault", line, message };
    window = WINDOW_AFTER_FAULT;
    isSkippingLine = true;
    dropToLineEnd();
    return fault;
  }

  function dropToLineEnd(): void {
    const end = rest.indexOf(newline);
    rest = end === -1 ? "" : rest.slice(end + 1);
    if (end === -1) return;
    isSkippingLine = false;
    line++;
  }

  return {
    *push(text) {
      if (quotingFaults > MAX_QUOTING_FAULTS) return;
      rest += text.slice(toSkip);
      toSkip = Math.max(0, toSkip - text.length);
      if (isSkippingLine) dropToLineEnd();
      yield* read(false);
    },
    *end() {
      yield* read(true);
    },
  };
}

/**
 * Detects the dialect from the start of the text. Delimiters inside quoted values do not count. A
 * delimiter that the caller names wins.
 */
export function detectDialect(head: string, delimiter?: Delimiter): Dialect {
  const detected = detectAll(head);
  return delimiter === undefined ? detected : { ...detected, delimiter };
}

function detectAll(head: string): Dialect {
  const named = SEPARATOR_LINE.exec(head);
  if (named !== null) return namedDialect(named);
  const bare = head.replaceAll(/(?<=^\u{feff}?|[,;|\t\r\n]) *"(?:[^"]|"")*"/gu, "");
  const newline = bare.includes("\n") || !bare.includes("\r") ? "\n" : "\r";
  // A line of quoted values separated by tabs is only tabs here.
  const records = bare.split(newline).filter((line) => /[^ \r]/.test(line));
  const [first = ""] = records;
  const possible = DELIMITERS.filter((delimiter) => first.includes(delimiter));
  const [only = ",", ...others] = possible;
  if (others.length === 0) return { delimiter: only, newline };
  // Papa Parse selects the delimiter that gives records of equal width.
  const sample = records.slice(0, SAMPLE_RECORDS).join(newline);
  const { meta } = Papa.parse(sample, { delimitersToGuess: possible, newline });
  return { delimiter: possible.find((one) => one === meta.delimiter) ?? only, newline };
}

const SEPARATOR_LINE = /^\u{feff}?(?:"sep=(.)"|sep=(.))[,;|\t]*(\r\n|\n|\r)/iu;

function namedDialect([text, quoted, plain, lineEnd]: RegExpExecArray): Dialect {
  const delimiter = DELIMITERS.find((one) => one === (quoted ?? plain)) ?? ",";
  return { delimiter, newline: lineEnd === "\r" ? "\r" : "\n", skipped: text.length };
}

/**
 * The text without the blanks between a value and a delimiter or line end: `a, "b" ,c`. A quote after
 * such a blank opens a value. Blanks inside quotes stay.
 */
function withoutOuterBlanks(text: string, delimiter: string, newline: string): string {
  const isBlank = (i: number) => text[i] === " " || (text[i] === "\t" && delimiter !== "\t");
  if (!text.includes(" ") && (delimiter === "\t" || !text.includes("\t"))) return text;
  let clean = "";
  let copied = 0;
  let nextDelimiter = -1;
  let nextNewline = -1;
  /** Leaves out the characters from `from` to `to`. */
  function drop(from: number, to: number): void {
    clean += text.slice(copied, from);
    copied = to;
  }
  /** The end of the value that contains the offset; each position is searched once. */
  function endOfValue(at: number): number {
    if (nextDelimiter < at) nextDelimiter = indexOrEnd(text, delimiter, at);
    if (nextNewline < at) nextNewline = indexOrEnd(text, newline, at);
    return Math.min(nextDelimiter, nextNewline);
  }

  for (let at = 0; at < text.length;) {
    let first = at;
    while (isBlank(first)) first++;
    if (first > at) drop(at, first);
    let from = first;
    if (text[first] === '"') {
      const close = closingQuote(text, first);
      if (close === -1) break;
      from = close + 1;
    }
    const end = endOfValue(from);
    const isReturn = text[end - 1] === "\r" && end > from;
    const last = isReturn ? end - 1 : end;
    let kept = last;
    while (kept > from && isBlank(kept - 1)) kept--;
    if (kept < last) drop(kept, last);
    at = end + 1;
  }
  return clean + text.slice(copied);
}

function indexOrEnd(text: string, part: string, from: number): number {
  const found = text.indexOf(part, from);
  return found === -1 ? text.length : found;
}

/** The quote that closes a value; -1 if none does. A doubled quote is content. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return -1;
}

/** Removes the CR that CRLF leaves at the end of the last cell if records are separated by LF. */
function dropReturn(cells: string[]): void {
  const last = cells.at(-1);
  if (last?.endsWith("\r") === true) cells[cells.length - 1] = last.slice(0, -1);
}

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) count++;
  return count;
}

/** Returns the offset after `lines` line ends; the length of the text if it has fewer. */
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

/** Whether the last cell is quoted in the text. A CR at the end of a quoted cell is content. */
function isLastQuoted(cells: readonly string[], text: string, end: number): boolean {
  const last = cells.at(-1) ?? "";
  return !text.endsWith(last, end) || text[end - last.length - 1] === '"';
}
