/** Reads a CSV file of an export, and adds its rows to the collection. */

import { createCsvReader, detectDialect } from "../../lib/csv.ts";
import { createDecoder, guessEncoding } from "../../lib/text-encoding.ts";
import { isEmailName } from "../../modules/contacts/import/columns.ts";
import { bareWord, isSpokenNo, isYes } from "../../modules/contacts/import/leaving-words.ts";
import {
  readLeft,
  readStatus,
  readWanted,
  type Standing,
  type StandingColumn,
  standingColumn,
  type StatusWords,
  strictest,
} from "../../modules/contacts/import/standing.ts";
import { UsageError } from "../command.ts";
import type { Collection } from "./collection.ts";
import type { SourceReading, ImportSource } from "./source.ts";
import type { SourceFile } from "./source-files.ts";

type Meaning = StandingColumn | { kind: "email" | "subscribed" | "tags" | "ignored" | "field" };

/** The names of the columns in the exports of a product, and their meaning here. */
export type TableDialect = {
  /** The standing of all people in the file, if its name tells one. */
  standing?: Standing;
  /** Columns that are not imported, by their `bareWord`. */
  dropped?: ReadonlySet<string>;
  /** Columns that say whether a person is subscribed, by their `bareWord`. */
  statuses?: ReadonlySet<string>;
  /** The names of segments in a cell, by the `bareWord` of their column. */
  tags?: ReadonlyMap<string, (cell: string) => string[]>;
  /** Names in the contact's data, by the `bareWord` of their column. Other columns keep their name. */
  names?: ReadonlyMap<string, string>;
};

type Table = {
  header: readonly string[];
  rows: Generator<{ cells: readonly string[] } | { fault: string }>;
};

export function readTable({ name, bytes }: SourceFile, encoding: string | null): Table {
  const guess = guessEncoding();
  guess.see(bytes);
  const guessed = guess.result();
  if (encoding === null && guessed.doubt !== null) {
    const ways = guessed.doubt.map(({ encoding: way, word }) => `${way}: ${word}`).join(", ");
    throw new UsageError(
      `${name} can be read in several encodings (${ways}): name one with --encoding`,
    );
  }
  const text = createDecoder(encoding ?? guessed.encoding).decode(bytes);
  const rows = rowsOf(text);
  const first = rows.next();
  const header =
    first.done !== true && "cells" in first.value
      ? first.value.cells.map((cell) => cell.replace(/^\u{feff}/u, "").trim())
      : [];
  return { header, rows };
}

function* rowsOf(text: string): Table["rows"] {
  const reader = createCsvReader(detectDialect(text));
  for (const items of [reader.push(text), reader.end()]) {
    for (const batch of items) {
      for (const item of batch) {
        if (item.kind === "record") yield { cells: item.cells };
        else yield { fault: `line ${item.line}: ${item.message}` };
      }
    }
  }
}

/** Adds the people of a file. It is refused if nothing says whether they are subscribed. */
export function addTable(
  collection: Collection,
  file: SourceFile,
  { reading, dialect }: { reading: SourceReading; dialect: TableDialect },
): void {
  const { header, rows } = readTable(file, reading.encoding);
  const meanings = meaningsOf(header, { reading, dialect });
  for (const name of header) collection.columns.add(name);
  const emailAt = meanings.findIndex(({ kind }) => kind === "email");
  const [, second] = header.filter((_, i) => meanings[i]?.kind === "email");
  if (second !== undefined) {
    throw new UsageError(
      `${file.name} has two columns with addresses: map ${second} to null or to data.KEY with --mapping`,
    );
  }
  if (emailAt === -1) {
    throw new UsageError(
      `${file.name} has no column with addresses: name it with --mapping '{"COLUMN": "email"}'`,
    );
  }
  if (dialect.standing === undefined && !meanings.some(saysStanding)) {
    throw new UsageError(
      `${file.name} does not say who is subscribed: export it with the subscription status`,
    );
  }
  const dropped = header.filter((_, i) => meanings[i]?.kind === "ignored");
  if (dropped.length > 0)
    collection.notes.add(`Columns that are not imported: ${dropped.join(", ")}`);
  for (const row of rows) {
    if ("fault" in row && dialect.standing !== undefined && dialect.standing !== "SUBSCRIBED") {
      throw hiddenLeaver(file, row.fault);
    }
    if ("fault" in row) collection.refuseRow(file.name, row.fault);
    else addRow(collection, row.cells, { file, header, meanings, emailAt, reading, dialect });
  }
}

/** A row of a list of people who left hides at least one of them, whom another file may name as in. */
export function hiddenLeaver({ name }: SourceFile, fault: string): UsageError {
  return new UsageError(
    `${name}, ${fault}: correct the file, because it says who left and nobody of it may be missed`,
  );
}

