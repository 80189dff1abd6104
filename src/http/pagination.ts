/**
 * Cursor pagination (docs/specification.md#s4.9). A cursor is opaque, signed, and valid only for
 * the project and the list for which it was issued.
 */

import { type Static, Type } from "@sinclair/typebox";
import { lt, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { hmac, isSameBytes } from "../lib/crypto.ts";
import { fieldError } from "../lib/errors.ts";
import type { Page } from "./envelope.ts";
import { Input, QueryInteger } from "./validation.ts";

export const PageQuery = Input({
  limit: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 100, description: "Page size, default 20" }),
  ),
  cursor: Type.Optional(Type.String({ description: "The nextCursor of the previous page" })),
});
export type PageQuery = Static<typeof PageQuery>;

const DEFAULT_LIMIT = 20;
const SIGNATURE_BYTES = 12;
const NUMBER_BYTES = 8;

/** `after` is the position of the last row shown: its sort keys, in the sort order of the list. */
export type PageRequest = { limit: number; after: readonly number[] | null };

export type Cursors = {
  /** Reads `limit` and `cursor`. Throws 422 for a cursor that was not issued for this list. */
  read(scope: string, query: PageQuery): PageRequest;
  /**
   * Makes a page of `rows`, which the caller selects with `limit + 1` to learn if there are more.
   */
  page<Row, Item>(
    scope: string,
    request: PageRequest,
    rows: readonly Row[],
    rest: {
      total: number;
      positionOf: (row: Row) => readonly number[];
      present: (row: Row) => Item;
    },
  ): Page<Item>;
};

export function createCursors(key: Uint8Array): Cursors {
  function sign(scope: string, position: Uint8Array): Uint8Array {
    const text = `${scope}\0${Buffer.from(position).toString("hex")}`;
    return hmac(key, text).subarray(0, SIGNATURE_BYTES);
  }

  function issue(scope: string, numbers: readonly number[]): string {
    const position = Buffer.alloc(NUMBER_BYTES * numbers.length);
    numbers.forEach((number, i) => position.writeDoubleBE(number, i * NUMBER_BYTES));
    return Buffer.concat([sign(scope, position), position]).toString("base64url");
  }

  function open(scope: string, cursor: string): number[] {
    const bytes = Buffer.from(cursor, "base64url");
    const position = bytes.subarray(SIGNATURE_BYTES);
    const isOurs =
      bytes.byteLength > SIGNATURE_BYTES &&
      bytes.toString("base64url") === cursor &&
      isSameBytes(bytes.subarray(0, SIGNATURE_BYTES), sign(scope, position));
    if (!isOurs) {
      throw fieldError(
        "cursor",
        "invalid_value",
        "must be the nextCursor of an earlier page of this list",
      );
    }
    const count = position.byteLength / NUMBER_BYTES;
    return Array.from({ length: count }, (_, i) => position.readDoubleBE(i * NUMBER_BYTES));
  }

  return {
    read(scope, query) {
      return {
        limit: query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit),
        after: query.cursor === undefined ? null : open(scope, query.cursor),
      };
    },
    page(scope, request, rows, { total, positionOf, present }) {
      const shown = rows.slice(0, request.limit);
      const last = shown.at(-1);
      const hasMore = rows.length > request.limit;
      return {
        items: shown.map(present),
        nextCursor: hasMore && last !== undefined ? issue(scope, positionOf(last)) : null,
        hasMore,
        total,
      };
    },
  };
}

/** The SQL condition for the rows after the cursor, in a list with the sort order `bySeq`. */
export function olderThan(seq: SQLiteColumn, request: PageRequest): SQL | undefined {
  const [before] = request.after ?? [];
  return before === undefined ? undefined : lt(seq, before);
}

/** The position of a row in a list that is sorted by `seq` alone, newest first. */
export const bySeq = (row: { seq: number }): readonly number[] => [row.seq];
