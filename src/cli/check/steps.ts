/** The checks of `mailstead check`. Each is divided into small pieces, so progress can be shown. */

import { type Database, SQLiteError } from "bun:sqlite";
import { describeFault, StorageFaultError } from "../../db/fault.ts";
import type { Violation } from "../../db/invariant.ts";
import { missingMigrations } from "../../db/migrate.ts";
import { findWrongUsage } from "../../db/usage-recount.ts";
import { INVARIANTS } from "./invariants.ts";

export type Step = {
  name: string;
  /** One sentence that says what must be true. */
  rule: string;
  /** Queries that run one after the other; each returns its violations. */
  pieces: readonly Piece[];
};

type Piece = { name: string; find: () => Violation[] };

/** Most violations that one piece returns; there may be more. */
export const MAX_READ = 20;

/**
 * Returns the checks for this database. Each piece runs as its own statement, so a running server
 * can checkpoint its write-ahead log between two pieces and never waits for them.
 */
export function checkSteps(sqlite: Database): Step[] {
  const pending = missingMigrations(sqlite).map(({ name }) => name);
  const steps: Step[] = [
    {
      name: "tables",
      rule: "The rows and indexes of each table are consistent.",
      pieces: tablesOf(sqlite).map((table) => piece(table, () => faultsOfTable(sqlite, table))),
    },
    {
      name: "pages",
      rule: "Each page of the database is used exactly once.",
      pieces: [piece("pages", () => faultsOfPages(sqlite))],
    },
    {
      name: "references",
      rule: "Each foreign key refers to an existing row.",
      pieces: tablesOf(sqlite).map((table) => piece(table, () => brokenReferences(sqlite, table))),
    },
    {
      name: "schema",
      rule: "The schema is that of this version; otherwise the following checks cannot run.",
      pieces: [piece("schema", () => pending.map(notApplied))],
    },
  ];
  if (pending.length > 0) return steps;
  return [
    ...steps,
    ...INVARIANTS.map(({ name, rule, violations }) => ({
      name,
      rule,
      pieces: [piece(name, () => violationsOf(sqlite, violations))],
    })),
    {
      name: "project-usage",
      rule: "The usage counters of each project equal the sizes of its rows.",
      pieces: [piece("project-usage", () => wrongUsage(sqlite))],
    },
  ];
}

/** Makes a piece that reports data which cannot be read as a violation. */
function piece(name: string, find: () => Violation[]): Piece {
  return {
    name,
    find() {
      try {
        return find();
      } catch (error) {
        if (error instanceof StorageFaultError) {
          return [{ id: name, finding: describeFault(error.fault) }];
        }
        if (error instanceof SQLiteError) return [{ id: name, finding: error.message }];
        throw error;
      }
    },
  };
}

function tablesOf(sqlite: Database): string[] {
  const find = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                ORDER BY name`;
  return sqlite
    .query<{ name: string }, []>(find)
    .all()
    .map(({ name }) => name);
}

function faultsOfTable(sqlite: Database, table: string): Violation[] {
  return findings(sqlite.query(`PRAGMA integrity_check('${table}')`).values(), table);
}

/** Finds pages that are used twice or not at all. Indexes were already checked table by table. */
function faultsOfPages(sqlite: Database): Violation[] {
  return findings(sqlite.query(`PRAGMA quick_check(${MAX_READ})`).values(), "database");
}

function findings(rows: readonly unknown[][], id: string): Violation[] {
  return rows
    .map(([finding]) => String(finding))
    .filter((finding) => finding !== "ok")
    .slice(0, MAX_READ)
    .map((finding) => ({ id, finding }));
}

function brokenReferences(sqlite: Database, table: string): Violation[] {
  const find = `SELECT rowid AS row, parent FROM pragma_foreign_key_check('${table}')
                LIMIT ${MAX_READ}`;
  return sqlite
    .query<{ row: number | null; parent: string }, []>(find)
    .all()
    .map(({ row, parent }) => ({
      id: `${table} ${row ?? ""}`.trim(),
      finding: `refers to a row that is missing in ${parent}`,
    }));
}

function notApplied(id: string): Violation {
  return { id, finding: "is not applied yet; run mailstead migrate, or start the server" };
}

function wrongUsage(sqlite: Database): Violation[] {
  sqlite.run("BEGIN"); // All statements must see the same state of a database that is in use.
  try {
    return findWrongUsage(sqlite).map(({ projectSeq, counted, actual }) => ({
      id: `project ${idOf(sqlite, projectSeq)}`,
      finding: `counted ${counted ?? "nothing"}, but there are ${actual}`,
    }));
  } finally {
    sqlite.run("COMMIT");
  }
}

function idOf(sqlite: Database, projectSeq: number): string {
  const find = "SELECT id FROM projects WHERE seq = ?";
  return sqlite.query<{ id: string }, [number]>(find).get(projectSeq)?.id ?? String(projectSeq);
}

function violationsOf(sqlite: Database, violations: string): Violation[] {
  return sqlite
    .query<Violation, []>(`SELECT id, finding FROM (${violations}) LIMIT ${MAX_READ}`)
    .all();
}