function meaningsOf(
  header: readonly string[],
  { reading, dialect }: { reading: SourceReading; dialect: TableDialect },
): Meaning[] {
  const meanings = header.map((name): Meaning => {
    const target = Object.hasOwn(reading.mapping, name) ? reading.mapping[name] : undefined;
    if (target === null) return { kind: "ignored" };
    const word = bareWord(target ?? name);
    if (word === "email" || word === "subscribed") return { kind: word };
    if (target === undefined) {
      if (dialect.tags?.has(word) === true) return { kind: "tags" };
      if (dialect.statuses?.has(word) === true) return { kind: "status" };
      if (name === "" || dialect.dropped?.has(word) === true) return { kind: "ignored" };
    }
    return standingColumn(target ?? name) ?? { kind: "field" };
  });
  if (meanings.some(({ kind }) => kind === "email")) return meanings;
  const named = header.flatMap((name, i) => (isEmailName(name) ? [i] : []));
  return meanings.map((meaning, i) =>
    named.length === 1 && named[0] === i ? { kind: "email" } : meaning,
  );
}

function saysStanding({ kind }: Meaning): boolean {
  return kind === "status" || kind === "wanted" || kind === "left" || kind === "subscribed";
}

type RowContext = {
  file: SourceFile;
  header: readonly string[];
  meanings: readonly Meaning[];
  emailAt: number;
  reading: SourceReading;
  dialect: TableDialect;
};

function addRow(collection: Collection, cells: readonly string[], context: RowContext): void {
  const { file, header, meanings, emailAt, reading, dialect } = context;
  const email = cells[emailAt] ?? "";
  if (cells.length > header.length) {
    collection.addUnclear(email, `${file.name}: the row has more values than columns`);
    return;
  }
  if (meanings.slice(cells.length).some(saysStanding)) {
    collection.addUnclear(email, `${file.name}: the row ends before its status`);
    return;
  }
  const standings: Standing[] = dialect.standing === undefined ? [] : [dialect.standing];
  const fields = new Map<string, string>();
  const tags: string[] = [];
  for (const [i, cell] of cells.entries()) {
    const [meaning, name = ""] = [meanings[i], header[i]];
    if (meaning === undefined || cell.trim() === "") continue;
    if (meaning.kind === "field") fields.set(nameOf(name, { reading, dialect }), cell);
    else if (meaning.kind === "tags")
      tags.push(...(dialect.tags?.get(bareWord(name))?.(cell) ?? []));
    else if (saysStanding(meaning)) {
      const standing = readStanding(meaning, cell, reading.statuses);
      if (standing === undefined) {
        const word = JSON.stringify(cell.trim().slice(0, 60));
        const reason = `${file.name}: the meaning of ${word} in ${name} is not known: say it with --statuses, or what the column means with --mapping`;
        collection.addUnclear(email, reason);
        return;
      }
      if (standing !== null) standings.push(standing);
    }
  }
  // A flag for the contacts who left says that all others did not leave.
  const isFlagged = meanings.some(({ kind }) => kind === "left") && !meanings.some(isAsked);
  const standing = strictest(standings) ?? (isFlagged ? "SUBSCRIBED" : "UNSUBSCRIBED");
  collection.addContact({ email, standing, fields });
  for (const tag of tags) collection.addMember(tag, email);
}

/** A column that --mapping names keeps its name, by which it is mapped. */
function nameOf(column: string, { reading, dialect }: Pick<RowContext, "reading" | "dialect">) {
  if (Object.hasOwn(reading.mapping, column)) return column;
  return dialect.names?.get(bareWord(column)) ?? column;
}

/** An empty cell in such a column is no yes. */
function isAsked({ kind }: Meaning): boolean {
  return kind === "status" || kind === "wanted" || kind === "subscribed";
}

/** Null if the cell says nothing, undefined if it cannot be read. */
function readStanding(
  meaning: Meaning,
  cell: string,
  words: StatusWords,
): Standing | null | undefined {
  switch (meaning.kind) {
    case "status":
      return readStatus(cell, words);
    case "wanted":
      return readWanted(cell, words);
    case "left":
      return readLeft(cell, meaning, words);
    case "subscribed":
      return isSpokenNo(cell) ? "UNSUBSCRIBED" : isYes(cell) ? "SUBSCRIBED" : undefined;
    default:
      return null;
  }
}

/** Adds the CSV files of a product that has no others. */
export function addTables(
  { files, collection, reading }: ImportSource,
  dialect: TableDialect,
): void {
  for (const file of files()) {
    if (!/\.csv$/i.test(file.name)) throw new UsageError(`${file.name}: expected a .csv file`);
    addTable(collection, file, { reading, dialect });
  }
}
