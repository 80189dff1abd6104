/**
 * Scans the bytes of a JSON document as they arrive and counts its values, its levels of nesting
 * and its escape sequences. A parsed document can take thirty times the memory of its bytes, so a
 * document with too many values is refused before it is parsed.
 */

import { AppError, fieldError } from "../lib/errors.ts";
import { DEEPEST_NESTING } from "../lib/nesting.ts";

/** Most escape sequences, because one costs the parser as much time as dozens of characters. */
const MAX_ESCAPES = 4_000_000;

/** The first bytes of a string are compared one by one; a native search covers the rest of it. */
const NEAR_BYTES = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

type JsonBounds = {
  /** Scans the next bytes of the document. It throws 422 or 400 as soon as a limit is exceeded. */
  add(bytes: Uint8Array): void;
  /** Number of values so far; an empty object or array counts twice. */
  values(): number;
};

export function createJsonBounds(maxValues: number): JsonBounds {
  let values = 1;
  let depth = 0;
  let escapes = 0;
  let isInString = false;
  /** True if the last byte was a backslash in a string, so the next byte is escaped. */
  let isEscaped = false;
  /**
   * Positions of the next quote and backslash in the current bytes, from the last native search.
   */
  let quoteAt = -1;
  let backslashAt = -1;

  /** Returns the position of the first quote or backslash from `from` on, or the length. */
  function nextSpecial(bytes: Uint8Array, from: number): number {
    const near = Math.min(from + NEAR_BYTES, bytes.length);
    for (let at = from; at < near; at++) {
      const octet = bytes[at];
      if (octet === QUOTE || octet === BACKSLASH) return at;
    }
    if (near === bytes.length) return near;
    if (quoteAt < near) quoteAt = positionOf(QUOTE, bytes, near);
    if (backslashAt < near) backslashAt = positionOf(BACKSLASH, bytes, near);
    return Math.min(quoteAt, backslashAt);
  }

  /** Scans a string and returns the position after its end, or after the current bytes. */
  function scanString(bytes: Uint8Array, from: number): number {
    let at = nextSpecial(bytes, from);
    while (at < bytes.length && bytes[at] === BACKSLASH) {
      escapes++;
      if (escapes > MAX_ESCAPES) throw tooManyEscapes();
      isEscaped = at + 1 === bytes.length;
      at = nextSpecial(bytes, at + 2);
    }
    isInString = at >= bytes.length;
    return at + 1;
  }

  /** Scans outside of strings and returns the position after the next quote, or the length. */
  function scanStructure(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    let at = from;
    let octet: number | undefined = 0;
    while (at < length) {
      octet = bytes[at++];
      if (octet === QUOTE) break;
      if (octet === COMMA) addValue();
      else if (octet === OPEN_BRACE || octet === OPEN_BRACKET) open();
      else if (octet === CLOSE_BRACE || octet === CLOSE_BRACKET) depth--;
    }
    isInString = octet === QUOTE;
    return at;
  }

  function addValue(): void {
    values++;
    if (values > maxValues) throw tooManyValues(maxValues);
  }

  function open(): void {
    addValue();
    depth++;
    if (depth > DEEPEST_NESTING) throw tooDeep();
  }

  return {
    add(bytes) {
      quoteAt = -1;
      backslashAt = -1;
      let at = isEscaped ? 1 : 0;
      isEscaped = false;
      while (at < bytes.length) {
        at = isInString ? scanString(bytes, at) : scanStructure(bytes, at);
      }
    },
    values: () => values,
  };
}

function positionOf(octet: number, bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(octet, from);
  return at === -1 ? bytes.length : at;
}

function tooManyValues(limit: number): AppError {
  const message = `must have at most ${limit.toLocaleString("en-US")} JSON values`;
  return fieldError("", "too_big", message);
}

function tooManyEscapes(): AppError {
  const limit = MAX_ESCAPES.toLocaleString("en-US");
  const message = `must have at most ${limit} escape sequences such as \\/ or \\n`;
  return fieldError("", "too_big", message);
}

/** The error for a document with too many levels, which this scan or a later check has found. */
export function tooDeep(): AppError {
  const message = `The body is nested more than ${DEEPEST_NESTING} levels deep.`;
  const suggestion = "Send a document with fewer levels of nesting.";
  return new AppError(400, "INVALID_JSON", message, { suggestion });
}
