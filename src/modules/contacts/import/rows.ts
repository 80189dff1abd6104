/** Converts a record of a CSV file to the values of one contact. All functions here are pure. */

import { refuseUnstorable } from "../../../http/json-checks.ts";
import { isRecord } from "../../../http/validation.ts";
import { AppError } from "../../../lib/errors.ts";
import { isSecretName } from "../../../lib/secret-names.ts";
import { parseMailbox } from "../../../protocols/mime/mailbox.ts";
import { readCell, removeMark } from "./cells.ts";
import type { ColumnType } from "./column-types.ts";
import type { Column } from "./columns.ts";
import { isReserved, serializeData } from "../data.ts";
import { isSpokenNo, isYes } from "./leaving-words.ts";
import {
  readLeft,
  readStatus,
  readWanted,
  type Standing,
  type StatusWords,
  strictest,
} from "./standing.ts";

export type TopicWish = { key: string; isSubscribed: boolean };

export type ImportRow =
  | {
      kind: "row";
      line: number;
      email: string;
      /** The standing of the person by this row; null if the row has none. */
      standing: Standing | null;
      /** The topics that the row names, and whether the contact is in them. */
      topics: readonly TopicWish[];
      /** A JSON object as text, which takes less memory than an object while a batch is held. */
      data: string;
    }
  /** `cells` is the record as it stands in the file, if it could be split into cells. */
  | { kind: "fault"; line: number; message: string; cells?: readonly string[] };

/** Characters of a cell in a message. */
const LONGEST_SHOWN = 60;

/** The reason why a record is invalid, as one sentence. */
class RowError extends Error {}

/** The format in which the rows of a file are read. */
export type RowFormat = {
  columns: readonly Column[];
  statusWords: StatusWords;
  /** True for a list of suppressions, in which a reason in unknown words says nothing. */
  isList: boolean;
  /** The types of the columns of data; text where there is none. */
  types: readonly (ColumnType | null)[];
};

export function readRow(
  format: RowFormat,
  record: { line: number; cells: readonly string[] },
): ImportRow {
  const { line, cells } = record;
  try {
    return { kind: "row", line, ...readCells(format, cells) };
  } catch (error) {
    return { kind: "fault", line, message: messageOf(error), cells };
  }
}

function messageOf(error: unknown): string {
  if (error instanceof RowError) return error.message;
  if (error instanceof AppError) return error.message;
  throw error;
}

function readCells({ columns, statusWords, isList, types }: RowFormat, cells: readonly string[]) {
  let email: string | null = null;
  const standings: Standing[] = [];
  const addStanding = (standing: Standing | null | undefined, cell: string) => {
    if (standing === undefined && !isList) throw new RowError(unknownStatus(cell));
    if (standing !== null && standing !== undefined) standings.push(standing);
  };
  const data: [string, unknown][] = [];
  const topics: TopicWish[] = [];
  let isLeft = false;
  for (const [i, cell] of cells.entries()) {
    const column = columns[i];
    refuseBadCharacters(cell);
    if (cell.trim() === "") continue;
    if (column === undefined) throw new RowError("The row has more values than columns.");
    switch (column.kind) {
      case "email":
        email = readEmail(cell);
        break;
      case "subscribed":
        addStanding(readFlag(cell, "subscribed") ? "SUBSCRIBED" : "UNSUBSCRIBED", cell);
        break;
      case "status":
        addStanding(readStatus(cell, statusWords), cell);
        break;
      case "wanted":
        addStanding(readWanted(cell, statusWords), cell);
        break;
      case "left": {
        const standing = readLeft(cell, column, statusWords);
        isLeft ||= standing !== null;
        addStanding(standing, cell);
        break;
      }
      case "data":
        data.push([column.key, readTypedCell(cell, column.key, types[i] ?? "text")]);
        break;
      case "json":
        data.push([column.key, readJsonCell(cell, column.key)]);
        break;
      case "topic":
        topics.push({ key: column.key, isSubscribed: readFlag(cell, `topic:${column.key}`) });
        break;
      case "object":
        data.push(...readObjectCell(cell, column.key));
        break;
      case "ignored":
    }
  }
  if (email === null) throw new RowError("The email is empty.");
  // An export of all contacts has a column that marks contacts who left, such as `unsubscribed`.
  const saysWhoLeft = isList && columns.some(({ kind }) => kind === "left");
  if (saysWhoLeft && !isLeft && standings.length === 0) standings.push("SUBSCRIBED");
  return {
    email,
    standing: strictest(standings),
    topics,
    data: serializeData(Object.fromEntries(data.filter(([, value]) => value !== null))),
  };
}

function refuseBadCharacters(cell: string): void {
  if (cell.includes("\0")) throw new RowError("The row contains a NUL character.");
  if (cell.includes("\u{fffd}")) {
    throw new RowError("The row contains bytes that are not valid in the encoding of the file.");
  }
}

/** Reads an address, also as mail programs export it: `Ada <ada@example.com>`, `mailto:…`. */
function readEmail(cell: string): string {
  const text = removeMark(cell).trim();
  const bare = text.replace(/(^|<)[ \t]*mailto:/i, "$1");
  const parsed = parseMailbox(bare, { mayHaveCommas: true });
  if (!parsed.ok) throw new RowError(parsed.reason);
  return parsed.mailbox.address;
}

function readFlag(cell: string, column: string): boolean {
  if (isSpokenNo(cell)) return false;
  if (isYes(cell)) return true;
  throw new RowError(`${column} must be true, 1, yes, false, 0 or no.`);
}

function readTypedCell(cell: string, key: string, type: ColumnType): unknown {
  const value = readCell(cell, type);
  if (value !== null) return value;
  // Viewers read the errors of an import.
  const shown = isSecretName(key) ? "" : ` ${JSON.stringify(cell.trim().slice(0, LONGEST_SHOWN))}`;
  throw new RowError(
    `The value${shown} of ${key} is no ${type.startsWith("date") ? "date" : "number"}.`,
  );
}

function unknownStatus(cell: string): string {
  const shown = JSON.stringify(cell.trim().slice(0, LONGEST_SHOWN));
  return `The meaning of the status ${shown} is not known: say it in statuses.`;
}

/** The keys of a JSON object; other text is the value of `key`. */
function readObjectCell(cell: string, key: string | null): [string, unknown][] {
  if (key !== null && !/^\s*[{[]/.test(cell)) return [[key, removeMark(cell)]];
  const value = readJsonCell(cell, key ?? "the column for data");
  if (key !== null && Array.isArray(value)) return [[key, value]];
  if (!isRecord(value)) throw new RowError("The column for data must contain JSON objects.");
  return Object.entries(value).filter(([name]) => !isReserved(name));
}

function readJsonCell(cell: string, key: string): unknown {
  try {
    const value: unknown = JSON.parse(cell);
    refuseUnstorable(value);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) throw new RowError(`The value of ${key} is not JSON.`);
    if (error instanceof AppError) throw new RowError(`The value of ${key} cannot be stored.`);
    throw error;
  }
}
