/**
 * Watches the columns of a file that became data because their meaning is not known. The name of a
 * column, its values and the keys of JSON in it may show that it marks contacts who left; then the
 * caller must give its meaning. A row whose contact left by another column raises no question.
 */

import { isRecord } from "../../../http/validation.ts";
import { MAX_DATA_KIB } from "../data.ts";
import { type ColumnName, isFileOfOrders, readColumnName } from "./column-names.ts";
import type { Column } from "./columns.ts";
import { isNo, isSpokenNo, isTime, isYes, leavingIn } from "./leaving-words.ts";
import { readLeft, readStatus, readWanted, type Standing, type StatusWords } from "./standing.ts";

type StandingWatch = {
  see(cells: readonly string[]): void;
  /** The columns whose meaning must be said, with the value that shows it. */
  found(): { index: number; value: string }[];
};

/** The verdict of a cell: `perhaps` and the sides are weighed when the column was seen. */
type Verdict = "none" | "asks" | "perhaps" | "left" | "side";

type WatchedColumn = {
  index: number;
  /** Null for a column that is only watched for the keys of its objects. */
  name: ColumnName | null;
  verdicts: Map<string, Verdict>;
  values: Set<string>;
  asking: string | null;
  perhaps: string | null;
  left: string | null;
  hasSides: boolean;
};

/** More values make a column of texts, in which a word such as `inactive` is one of them. */
const MOST_WORDS = 50;
const MOST_VERDICTS = 256;
const MOST_NAMES = 2_000;
const LONGEST_VALUE = 60;
const MOST_NESTED = 3;
/** A longer cell cannot be stored with a contact. */
const LONGEST_JSON = MAX_DATA_KIB * 1024;

