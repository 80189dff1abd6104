/** What `mailstead check` looks at, each thing in small pieces, so that progress can be shown. */

import { type Database, SQLiteError } from "bun:sqlite";
import { describeFault, StorageFaultError } from "../../db/fault.ts";
import type { Violation } from "../../db/invariant.ts";
import { missingMigrations } from "../../db/migrate.ts";
import { findWrongUsage } from "../../db/usage.ts";
import { INVARIANTS } from "./invariants.ts";

export type Step = {
  name: string;
  /** What holds; one sentence. */
  rule: string;
  /** Each gives its violations; they are read one after the other. */
  pieces: readonly Piece[];
};

export type Piece = { name: string; find: () => Violation[] };

/** Violations that are read of one piece; there may be more. */
export const MOST_READ = 20;

/**
 * Each piece is a statement of its own: a server that runs beside it can copy its log into the
 * database between two of them, and never waits for them.
 */
export function checkSteps(sqlite: Database): Step[] {
  const pending = missingMigrations(sqlite).map(({ name }) => name);
  const steps: Step[] = [
    {
      name: "tables",
      rule: "The rows and indexes of each table fit each other.",
      pieces: tablesOf(sqlite).map((table) => piece(table, () => faultsOfTable(sqlite, table))),
    },
    {
      name: "pages",
      rule: "Each page of the database is used once.",
      pieces: [piece("pages", () => faultsOfPages(sqlite))],
    },
    {
      name: "references",
      rule: "Each reference leads to a row.",
      pieces: tablesOf(sqlite).map((table) => piece(table, () => lostReferences(sqlite, table))),
    },
    {
      name: "schema",
      rule: "The schema is the one of this version; otherwise nothing below can be checked.",
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
      rule: "The usage counters of each project equal what its rows take.",
      pieces: [piece("project-usage", () => wrongUsage(sqlite))],
    },
  ];
}

/** What cannot be read is a violation too. */
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

/** Rows were compared with their indexes table by table; this adds pages used twice or by nothing. */
function faultsOfPages(sqlite: Database): Violation[] {
  return findings(sqlite.query(`PRAGMA quick_check(${MOST_READ})`).values(), "database");
}

function findings(rows: readonly unknown[][], id: string): Violation[] {
  return rows
    .map(([finding]) => String(finding))
    .filter((finding) => finding !== "ok")
    .slice(0, MOST_READ)
    .map((finding) => ({ id, finding }));
}

function lostReferences(sqlite: Database, table: string): Violation[] {
  const find = `SELECT rowid AS row, parent FROM pragma_foreign_key_check('${table}')
                LIMIT ${MOST_READ}`;
  return sqlite
    .query<{ row: number | null; parent: string }, []>(find)
    .all()
    .map(({ row, parent }) => ({
      id: `${table} ${row ?? ""}`.trim(),
      finding: `refers to a row that is missing in ${parent}`,
    }));
}

function notApplied(id: string): Violation {
  return { id, finding: "was not applied yet; run mailstead migrate, or start the server" };
}

function wrongUsage(sqlite: Database): Violation[] {
  sqlite.run("BEGIN"); // One moment of a database that is in use.
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
    .query<Violation, []>(`SELECT id, finding FROM (${violations}) LIMIT ${MOST_READ}`)
    .all();
}
