/**
 * Searches the tables of a project for an address and removes it where it stands.
 *
 * 1. A thread finds the rows of a table that have both markers of the address in their texts
 *    (lib/address-spellings.ts), or the address in their bytes, in the order of their numbers.
 * 2. A change reads the texts of these rows again, and writes them with the address replaced. Some tables
 *    have their own way: a received mail, a caught message, and the file of a mail are removed as a whole.
 * 3. The position is stored in the same change, so that a search goes on where it was.
 *
 * The tables and columns are those of the schema (person-tables.ts says which are left out), so a new
 * table is searched as well.
 */

import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { App } from "../../core/app.ts";
import { forgetRows } from "../../lib/cached-rows.ts";
import { perApp } from "../../lib/per-app.ts";
import { PERSON_TABLES } from "./person-tables.ts";
import { bytesBefore, ownerOf, removerOf } from "./removers.ts";
import {
  markersOf,
  mentions,
  octetSpellings,
  replaceAddress,
  spellingsOf,
} from "../../lib/address-spellings.ts";

type SearchedTable = {
  name: string;
  /** Columns of text that are searched. */
  texts: readonly string[];
  /** SQL that is true for a row `t` of the project `?3`. */
  ofProject: string;
  /** The column of bytes that is searched; null if there is none. */
  packed: string | null;
};

/** Rows of one change. */
const ROWS = 50;
const READ_MS = 1_000;

/** Columns of bytes that are unpacked and searched. */
export const PACKED: Readonly<Record<string, string>> = {
  attachment_contents: "bytes",
  captured_messages: "raw",
  inbox_raw: "bytes",
  inbox_texts: "rest",
  message_pieces: "bytes",
  received_pieces: "bytes",
};

export const searchedTables = perApp(({ db }: App) => readTables(db.sqlite));

export function readTables(sqlite: Database): SearchedTable[] {
  return Object.entries(PERSON_TABLES)
    .filter(([, { erasure }]) => erasure !== "NONE")
    .flatMap(([name, { unsearched = {} }]) => {
      const texts = sqlite
        .query<{ name: string }, [string]>(
          "SELECT name FROM pragma_table_info(?) WHERE lower(type) = 'text'",
        )
        .all(name)
        .map((column) => column.name)
        .filter((column) => !(column in unsearched));
      const packed = PACKED[name];
      if (texts.length === 0 && packed === undefined) return [];
      const ofProject = projectCondition(sqlite, name);
      return [{ name, texts, ofProject, packed: packed ?? null }];
    });
}

/** A row belongs to a project by its own column, or by one of the rows to which it refers. */
function projectCondition(sqlite: Database, table: string, alias = "t", depth = 0): string {
  if (hasProject(sqlite, table)) return `${alias}.project_seq = ?3`;
  const keys = sqlite
    .query<{ from: string; table: string; to: string }, [string]>(
      `SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)`,
    )
    .all(table);
  const owner =
    keys.find((key) => hasProject(sqlite, key.table)) ?? (depth < 2 ? keys[0] : undefined);
  if (owner === undefined) throw new Error(`the rows of ${table} belong to no project`);
  const parent = `p${depth}`;
  return `EXISTS (SELECT 1 FROM ${owner.table} ${parent}
    WHERE ${parent}.${owner.to} = ${alias}.${owner.from} AND ${projectCondition(sqlite, owner.table, parent, depth + 1)})`;
}

function hasProject(sqlite: Database, table: string): boolean {
  const find = "SELECT 1 FROM pragma_table_info(?) WHERE name = 'project_seq'";
  return sqlite.query(find).get(table) !== null;
}

export type Search = {
  projectSeq: number;
  addresses: readonly string[];
  spellings: readonly string[];
};

const spellingsInOctets = (address: string): string =>
  octetSpellings(spellingsOf(address)).join("\n");

/** The last row of a table, up to which it is searched. */
export function lastRow({ db }: App, { name }: SearchedTable): number {
  const find = `SELECT max(rowid) AS last FROM ${name}`;
  return db.sqlite.query<{ last: number | null }, []>(find).get()?.last ?? 0;
}

/**
 * The parameters are the positions ?1 and ?2, the project ?3, both markers of each address, and for a table
 * with bytes the spellings of each address.
 *
 * Finds rows in the order of their numbers, so that the number at which the time is over says how far the
 * search has come. An index would give another order; and the time is asked before a row is searched.
 */
export function searchSql({ name, texts, packed, ofProject }: SearchedTable, addresses: number) {
  const text = `lower(concat_ws(char(10), ${texts.map((column) => `t.${column}`).join(", ")}))`;
  const any = (one: (first: string, second: string, spellings: string) => string) => {
    const each = Array.from({ length: addresses }, (_, i) =>
      one(`?${4 + 2 * i}`, `?${5 + 2 * i}`, `?${4 + 2 * addresses + i}`),
    );
    return `(${each.join(" OR ")})`;
  };
  const inTexts =
    texts.length === 0
      ? "0"
      : any((first, second) => `(instr(${text}, ${first}) > 0 AND instr(${text}, ${second}) > 0)`);
  const inBytes =
    packed === null
      ? "0"
      : any((...given) => `zip_mentions(t.${packed}, ${bytesBefore(name)}, ${given.join(", ")})`);
  // A row without texts is found by its bytes; to search them again would take as long.
  const isInBytes = texts.length === 0 ? "1" : inBytes;
  return `
    SELECT t.rowid AS position, ${ownerOf(name)} AS owner, ${isInBytes} AS isInBytes
    FROM ${name} t NOT INDEXED
    WHERE t.rowid > ?1 AND t.rowid <= ?2
      AND iif(in_time(t.rowid), (${inTexts} OR ${inBytes}) AND ${ofProject}, 0)
    ORDER BY t.rowid LIMIT ${ROWS}`;
}

