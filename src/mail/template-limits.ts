/** What keeps a render within bounds: the clock, the length of arrays, the length of the output. */

import { type Emitter, type FilterImplOptions, toValue } from "liquidjs";

export type FilterHandler = Extract<FilterImplOptions, (...args: never[]) => unknown>;
export type FilterThis = ThisParameterType<FilterHandler>;

/** Longest result of a render, in UTF-16 units; of a `capture` too. */
export const LONGEST_OUTPUT = 5 * 1024 * 1024;

/** How long a render may take. */
export const RENDER_LIMIT_MS = 1_000;

/** Units of work by filters and ranges: about one per character or array element made. */
export const MEMORY_LIMIT = 1_000_000;

/** Longest array that a filter takes: it cannot be interrupted, so its share must be small. */
const MOST_ITEMS = 100_000;

/** Why a render stopped, in words that may be shown to the template's author. */
export class LimitError extends Error {}

/** Collects output as Liquid's own emitter does, but stops at a bound. */
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

/** Filters with a check in front: Liquid itself looks at the clock only between tags. */
export function bounded(filter: FilterImplOptions): FilterImplOptions {
  if (typeof filter !== "function") return { ...filter, handler: guarded(filter.handler) };
  return guarded(filter);
}

export function guarded(handler: FilterHandler): FilterHandler {
  return function (this: FilterThis, value: unknown, ...args: unknown[]): unknown {
    this.context.renderLimit.check(performance.now());
    if (Array.isArray(value) && value.length > MOST_ITEMS) {
      throw new LimitError(`A filter takes at most ${MOST_ITEMS} items.`);
    }
    return handler.apply(this, [value, ...args]);
  };
}
