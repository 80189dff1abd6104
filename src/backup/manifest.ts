/** The manifest of a backup: what it contains, so that it can be proved to be complete. */

import type { Database } from "bun:sqlite";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { BackupError } from "./refusal.ts";

/** The manifest of the content. It is a member of the archive. */
export const Contents = Type.Object({
  format: Type.Literal(1),
  /** Version of the program. */
  version: Type.String(),
  /** ISO 8601. */
  createdAt: Type.String(),
  /** Name of the newest migration. */
  migration: Type.String(),
  databaseBytes: Type.Integer(),
  databaseSha256: Type.String(),
  /** Rows of each table. */
  rows: Type.Record(Type.String(), Type.Integer()),
});
export type Contents = Static<typeof Contents>;

/** The manifest of the encrypted file. It is stored beside the file, and has no secrets. */
export const Manifest = Type.Object({
  /** The id of the installation (names.ts). */
  installation: Type.String(),
  contents: Contents,
  bytes: Type.Integer(),
  sha256: Type.String(),
  verifiedAt: Type.String(),
});
export type Manifest = Static<typeof Manifest>;

export const ARCHIVE_NAME = "mailstead.tar.zst.age";
export const MANIFEST_NAME = "manifest.json";
export const MAX_MANIFEST_BYTES = 256 * 1024;

export const parseContents = (text: string): Contents => parse(Contents, text);
export const parseManifest = (text: string): Manifest => parse(Manifest, text);

function parse<T extends typeof Contents | typeof Manifest>(schema: T, text: string): Static<T> {
  const value = readJson(text);
  if (Value.Check(schema, value)) return value;
  throw new BackupError("The manifest of the backup is damaged, or of a later version.");
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BackupError("The manifest of the backup is not JSON.", null, error);
  }
}

export function countAllRows(sqlite: Database): Record<string, number> {
  const tables = sqlite
    .query<{ name: string }, []>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
       ORDER BY name`,
    )
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => {
      const count = `SELECT count(*) AS rows FROM "${name.replaceAll('"', '""')}"`;
      return [name, sqlite.query<{ rows: number }, []>(count).get()?.rows ?? 0];
    }),
  );
}

export function newestMigration(sqlite: Database): string {
  const find = "SELECT max(name) AS name FROM migrations";
  return sqlite.query<{ name: string | null }, []>(find).get()?.name ?? "";
}