/**
 * The rows after a position that may have one of the addresses, and the position up to which the table
 * was searched; null if it was searched to the end.
 */
export async function findRows(
  app: App,
  table: SearchedTable,
  { projectSeq, addresses, after, last }: Search & { after: number; last: number },
): Promise<{ rows: FoundRow[]; searchedTo: number | null }> {
  const found = await app.reader.find(
    projectSeq,
    {
      sql: searchSql(table, addresses.length),
      values: [
        after,
        last,
        projectSeq,
        ...addresses.flatMap(markersOf),
        ...(table.packed === null ? [] : addresses.map(spellingsInOctets)),
      ],
      isPartial: true,
    },
    READ_MS,
  );
  const rows = found.rows.map(([row, owner, isInBytes]) => ({
    row: Number(row),
    owner: typeof owner === "string" ? owner : Number(owner),
    isInBytes: isInBytes === 1,
  }));
  const lastFound = rows.at(-1)?.row ?? after;
  if (rows.length === ROWS) return { rows, searchedTo: lastFound };
  if (found.isComplete) return { rows, searchedTo: null };
  // The row at which the time was over was not searched.
  return { rows, searchedTo: Math.max(lastFound, (found.stoppedAt ?? after + 1) - 1) };
}

/**
 * How many rows were read again, how many of them were changed or removed, and how many wait because their
 * mail is not sent yet.
 */
type Cleaned = { rows: number; changed: number; postponed: number };

/** Part of a change: cleans these rows of a table, at least the first, while there is time. */
export function cleanRows(
  app: App,
  table: SearchedTable,
  { rows, search, hasTime }: { rows: readonly FoundRow[]; search: Search; hasTime: () => boolean },
): Cleaned {
  const cleaned = { rows: 0, changed: 0, postponed: 0 };
  const remove = removerOf(app, table.name);
  for (const found of rows) {
    const replace = () => replaceIn(app, table, found.row, search);
    const result = remove === null ? replace() : remove(found, search, replace);
    cleaned.rows++;
    if (result === "changed") cleaned.changed++;
    if (result === "postponed") cleaned.postponed++;
    if (!hasTime()) break;
  }
  if (cleaned.changed > 0) forgetRows(app, table.name);
  return cleaned;
}

/** A row that has been found, and whether its bytes have the address. */
export type FoundRow = {
  row: number;
  /**
   * The owner of the bytes: the number of a message or of a mail, or the digest of a file. It is never used
   * again, as the number of a row may be after its deletion. A table without bytes has the number of the row.
   */
  owner: number | string;
  isInBytes: boolean;
};

export type RowResult = "changed" | "postponed" | "unchanged";

function replaceIn(
  app: App,
  { name, texts }: SearchedTable,
  row: number,
  { projectSeq, spellings }: Search,
): RowResult {
  if (texts.length === 0) return "unchanged";
  const { sqlite } = app.db;
  const select = `SELECT ${texts.join(", ")} FROM ${name} WHERE rowid = ?`;
  const found = prepared(app, select).values(row)[0];
  if (found === undefined) return "unchanged";
  const changes = texts.flatMap((column, i) => {
    const text: unknown = found[i];
    if (`${name}.${column}` === NOT_REPLACED) return [];
    if (typeof text !== "string" || !mentions(text, spellings)) return [];
    return [{ column, before: text, after: replaceAddress(text, spellings) }];
  });
  if (changes.length === 0) return "unchanged";
  const sets = changes.map(({ column }) => `${column} = ?`);
  // A message with another text is another one: a new mail must not reuse it (outbox/enqueue.ts).
  if (name === "messages") sets.push("digest = 'erased ' || seq");
  const values: SQLQueryBindings[] = [...changes.map(({ after }) => after), row];
  const { changes: written } = sqlite.run(
    `UPDATE OR IGNORE ${name} SET ${sets.join(", ")} WHERE rowid = ?`,
    values,
  );
  // Another row has the text without the address already, such as the same link of a campaign.
  if (written === 0) sqlite.run(`DELETE FROM ${name} WHERE rowid = ?`, [row]);
  if (name === "contacts") {
    const bytes = changes.map(
      ({ before, after }) => Buffer.byteLength(after) - Buffer.byteLength(before),
    );
    app.usage.addBytes(
      projectSeq,
      bytes.reduce((sum, more) => sum + more, 0),
    );
  }
  return "changed";
}

/**
 * The recipient of a mail is emptied with its contact, or by removers.ts. Otherwise the mail belongs to a
 * person who came back.
 */
const NOT_REPLACED = "emails.to_address";

const statements = perApp(() => new Map<string, ReturnType<Database["prepare"]>>());

function prepared(app: App, sql: string) {
  const known = statements(app).get(sql);
  if (known !== undefined) return known;
  const made = app.db.sqlite.prepare(sql);
  statements(app).set(sql, made);
  return made;
}
