/** Cursor pagination (specification §4.9): opaque, signed, tied to project and list. */

import { type Static, Type } from "@sinclair/typebox";
import { hmac, isSameBytes } from "../lib/crypto.ts";
import { fieldError } from "../lib/errors.ts";
import type { Page } from "./envelope.ts";
import { Input, QueryInteger } from "./validation.ts";

export const PageQuery = Input({
  limit: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 100, description: "Page size, default 20" }),
  ),
  cursor: Type.Optional(Type.String({ description: "Value from the previous response" })),
});
export type PageQuery = Static<typeof PageQuery>;

const DEFAULT_LIMIT = 20;
const SIGNATURE_BYTES = 12;
const POSITION_BYTES = 8;

/** A place in a list: `before` is the `seq` of the last row already shown. */
export type PageRequest = { limit: number; before: number | null };

export type Cursors = {
  /** Reads `limit` and `cursor`; a cursor that was not issued for this list is a 422. */
  read(scope: string, query: PageQuery): PageRequest;
  /** Cuts rows (one more than `limit` was asked for) into a page. */
  page<Row extends { seq: number }, Item>(
    scope: string,
    request: PageRequest,
    rows: readonly Row[],
    rest: { total: number; present: (row: Row) => Item },
  ): Page<Item>;
};

export function createCursors(key: Uint8Array): Cursors {
  function sign(scope: string, position: Uint8Array): Uint8Array {
    return hmac(key, `${scope}\0${Buffer.from(position).toString("hex")}`).subarray(
      0,
      SIGNATURE_BYTES,
    );
  }

  function issue(scope: string, seq: number): string {
    const position = Buffer.alloc(POSITION_BYTES);
    position.writeBigUInt64BE(BigInt(seq));
    return Buffer.concat([position, sign(scope, position)]).toString("base64url");
  }

  function open(scope: string, cursor: string): number {
    const bytes = Buffer.from(cursor, "base64url");
    const position = bytes.subarray(0, POSITION_BYTES);
    const isOurs =
      bytes.byteLength === POSITION_BYTES + SIGNATURE_BYTES &&
      bytes.toString("base64url") === cursor &&
      isSameBytes(bytes.subarray(POSITION_BYTES), sign(scope, position));
    if (!isOurs) {
      throw fieldError("cursor", "invalid_value", "This cursor was not issued for this list.");
    }
    return Number(position.readBigUInt64BE());
  }

  return {
    read(scope, query) {
      return {
        limit: query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit),
        before: query.cursor === undefined ? null : open(scope, query.cursor),
      };
    },
    page(scope, request, rows, { total, present }) {
      const shown = rows.slice(0, request.limit);
      const last = shown.at(-1);
      const hasMore = rows.length > request.limit;
      return {
        items: shown.map(present),
        nextCursor: hasMore && last !== undefined ? issue(scope, last.seq) : null,
        hasMore,
        total,
      };
    },
  };
}
