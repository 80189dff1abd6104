/**
 * A survey of all rows of a file before the first is written: their number, the types of the columns,
 * and whether a column says who left although its name does not.
 */

import type { CsvItem } from "../../../lib/csv.ts";
import type { FieldError } from "../../../lib/errors.ts";
import {
  type ColumnSurvey,
  type ColumnType,
  createColumnSurvey,
  type TypeOptions,
} from "./column-types.ts";
import { type Column, type Mapping, suspectColumn } from "./columns.ts";
import type { FileFormat } from "./format.ts";
import type { ImportedColumn } from "./model.ts";
import { createStandingWatch } from "./watch.ts";

export type FileSurvey = {
  total: number;
  /** The type of each column; null for a column that is no data. */
  types: (ColumnType | null)[];
  /** The first columns, as they are shown. */
  columns: ImportedColumn[];
};

const MOST_REPORTED = 20;
const MAX_SHOWN_COLUMNS = 500;
const LONGEST_SHOWN_NAME = 200;

/** The faults of `result` have the file refused. */
export function surveyRows(format: FileFormat, options: TypeOptions) {
  const { header, columns } = format;
  const surveys = columns.map((column) =>
    column.kind === "data" ? createColumnSurvey(column.as ?? null) : null,
  );
  let total = 0;
  const watch = createStandingWatch(format);

  return {
    see(item: CsvItem): void {
      if (item.kind !== "end") total++;
      if (item.kind !== "record") return;
      watch.see(item.cells);
      for (const [i, cell] of item.cells.entries()) surveys[i]?.see(cell);
    },

    result(): FileSurvey & { faults: FieldError[] } {
      const faults = watch
        .found()
        .slice(0, MOST_REPORTED)
        .map(({ index, value }) => suspectColumn(header[index] ?? "", value));
      const types = columns.map((_, i): ColumnType | null => {
        const type = surveys[i]?.type(options) ?? null;
        if (type === null || typeof type === "string") return type;
        const message = `has a column ${shorten(header[i] ?? "")} that ${type.fault}`;
        faults.push({ field: "file", message, code: "invalid_value" });
        return "text";
      });
      const shown = columns.slice(0, MAX_SHOWN_COLUMNS).map((column, i) => ({
        name: shorten(header[i] ?? ""),
        ...presentColumn(column, types[i] ?? null, surveys[i] ?? null),
      }));
      return { total, types, columns: shown, faults };
    },
  };
}

function presentColumn(
  column: Column,
  type: ColumnType | null,
  survey: ColumnSurvey | null,
): Omit<ImportedColumn, "name"> {
  switch (column.kind) {
    case "data": {
      const field = shorten(`data.${column.key}`);
      const guess = type === "text" ? (survey?.guess() ?? null) : null;
      return { field, type: presentType(type), guess };
    }
    case "json":
      return { field: shorten(`json:${column.key}`), type: "json", guess: null };
    case "topic":
      return { field: shorten(`topic:${column.key}`), type: null, guess: null };
    case "object":
      return { field: "data", type: "json", guess: null };
    case "left":
      return { field: LEFT_TARGETS[column.standing], type: null, guess: null };
    case "wanted":
      return { field: "subscribed", type: null, guess: null };
    case "ignored":
      return { field: null, type: null, guess: null };
    default:
      return { field: column.kind, type: null, guess: null };
  }
}

const LEFT_TARGETS = {
  UNSUBSCRIBED: "unsubscribed",
  MANUAL: "suppressed",
  HARD_BOUNCE: "bounced",
  COMPLAINT: "complained",
} as const;

function presentType(type: ColumnType | null): ImportedColumn["type"] {
  if (type === "number-dot" || type === "number-comma") return "number";
  return type === "date-dmy" || type === "date-mdy" ? "date" : type;
}

function shorten(name: string): string {
  const text = name.trim();
  return text.length > LONGEST_SHOWN_NAME ? `${text.slice(0, LONGEST_SHOWN_NAME)}…` : text;
}

/** Returns a sentence for each column that is left out because its name is reserved. */
export function notesOnDropped(columns: readonly ImportedColumn[], mapping: Mapping): string[] {
  return columns.flatMap(({ name, field }) => {
    if (field !== null || name === "" || mapping[name] === null) return [];
    return [
      `The column ${name} is not imported, because the service sets this field itself. Map it to ` +
        "another name, such as data.externalId, to store it, or to null.",
    ];
  });
}

/** Returns a sentence for each column that the caller should check. */
export function notesOnColumns(columns: readonly ImportedColumn[]): string[] {
  return columns.flatMap(({ name, field, guess }) => {
    const words = guess === null || field === null ? undefined : WORDS[guess];
    if (words === undefined) return [];
    const target = guess?.startsWith("number") === true ? "number" : "date";
    const key = field?.slice("data.".length) ?? "";
    const advice = guess === "mixed" ? "" : ` Map it to ${target}:${key} to store them as such.`;
    return [
      `The column ${name} is stored as text, although its values look like ${words}.${advice}`,
    ];
  });
}

const WORDS = {
  number: "numbers",
  "number-comma": "numbers with a decimal comma",
  date: "dates, with the day or the month first",
  "date-dmy": "dates with the day first",
  "date-mdy": "dates with the month first",
  mixed: "numbers or dates only in part, so conditions on numbers and dates do not match all",
} as const;