export function createStandingWatch(format: {
  columns: readonly Column[];
  watched: readonly number[];
  header: readonly string[];
  statusWords: StatusWords;
}): StandingWatch {
  const { columns, statusWords } = format;
  const readKey = createNameReader();
  const isOfOrders = isFileOfOrders(format.header);
  const watched = format.watched.map((index): WatchedColumn => {
    const name =
      columns[index]?.kind === "data" ? readColumnName(format.header[index] ?? "") : null;
    const [verdicts, values] = [new Map<string, Verdict>(), new Set<string>()];
    const found = { asking: null, perhaps: null, left: null, hasSides: false };
    return { index, name, verdicts, values, ...found };
  });
  let open = watched;
  const answers = columns.flatMap(({ kind }, i) => (kind === "subscribed" ? [i] : []));

  /** In a file of orders a row with an answer about mail has cells about the order. */
  function isAboutOrder({ name }: WatchedColumn, cells: readonly string[]): boolean {
    return (
      isOfOrders &&
      name?.mayBeOfOrder === true &&
      standingsIn(columns, cells, statusWords).includes("SUBSCRIBED")
    );
  }

  function verdictOf(column: WatchedColumn, cell: string, hasAnswer: boolean): Verdict {
    const isText = column.values.size > MOST_WORDS;
    if (cell.length <= LONGEST_JSON && /^\s*[{[]/.test(cell)) {
      const isData = column.name !== null;
      if (!(isData && hasAnswer) && asksInJson(cell, readKey, 0)) return "asks";
      if (!isData) return "none";
    }
    return column.name === null ? "none" : classifyCell(column.name, cell, { hasAnswer, isText });
  }

  function see(column: WatchedColumn, cells: readonly string[], hasAnswer: boolean): void {
    const cell = cells[column.index] ?? "";
    const key = hasAnswer ? `+${cell}` : cell;
    let verdict = column.verdicts.get(key);
    if (verdict === undefined) {
      verdict = verdictOf(column, cell, hasAnswer);
      if (cell.length <= LONGEST_VALUE && column.verdicts.size < MOST_VERDICTS) {
        column.verdicts.set(key, verdict);
      }
    }
    if (column.values.size <= MOST_WORDS) column.values.add(cell.slice(0, LONGEST_VALUE));
    if (verdict === "none") return;
    if (verdict === "side") column.hasSides = true;
    else if (!hasLeft(columns, cells, statusWords) && !isAboutOrder(column, cells)) {
      keep(column, verdict, cell);
    }
  }

  return {
    see(cells) {
      const hasAnswer = answers.some((i) => (cells[i] ?? "").trim() !== "");
      for (const column of open) see(column, cells, hasAnswer);
      if (open.some(({ asking }) => asking !== null)) {
        open = open.filter(({ asking }) => asking === null);
      }
    },

    found: () =>
      watched.flatMap((column) => {
        const { index } = column;
        const left = column.hasSides ? null : column.left;
        const perhaps = column.values.size > MOST_WORDS ? null : (column.perhaps ?? left);
        const value = column.asking ?? perhaps;
        return value === null ? [] : [{ index, value: value.trim().slice(0, LONGEST_VALUE) }];
      }),
  };
}

function keep(column: WatchedColumn, verdict: "asks" | "perhaps" | "left", cell: string): void {
  if (verdict === "asks") column.asking ??= cell;
  else column[verdict] ??= cell;
}

/** `hasAnswer`: the field `subscribed` of this row says whether the person wants mail. */
function classifyCell(
  { hint, asks }: ColumnName,
  cell: string,
  { hasAnswer, isText }: { hasAnswer: boolean; isText: boolean },
): Verdict {
  if (hint === "wanted" && !isYes(cell) && !isTime(cell)) return "asks";
  if (cell.trim() === "") return "none";
  if (hint === "left" && !isNo(cell)) return "asks";
  if (hasAnswer) return "none";
  if (hint === "mail" && isSpokenNo(cell)) return "asks";
  if (hint === "perhaps-left" && (isTime(cell) || isSpokenYes(cell))) return "asks";
  const word = asks === "nothing" ? null : leavingIn(cell, isText);
  if (word === "surely") return "asks";
  return word === null || asks === "sure-words" ? "none" : word;
}

/** A yes that is no number and no mark. */
const isSpokenYes = (cell: string): boolean => isYes(cell) && cell.trim().length > 1;

/** True if a column with a known meaning says that the person of this row left. */
const hasLeft = (columns: readonly Column[], cells: readonly string[], words: StatusWords) =>
  standingsIn(columns, cells, words).some((standing) => standing !== "SUBSCRIBED");

/** Returns the standings of the person that the columns with a known meaning have in this row. */
function standingsIn(
  columns: readonly Column[],
  cells: readonly string[],
  words: StatusWords,
): Standing[] {
  return columns.flatMap((column, i) => {
    const cell = cells[i] ?? "";
    if (cell.trim() === "") return [];
    const standing =
      column.kind === "status"
        ? readStatus(cell, words)
        : column.kind === "wanted" || column.kind === "subscribed"
          ? readWanted(cell, words)
          : column.kind === "left"
            ? readLeft(cell, column, words)
            : null;
    return standing === null || standing === undefined ? [] : [standing];
  });
}

/** Reads the name of a key; the answers are kept, because each row repeats the keys. */
function createNameReader(): (name: string) => ColumnName {
  const known = new Map<string, ColumnName>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const read = readColumnName(name);
    if (known.size < MOST_NAMES) known.set(name, read);
    return read;
  };
}

/** True if a key of JSON in a cell, with its value, would be a question as a column. */
function asksInJson(text: string, readKey: (name: string) => ColumnName, nested: number): boolean {
  const open = [{ name: "", value: parsed(text) }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { name, value } = next;
    if (Array.isArray(value)) {
      for (const item of value) open.push({ name, value: item });
    } else if (isRecord(value)) {
      for (const [key, item] of Object.entries(value)) {
        open.push({ name: `${name} ${key}`.trim().slice(-LONGEST_VALUE), value: item });
      }
    } else {
      const cell = typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
      const isJson = nested < MOST_NESTED && /^\s*[{[]/.test(cell);
      if (isJson && asksInJson(cell, readKey, nested + 1)) return true;
      const verdict = classifyCell(readKey(name), cell, { hasAnswer: false, isText: false });
      if (verdict === "asks" || verdict === "perhaps") return true;
    }
  }
  return false;
}

/** Text that is no JSON is one value. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, LONGEST_VALUE);
  }
}
