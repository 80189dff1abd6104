/** The bounds of a render: its time, the length of arrays and the length of the output. */

import { type Emitter, type FilterImplOptions, toValue } from "liquidjs";
import { systemClock } from "../../lib/clock.ts";

export type FilterHandler = Extract<FilterImplOptions, (...args: never[]) => unknown>;
export type FilterThis = ThisParameterType<FilterHandler>;

/** Longest result of a render, in UTF-16 units; of a `capture` too. */
export const LONGEST_OUTPUT = 5 * 1024 * 1024;

/** Longest time of a render. */
export const RENDER_LIMIT_MS = 1_000;

/** Units of work by filters and ranges: about one per character or array element made. */
export const MEMORY_LIMIT = 1_000_000;

/** Longest array that a filter takes. A filter cannot be interrupted, so its time must be short. */
const MOST_ITEMS = 100_000;

/**
 * Items of an array times characters of a filter's arguments. Filters such as `map` and `where` read
 * a path for each item, and each step of the path takes about a tenth of a microsecond.
 */
const MOST_ITEM_CHARACTERS = 2_000_000;

/** A render was stopped. The message is written for the template's author. */
export class LimitError extends Error {}

/** Collects output as Liquid's own emitter does, up to a bound. */
export class BoundedEmitter implements Emitter {
  buffer = "";

  write(value: unknown): void {
    this.buffer += typeof value === "string" ? value : toText(value);
    if (this.buffer.length > LONGEST_OUTPUT) {
      throw new LimitError("The result is longer than 5 MiB.");
    }
  }
}

/** The text of a value: as Liquid prints it, but objects as JSON and not as "[object Object]". */
export function toText(value: unknown): string {
  const plain: unknown = toValue(value);
  if (typeof plain === "string") return plain;
  if (plain === null || plain === undefined) return "";
  if (Array.isArray(plain)) return plain.map(toText).join("");
  if (typeof plain === "object") return JSON.stringify(plain);
  return typeof plain === "number" || typeof plain === "boolean" ? String(plain) : "";
}

/** A filter that checks the time first: Liquid itself checks it only between tags. */
export function bounded(filter: FilterImplOptions): FilterImplOptions {
  if (typeof filter !== "function") return { ...filter, handler: guarded(filter.handler) };
  return guarded(filter);
}

export function guarded(handler: FilterHandler): FilterHandler {
  return function (this: FilterThis, value: unknown, ...args: unknown[]): unknown {
    this.context.renderLimit.check(systemClock.elapsed());
    if (Array.isArray(value)) checkItems(value.length, args);
    return handler.apply(this, [value, ...args]);
  };
}

function checkItems(items: number, args: readonly unknown[]): void {
  if (items > MOST_ITEMS) throw new LimitError(`A filter takes at most ${MOST_ITEMS} items.`);
  let characters = 0;
  for (const arg of args) {
    const plain: unknown = toValue(arg);
    if (typeof plain === "string") characters += plain.length;
  }
  if (items * characters > MOST_ITEM_CHARACTERS) {
    throw new LimitError("The arguments of a filter are too long for so many items.");
  }
}
