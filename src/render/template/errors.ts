/** The position of an error of Liquid in the template, and its message without that position. */

import { LiquidError } from "liquidjs";

const MAX_MESSAGE_LENGTH = 200;

/** Line and column, both counted from 1; the column counts UTF-16 units. */
type Position = { line: number; column: number };

/** The position of an error in this template; null if the error has no position in it. */
export function errorPosition(error: unknown, source: string): Position | null {
  if (!(error instanceof LiquidError) || error.token.input !== source) return null;
  return positionOf(error.token.begin, source);
}

export function positionOf(offset: number, source: string): Position {
  const before = source.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n") };
}

/** The message of an error without the position that Liquid appends to it. */
export function plainMessage(error: unknown): string {
  const message = withoutPosition(error);
  const plain = message.endsWith(".") ? message.slice(0, -1) : message;
  return plain.length > MAX_MESSAGE_LENGTH ? `${plain.slice(0, MAX_MESSAGE_LENGTH)}…` : plain;
}

function withoutPosition(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof LiquidError)) return error.message;
  if (error.originalError !== undefined) return withoutPosition(error.originalError);
  const end = error.message.lastIndexOf(", line:");
  return end === -1 ? error.message : error.message.slice(0, end);
}
