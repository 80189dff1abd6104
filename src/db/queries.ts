/**
 * Runs SELECTs with a time limit. SQLite has no way to end a statement from outside that Bun offers:
 * ending the thread waits for the statement. So a statement that may read many rows calls one of
 * these functions for each row, in its WHERE:
 *
 * - `in_time()` ends the statement when its time is over. It costs 110 ns a row; `inTimeBy` calls it for
 *   one row of 256. In a join it is called for each row of the outer loop.
 * - `in_time(position)` does the same and says where it ended, such as at a `seq`.
 * - `has_text(text, part)` finds a part of a text in any letter case, also beyond ASCII. `part` comes
 *   from `folded`.
 * - `zip_mentions(bytes, before, first, second, spellings)` says whether bytes, unpacked if zstd has
 *   packed them, have an e-mail address, also in base64 and quoted-printable. `before` is the piece of the
 *   message that precedes these bytes, of which the end is searched as well; or null. The texts of the
 *   address come from lib/address-spellings.ts, with a line feed between the spellings.
 * - `folded(text)` is the same function in SQL.
 */

import { Database, type SQLQueryBindings } from "bun:sqlite";
import { mayContain } from "../lib/text-signature.ts";
import { octetsMention } from "../lib/address-spellings.ts";
import { decodedOctets, withEndOf } from "../lib/decoded-octets.ts";

/**
 * The condition that reads the clock for about one row of 256, by the column `seq` of the outermost
 * table. The numbers are mixed, because those of the rows of one project may all be odd. `random()`
 * would cost nearly as much as the clock.
 */
export const inTimeBy = (seq: string): string => `((${seq} * 40503 >> 8) & 255 OR in_time())`;

export type Value = string | number | bigint | Uint8Array | null;

export type ReadQuery = {
  sql: string;
  values: readonly Value[];
  /** If the time is over, the rows that were found are the result. Else the read fails. */
  isPartial?: boolean;
  /** The statement that counts all rows of which `sql` reads a page. */
  total?: {
    sql: string;
    values: readonly Value[];
    /** The first page counts itself if it has fewer rows than this. 0 for another page. */
    unlessFewerThan: number;
  };
};

export type FoundRows = {
  rows: unknown[][];
  /** False if the time was over. */
  isComplete: boolean;
  /** The position at which the time was over; the rest was not searched. Null if it is complete. */
  stoppedAt: number | null;
  /** Null without `total` in the query, or if the time was over. */
  total: number | null;
};

/** Thrown by `in_time`, and by a read whose query needs all its rows. */
export const TIME_IS_OVER = new Error("the time of a read is over");

/** The first bytes of data that zstd has compressed (RFC 8878 §3.1.1). */
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const MAX_STATEMENTS = 200;

export const folded = (text: string): string => text.toLowerCase().normalize("NFC");

function unpacked(stored: Uint8Array): Uint8Array {
  const isZipped = ZSTD.equals(stored.subarray(0, ZSTD.byteLength));
  return isZipped ? Bun.zstdDecompressSync(stored) : stored;
}

/**
 * Returns a function that runs a query. A connection has one. `isInterrupted` says that every read
 * must end now.
 */
export function createQueryRunner(
  sqlite: Database,
  elapsed: () => number,
  isInterrupted: () => boolean = () => false,
) {
  const statements = new Map<string, ReturnType<typeof prepare>>();
  let endsAt = Infinity;
  let position: number | null = null;

  function inTime(): 1 {
    if (elapsed() >= endsAt || isInterrupted()) throw TIME_IS_OVER;
    return 1;
  }

  sqlite.function("in_time", () => inTime());
  sqlite.function("in_time", (at: number) => {
    position = at;
    return inTime();
  });
  sqlite.function("folded", (text: string) => folded(text));
  sqlite.function("has_text", (text: string | null, part: string) =>
    text !== null && folded(text).includes(part) ? 1 : 0,
  );

  sqlite.function("may_have", (signature: Uint8Array | null, part: string) =>
    signature === null || mayContain(signature, part) ? 1 : 0,
  );
  sqlite.function("zip_has", (zipped: Uint8Array | null, part: string) =>
    zipped !== null && Bun.zstdDecompressSync(zipped).includes(part) ? 1 : 0,
  );
  sqlite.function(
    "zip_mentions",
    (
      stored: Uint8Array | null,
      before: Uint8Array | null,
      first: string,
      second: string,
      spellings: string,
    ) => {
      if (stored === null) return 0;
      const bytes = unpacked(stored);
      const searched = before === null ? bytes : withEndOf(unpacked(before), bytes);
      const text = decodedOctets(searched).toString("latin1").toLowerCase();
      const isPossible = text.includes(first) && text.includes(second);
      return isPossible && octetsMention(text, spellings.split("\n")) ? 1 : 0;
    },
  );
  const expressions = new Map<string, RegExp>();
  sqlite.function("regexp", (pattern: string, value: string | number | null) => {
    if (value === null) return null;
    const known = expressions.get(pattern);
    if (known !== undefined) return known.test(String(value)) ? 1 : 0;
    const expression = new RegExp(pattern);
    expressions.set(pattern, expression);
    return expression.test(String(value)) ? 1 : 0;
  });

  /** The method of the class: the one of a connection of the server delays the preparation. */
  function prepare(sql: string) {
    return Database.prototype.prepare.call(sqlite, sql);
  }

  function statementFor(sql: string) {
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

  function readAll(sql: string, values: readonly Value[]): unknown[][] {
    const bound: SQLQueryBindings[] = [...values];
    return statementFor(sql).values(...bound);
  }

  /** Reads row by row, so that the rows before the end of the time are known. */
  function readPart(sql: string, values: readonly Value[]): Omit<FoundRows, "total"> {
    const bound: SQLQueryBindings[] = [...values];
    const statement = statementFor(sql);
    const columns = statement.columnNames;
    if (new Set(columns).size < columns.length) throw new Error("two columns have the same name");
    const rows: unknown[][] = [];
    position = null;
    try {
      for (const row of statement.iterate(...bound)) {
        const values = Object(row);
        rows.push(columns.map((column): unknown => values[column]));
      }
    } catch (error) {
      if (error !== TIME_IS_OVER) throw error;
      return { rows, isComplete: false, stoppedAt: position };
    }
    return { rows, isComplete: true, stoppedAt: null };
  }

  function countAll({ isPartial = false, total }: ReadQuery, found: number): number | null {
    if (total === undefined) return null;
    if (found < total.unlessFewerThan) return found;
    try {
      return Number(readAll(total.sql, total.values)[0]?.[0]);
    } catch (error) {
      if (error === TIME_IS_OVER && isPartial) return null;
      throw error;
    }
  }

  return (query: ReadQuery, limitMs: number): FoundRows => {
    endsAt = elapsed() + limitMs;
    const { sql, values, isPartial = false } = query;
    const found = isPartial
      ? readPart(sql, values)
      : { rows: readAll(sql, values), isComplete: true, stoppedAt: null };
    return { ...found, total: found.isComplete ? countAll(query, found.rows.length) : null };
  };
}
