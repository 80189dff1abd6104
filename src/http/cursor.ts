/**
 * Cursors: positions in lists, as texts that are opaque, signed, and valid only for the project and
 * the list for which they were issued (docs/specification.md#s4.9).
 */

import { hmac, isSameBytes } from "../lib/crypto.ts";
import { fieldError } from "../lib/errors.ts";

/** `scope` names the project and the list. A position is the sort keys of a row. */
export type Cursors = {
  issue(scope: string, position: readonly number[]): string;
  /** Throws 422 for a cursor that was not issued for this list. */
  open(scope: string, cursor: string): number[];
};

const SIGNATURE_BYTES = 12;
const NUMBER_BYTES = 8;

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

  return { issue, open };
}
