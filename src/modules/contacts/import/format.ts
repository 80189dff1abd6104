/**
 * Decides how the rows of a file are read, by its header and the options of the request, and makes the
 * checks of rows that need no database.
 */

import type { FieldError } from "../../../lib/errors.ts";
import {
  columnOf,
  hasStanding,
  isEmailName,
  type Mapping,
  readHeader,
  suspectColumn,
} from "./columns.ts";
import type { ImportJob } from "./model.ts";
import type { RowFormat } from "./rows.ts";
import { bareWord } from "./leaving-words.ts";
import { readStatus } from "./standing.ts";
import { createStandingWatch } from "./watch.ts";

export type FileFormat = RowFormat & {
  header: readonly string[];
  /** Columns without a given meaning. The file is refused if one of them seems to say who left. */
  watched: readonly number[];
};

/** A column whose meaning, or that of some of its words, must be said. */
type Question = { column: string; words: string[] };

type Options = Pick<ImportJob, "mapping" | "statuses" | "suppressAs" | "types">;

/** Columns that say in a list of suppressions why an address is on it. */
const REASON_NAMES = new Set(["reason", "type", "event", "category"]);
/** Mailgun names the column of addresses so. */
const ADDRESS_NAMES = new Set(["address", "recipient"]);
const LEFT_FILE =
  /unsub|non[-_ ]?subscri|cleaned|bounce|suppress|spam|complain|bl(?:ack|ock)[-_ ]?list|opt[-_ ]?out/i;
/** Kinds of columns that say nothing about a suppression. */
const UNUSED_IN_LIST = new Set<string>(["data", "json", "object", "topic"]);
const MOST_REPORTED = 20;
const MAX_REPORTED_WORDS = 10;
const MAX_ASKED_WORDS = 50;
const LONGEST_REPORTED = 60;

export function readFormat(
  header: readonly string[],
  { mapping, statuses = {}, suppressAs, types = [] }: Options,
): { format: FileFormat; errors: FieldError[] } {
  const statusWords = new Map(
    Object.entries(statuses).map(([word, standing]) => [bareWord(word), standing]),
  );
  const isList = suppressAs !== undefined;
  const read = readHeader(header, isList ? listMapping(header, mapping) : mapping);
  const { columns, unnamed, errors } = read;
  const watched = isList ? [] : unnamed;
  const format = { header, columns, statusWords, isList, watched, types };
  return { format, errors };
}

/** In a list of suppressions only the address and the reason count. */
function listMapping(header: readonly string[], mapping: Options["mapping"]): Mapping {
  const kinds = header.map((name) => columnOf(name).kind);
  const isMapped = Object.values(mapping).some((to) => to?.trim().toLowerCase() === "email");
  const hasEmail = isMapped || kinds.includes("email");
  const targets = header.flatMap((text, i): [string, string | null][] => {
    const name = text.trim();
    const word = bareWord(name);
    if (!hasEmail && (isEmailName(name) || ADDRESS_NAMES.has(word))) return [[name, "email"]];
    if (REASON_NAMES.has(word)) return [[name, "status"]];
    const isUnused = UNUSED_IN_LIST.has(kinds[i] ?? "");
    return isUnused ? [[name, null]] : [];
  });
  return { ...Object.fromEntries(targets), ...mapping };
}

/**
 * The error of a file whose name says that it contains people who left, such as the
 * `nonsubscribed_members_export.csv` of Mailchimp; null if its columns say it as well.
 */
export function nameError(
  { fileName = "", saysSubscribed = false }: Pick<ImportJob, "fileName" | "saysSubscribed">,
  { columns, isList }: FileFormat,
): FieldError | null {
  if (isList || saysSubscribed || hasStanding(columns) || !LEFT_FILE.test(fileName)) return null;
  const message =
    "has a name that says that its people left, and no column says so: send subscribed=false to " +
    "import them unsubscribed, subscribed=true if they are subscribed, or send the file to " +
    "POST /suppressions/import";
  return { field: "file", message, code: "invalid_value" };
}

/**
 * The error of a file that could be in several encodings, so that its letters may be wrong; null if
 * its encoding is known. The addresses of a list of suppressions are in ASCII in each of them.
 */
export function encodingError({
  encodingDoubt,
  suppressAs,
}: Pick<ImportJob, "encodingDoubt" | "suppressAs">): FieldError | null {
  if (encodingDoubt === undefined || suppressAs !== undefined) return null;
  const [first, ...others] = encodingDoubt.map(
    ({ encoding, word }) => `${JSON.stringify(word)} (${encoding})`,
  );
  const readings = [...new Set([first, ...others])].join(" or ");
  const message =
    `must be named, because the file is not in UTF-8 and its letters can be read in several ways: ` +
    `${readings}; or save the file as UTF-8`;
  return { field: "encoding", message, code: "required" };
}

/** The words that the first records contain and whose meaning is not known, by column. */
function examine(format: FileFormat, records: Iterable<readonly string[]>) {
  const { columns, statusWords, isList } = format;
  const watch = createStandingWatch(format);
  const unknown = new Map<number, Set<string>>();
  for (const cells of records) {
    watch.see(cells);
    for (const [i, cell] of isList ? [] : cells.entries()) {
      if (columns[i]?.kind !== "status" || cell.trim() === "") continue;
      if (readStatus(cell, statusWords) !== undefined) continue;
      unknown.set(i, (unknown.get(i) ?? new Set()).add(cell.trim().slice(0, LONGEST_REPORTED)));
    }
  }
  return { suspects: watch.found(), unknown };
}

/** The errors of the first records of a file, and the columns whose meaning the caller must give. */
export function examineSample(format: FileFormat, records: Iterable<readonly string[]>) {
  const { header } = format;
  const { suspects, unknown } = examine(format, records);
  const nameOf = (i: number) => (header[i] ?? "").trim();
  const questions: Question[] = [
    ...suspects.map(({ index }) => ({ column: nameOf(index), words: [] })),
    ...[...unknown].map(([i, words]) => ({
      column: nameOf(i),
      words: [...words].slice(0, MAX_ASKED_WORDS),
    })),
  ];
  const errors = [
    ...suspects
      .slice(0, MOST_REPORTED)
      .map(({ index, value }) => suspectColumn(header[index] ?? "", value)),
    ...[...unknown].map(([i, words]) => unknownStatuses(header[i] ?? "", words)),
  ];
  return { errors, questions };
}

function unknownStatuses(name: string, words: ReadonlySet<string>): FieldError {
  const shown = [...words].slice(0, MAX_REPORTED_WORDS).map((word) => JSON.stringify(word));
  const example = `{${shown[0] ?? ""}: "UNSUBSCRIBED"}`;
  const column = name.trim().slice(0, LONGEST_REPORTED);
  return {
    field: "statuses",
    message:
      `must give the meaning of ${shown.join(", ")} in the column ${column}, as in ${example}; ` +
      `or map the column to data.${column}, or to null to ignore it`,
    code: "required",
  };
}
