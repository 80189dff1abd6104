/** Converts a record of a CSV file to the values of one contact. All functions here are pure. */

import { refuseUnstorable } from "../../../http/json-checks.ts";
import { AppError } from "../../../lib/errors.ts";
import { parseAddress } from "../../../protocols/mime/address.ts";
import { readCell, removeMark } from "./cells.ts";
import type { Column } from "./columns.ts";
import { serializeData } from "../data.ts";

export type ImportRow =
  | {
      kind: "row";
      line: number;
      email: string;
      /** Null if the row has no value. */
      subscribed: boolean | null;
      /** A JSON object as text, which takes less memory than an object while a batch is held. */
      data: string;
    }
  | { kind: "fault"; line: number; message: string };

const SUBSCRIBED = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false],
]);

/** The reason why a record is invalid, as one sentence. */
class RowError extends Error {}

export function readRow(
  columns: readonly Column[],
  record: { line: number; cells: readonly string[] },
): ImportRow {
  const { line, cells } = record;
  try {
    return { kind: "row", line, ...readCells(columns, cells) };
  } catch (error) {
    return { kind: "fault", line, message: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  if (error instanceof RowError) return error.message;
  if (error instanceof AppError) return error.message;
  throw error;
}

function readCells(columns: readonly Column[], cells: readonly string[]) {
  let email: string | null = null;
  let subscribed: boolean | null = null;
  const data: [string, unknown][] = [];
  for (const [i, cell] of cells.entries()) {
    const column = columns[i];
    refuseBadCharacters(cell);
    if (cell.trim() === "") continue;
    if (column === undefined) throw new RowError("The row has more values than columns.");
    if (column.kind === "email") email = readEmail(cell);
    else if (column.kind === "subscribed") subscribed = readSubscribed(cell);
    else if (column.kind === "data") data.push([column.key, readCell(cell)]);
    else if (column.kind === "json") data.push([column.key, readJsonCell(cell, column.key)]);
  }
  if (email === null) throw new RowError("The email is empty.");
  return {
    email,
    subscribed,
    data: serializeData(Object.fromEntries(data.filter(([, value]) => value !== null))),
  };
}

function refuseBadCharacters(cell: string): void {
  if (cell.includes("\0")) throw new RowError("The row contains a NUL character.");
  if (cell.includes("\u{fffd}")) {
    throw new RowError("The row contains bytes that are not valid UTF-8.");
  }
}

function readEmail(cell: string): string {
  const parsed = parseAddress(removeMark(cell));
  if (!parsed.ok) throw new RowError(parsed.reason);
  return parsed.address;
}

function readSubscribed(cell: string): boolean {
  const value = SUBSCRIBED.get(cell.trim().toLowerCase());
  if (value === undefined) {
    throw new RowError("subscribed must be true, 1, yes, false, 0 or no.");
  }
  return value;
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
