/**
 * Copies the rows of a project from one database to another of the same schema. Rows get new numbers
 * (`seq`), which begin after those that were ever used there, so their order and all references stay.
 * Ids stay as well, so links and API calls find the same objects.
 */

import type { Database } from "bun:sqlite";
import { EXPORT_READER } from "../db/schema/readers.ts";
import { sha256 } from "../lib/crypto.ts";
import { type ProjectTable, projectTables } from "./project-tables.ts";

/** The name of the attached database that is read. */
export const SOURCE = "source";

export type CopiedProject = {
  /** The number of the project in the database that was written. */
  seq: number;
  /** Copied rows of each table. */
  rows: Record<string, number>;
};

/**
 * Copies into the main database, in one transaction of the caller, which must have attached the other
 * one as SOURCE. Throws the error of SQLite if a unique value exists already (project-import.ts looks for
 * these before).
 */
export function copyProject(
  sqlite: Database,
  { sourceSeq, name }: { sourceSeq: number; name: string },
): CopiedProject {
  sqlite.run("PRAGMA defer_foreign_keys = ON");
  const tables = projectTables(sqlite);
  const offsets = Object.fromEntries(tables.map((table) => [table.name, offsetOf(sqlite, table)]));
  const seq = sourceSeq + (offsets["projects"] ?? 0);
  renameContents(sqlite, { sourceSeq, seq });
  // The row gets its new name at once, because another project may have the old one.
  sqlite.run("CREATE TEMP TABLE moved_project (name TEXT NOT NULL)");
  sqlite.run("INSERT INTO temp.moved_project (name) VALUES (?)", [name]);
  const rows: Record<string, number> = {};
  for (const table of tables) {
    const values = table.columns.map((column) => valueOf(table, column, offsets));
    const insert = `INSERT INTO main.${table.name} (${listOf(table.columns)})
      SELECT ${values.join(", ")} FROM ${SOURCE}.${table.name} WHERE ${table.where(SOURCE)}`;
    rows[table.name] = sqlite.query(insert).run(sourceSeq).changes;
  }
  copyUsage(sqlite, { sourceSeq, seq });
  moveReaders(sqlite, offsets["events"] ?? 0);
  sqlite.run("DROP TABLE temp.moved_contents");
  sqlite.run("DROP TABLE temp.moved_project");
  return { seq, rows };
}

/** The largest number that the table has ever had, so that no number is used twice. */
function offsetOf(sqlite: Database, { name, columns }: ProjectTable): number {
  if (!columns.includes("seq")) return 0;
  const find = `SELECT max(
    coalesce((SELECT max(seq) FROM main.${name}), 0),
    coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = ?), 0)) AS seq`;
  return sqlite.query<{ seq: number }, [string]>(find).get(name)?.seq ?? 0;
}

/**
 * The digest of a content contains the number of its project (outbox/enqueue.ts), so that projects share
 * no content. The table `moved_contents` has the new digests.
 */
function renameContents(
  sqlite: Database,
  { sourceSeq, seq }: { sourceSeq: number; seq: number },
): void {
  sqlite.run("CREATE TEMP TABLE moved_contents (old TEXT PRIMARY KEY, new TEXT NOT NULL)");
  const find = sqlite.query<{ digest: string; bytes: Uint8Array }, [number]>(
    `SELECT digest, bytes FROM ${SOURCE}.attachment_contents WHERE project_seq = ?`,
  );
  const insert = sqlite.query("INSERT INTO temp.moved_contents (old, new) VALUES (?, ?)");
  for (const { digest, bytes } of find.iterate(sourceSeq)) {
    insert.run(digest, sha256(`${seq} ${sha256(bytes)}`));
  }
}

/** SQL of the value that a column gets. */
function valueOf(
  { name, references }: ProjectTable,
  column: string,
  offsets: Readonly<Record<string, number>>,
): string {
  const offset = offsets[column === "seq" ? name : (references[column] ?? "")] ?? 0;
  const place = `${name}.${column}`;
  if (place === "projects.name") return "(SELECT name FROM temp.moved_project)";
  if (place === "attachment_contents.digest" || place === "message_attachments.content_digest") {
    return `(SELECT new FROM temp.moved_contents WHERE old = ${quoted(column)})`;
  }
  // A purged message has its own number in place of a digest.
  if (place === "messages.digest") {
    const word = "substr(digest, 1, instr(digest, ' '))";
    return `iif(digest LIKE '% %', ${word} || (seq + ${offset}), digest)`;
  }
  // The number of a deleted topic must not become that of a topic which is made later.
  if (place === "messages.topic_seq" || place === "consents.topic_seq") {
    return `iif(topic_seq IS NULL, NULL,
      coalesce((SELECT t.seq + ${offset} FROM ${SOURCE}.topics t WHERE t.seq = topic_seq), -1))`;
  }
  if (place === "erasures.position") return erasurePosition(offsets);
  return offset === 0 ? quoted(column) : `${quoted(column)} + ${offset}`;
}

/**
 * The position of an erasure with the new numbers of its contact and of its mails. A search begins again,
 * because it had come to a row with an old number.
 */
function erasurePosition(offsets: Readonly<Record<string, number>>): string {
  const { contacts = 0, emails = 0 } = offsets;
  const mails = `(SELECT json_group_array(value + ${emails}) FROM json_each(position, '$.underWay'))`;
  const moved = `json_set(position, '$.table', 0, '$.after', 0, '$.last', NULL, '$.postponed', 0,
    '$.underWay', json(${mails}))`;
  const contact = "position ->> '$.contact'";
  return `iif(${contact} IS NULL, ${moved}, json_set(${moved}, '$.contact', ${contact} + ${contacts}))`;
}

const quoted = (column: string): string => `"${column}"`;
const listOf = (columns: readonly string[]): string => columns.map(quoted).join(", ");

/** Stores the counters of the project in place of those that triggers have counted. */
function copyUsage(sqlite: Database, { sourceSeq, seq }: { sourceSeq: number; seq: number }): void {
  const columns = "stored_bytes, emails, queued_mails, received_bytes";
  sqlite.run("DELETE FROM main.project_usage WHERE project_seq = ?", [seq]);
  sqlite.run(
    `INSERT INTO main.project_usage (project_seq, ${columns})
     SELECT ?, ${columns} FROM ${SOURCE}.project_usage WHERE project_seq = ?`,
    [seq, sourceSeq],
  );
}

/**
 * Readers go on with the first copied event that they had not read. All events that were here before
 * have been read (project-import.ts makes sure). The export of events writes the copied ones as well. A reader that was not there begins after the copied events.
 */
function moveReaders(sqlite: Database, offset: number): void {
  sqlite.run(
    `INSERT INTO main.readers (name, seq)
     SELECT name, min(seq + ?1, coalesce((SELECT max(seq) FROM main.events), 0)) FROM ${SOURCE}.readers
     WHERE name <> '${EXPORT_READER}'
     ON CONFLICT (name) DO UPDATE SET seq = max(seq, excluded.seq)`,
    [offset],
  );
  sqlite.run(`UPDATE main.readers SET seq = coalesce((SELECT max(seq) FROM main.events), 0)
              WHERE name <> '${EXPORT_READER}' AND name NOT IN (SELECT name FROM ${SOURCE}.readers)`);
}
