/**
 * Runs SELECTs with a time limit. SQLite has no way to end a statement from outside that Bun offers:
 * ending the thread waits for the statement. So a statement that may read many rows calls one of
 * these functions for each row, in its WHERE:
 *
 * - `in_time()` ends the statement when its time is over. It costs 60 ns a row; `inTime` of
 *   http/pagination.ts calls it for one row of 256. In a join it is called for each row of the outer loop.
 * - `in_time(position)` does the same and says where it ended, such as at a `seq`.
 * - `has_text(text, part)` finds a part of a text in any letter case, also beyond ASCII. `part` comes
 *   from `folded`.
 */

import { Database, type SQLQueryBindings } from "bun:sqlite";

export type Value = string | number | Uint8Array | null;

export type ReadQuery = {
  sql: string;
  values: readonly Value[];
  /** If the time is over, the rows that were found are the result. Else the read fails. */
  isPartial?: boolean;
};

export type FoundRows = {
  columns: string[];
  rows: unknown[][];
  /** False if the time was over. */
  isComplete: boolean;
  /** Where the time was over; what follows was not searched. Null if it is complete. */
  stoppedAt: number | null;
};

/** Thrown by `in_time`, and by a read whose queries need all their rows. */
export const TIME_IS_OVER = new Error("the time of a read is over");

const MAX_STATEMENTS = 200;

export const folded = (text: string): string => text.toLowerCase().normalize("NFC");

/** Returns a function that runs a query. A connection has one. */
export function createQueryRunner(sqlite: Database, elapsed: () => number) {
  const statements = new Map<string, ReturnType<typeof prepare>>();
  let endsAt = Infinity;
  let position: number | null = null;

  function inTime(): 1 {
    if (elapsed() >= endsAt) throw TIME_IS_OVER;
    return 1;
  }

  sqlite.function("in_time", () => inTime());
  sqlite.function("in_time", (at: number) => {
    position = at;
    return inTime();
  });
  sqlite.function("has_text", (text: string | null, part: string) =>
    text !== null && folded(text).includes(part) ? 1 : 0,
  );

  /** The method of the class: the one of a connection of the server delays the preparation. */
  function prepare(sql: string) {
    return Database.prototype.prepare.call(sqlite, sql);
  }

  function statementOf(sql: string) {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const [oldest] = statements.size < MAX_STATEMENTS ? [] : statements;
    if (oldest !== undefined) {
      statements.delete(oldest[0]);
      oldest[1].finalize();
    }
    const statement = prepare(sql);
    statements.set(sql, statement);
    return statement;
  }

  return ({ sql, values, isPartial = false }: ReadQuery, limitMs: number): FoundRows => {
    endsAt = elapsed() + limitMs;
    const statement = statementOf(sql);
    const columns = statement.columnNames;
    const bound: SQLQueryBindings[] = [...values];
    position = null;
    const complete = { columns, isComplete: true, stoppedAt: null };
    if (!isPartial) return { ...complete, rows: statement.values(...bound) };
    const rows: unknown[][] = [];
    try {
      for (const row of statement.iterate(...bound)) rows.push(Object.values(Object(row)));
    } catch (error) {
      if (error !== TIME_IS_OVER) throw error;
      return { columns, rows, isComplete: false, stoppedAt: position };
    }
    return { ...complete, rows };
  };
}
