/** The row that an INSERT made. */

/**
 * Returns the `seq` of the inserted row, from the result of `run`. On hot paths this replaces
 * `RETURNING seq`, for which SQLite keeps a table of results: that takes three times as long.
 */
export function insertedSeq(result: { lastInsertRowid: number | bigint }): number {
  return Number(result.lastInsertRowid);
}
