/**
 * Looks at the bytes of a JSON document as they arrive, before it is parsed: how many values it
 * has, how deep they are nested, how many escape sequences its texts have. A parsed document takes
 * up to thirty times the memory of its bytes, so what has too many values is never parsed.
 */

import { AppError, fieldError } from "../lib/errors.ts";
import { DEEPEST_NESTING } from "../lib/nesting.ts";

/** Each one costs the parser as much as several hundred plain characters. */
const MOST_ESCAPES = 4_000_000;

/** Text is looked at octet by octet for this long; then the next quote or backslash is searched for. */
const NEAR_OCTETS = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export type JsonBounds = {
  /** The next octets of the document. Throws 422 or 400 as soon as there is too much of anything. */
  add(bytes: Uint8Array): void;
  /** Values seen so far; an empty object or array counts twice. */
  values(): number;
};

export function createJsonBounds(mostValues: number): JsonBounds {
  let values = 1;
  let depth = 0;
  let escapes = 0;
  let isInText = false;
  /** The last octet was a backslash in a text: the next one is escaped. */
  let isEscaped = false;
  /** Where the next ones are in the octets at hand, as far as that was searched for. */
  let quoteAt = -1;
  let backslashAt = -1;

  /** Position of the first quote or backslash at or after `from`; the length where there is none. */
  function nextSpecial(bytes: Uint8Array, from: number): number {
    const near = Math.min(from + NEAR_OCTETS, bytes.length);
    for (let at = from; at < near; at++) {
      const octet = bytes[at];
      if (octet === QUOTE || octet === BACKSLASH) return at;
    }
    if (near === bytes.length) return near;
    if (quoteAt < near) quoteAt = positionOf(QUOTE, bytes, near);
    if (backslashAt < near) backslashAt = positionOf(BACKSLASH, bytes, near);
    return Math.min(quoteAt, backslashAt);
  }

  /** Goes on in a text; returns the position after it, or after the octets at hand. */
  function passText(bytes: Uint8Array, from: number): number {
    let at = nextSpecial(bytes, from);
    while (at < bytes.length && bytes[at] === BACKSLASH) {
      escapes++;
      if (escapes > MOST_ESCAPES) throw tooManyEscapes();
      isEscaped = at + 1 === bytes.length;
      at = nextSpecial(bytes, at + 2);
    }
    isInText = at >= bytes.length;
    return at + 1;
  }

  /** Goes on outside of texts; returns the position after the next quote, or the length. */
  function passStructure(bytes: Uint8Array, from: number): number {
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
    isInText = octet === QUOTE;
    return at;
  }

  function addValue(): void {
    values++;
    if (values > mostValues) throw tooManyValues(mostValues);
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
        at = isInText ? passText(bytes, at) : passStructure(bytes, at);
      }
    },
    values: () => values,
  };
}

function positionOf(octet: number, bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(octet, from);
  return at === -1 ? bytes.length : at;
}

function tooManyValues(most: number): AppError {
  const message = `must have at most ${most.toLocaleString("en-US")} JSON values`;
  return fieldError("", "too_big", message);
}

function tooManyEscapes(): AppError {
  const most = MOST_ESCAPES.toLocaleString("en-US");
  const message = `must have at most ${most} escape sequences such as \\/ or \\n`;
  return fieldError("", "too_big", message);
}

/** 400 for a document that is nested too deep; the same wherever that is noticed. */
export function tooDeep(): AppError {
  const message = `The body is nested more than ${DEEPEST_NESTING} levels deep.`;
  const suggestion = "Send a document with fewer levels; nothing here needs so many.";
  return new AppError(400, "INVALID_JSON", message, { suggestion });
}
