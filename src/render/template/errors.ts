/** Errors of Liquid: their place in the template, and their message without it. */

import { LiquidError } from "liquidjs";

const LONGEST_MESSAGE = 200;

/** From 1; the column counts UTF-16 units. */
export type Position = { line: number; column: number };

/** The place that an error names in this template; null where it names none. */
export function placeOf(error: unknown, source: string): Position | null {
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
  return plain.length > LONGEST_MESSAGE ? `${plain.slice(0, LONGEST_MESSAGE)}…` : plain;
}

function withoutPosition(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof LiquidError)) return error.message;
  if (error.originalError !== undefined) return withoutPosition(error.originalError);
  const end = error.message.lastIndexOf(", line:");
  return end === -1 ? error.message : error.message.slice(0, end);
}
