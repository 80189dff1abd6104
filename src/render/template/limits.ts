/** Limits of a render: its time, the length of arrays and the length of the output. */

import { isMainThread } from "node:worker_threads";
import { type Emitter, type FilterImplOptions, toValue } from "liquidjs";
import { systemClock } from "../../lib/clock.ts";
import { recentThreadCpuMs, threadCpuMs } from "../../lib/thread-cpu.ts";

export type FilterHandler = Extract<FilterImplOptions, (...args: never[]) => unknown>;
export type FilterThis = ThisParameterType<FilterHandler>;

/** Longest result of a render or of a `capture`, in UTF-16 units. */
export const LONGEST_OUTPUT = 5 * 1024 * 1024;

/** Longest processor time of a single render. */
export const RENDER_LIMIT_MS = 1_000;
const MAX_STRETCH = isMainThread ? 2 : 10;
/** The reason of a render that was stopped. */
export const TOO_SLOW = `The template takes longer than ${RENDER_LIMIT_MS} ms.`;

/**
 * Most units of work by filters and ranges; one unit is about one character or array element
 * created.
 */
export const MEMORY_LIMIT = 1_000_000;

/**
 * Longest array that a filter accepts. A filter cannot be interrupted, so its time must be short.
 */
const MAX_ITEMS = 100_000;

/**
 * Largest product of an array's items and the characters of a filter's arguments. Filters such as
 * `map` and `where` read a path for each item, and each step of the path takes about 0.1 µs.
 */
const MAX_ITEM_CHARACTERS = 2_000_000;

/** Stops a render that exceeds a limit. The message addresses the author of the template. */
export class LimitError extends Error {}

/** Collects output like Liquid's own emitter, but throws when the output exceeds its limit. */
export class BoundedEmitter implements Emitter {
  buffer = "";

  write(value: unknown): void {
    this.buffer += typeof value === "string" ? value : toText(value);
    if (this.buffer.length > LONGEST_OUTPUT) {
      throw new LimitError("The result is longer than 5 MiB.");
    }
  }
}

/** The text of a value: like Liquid prints it, except that objects become JSON. */
export function toText(value: unknown): string {
  const plain: unknown = toValue(value);
  if (typeof plain === "string") return plain;
  if (plain === null || plain === undefined) return "";
  if (Array.isArray(plain)) return plain.map(toText).join("");
  if (typeof plain === "object") return JSON.stringify(plain);
  return typeof plain === "number" || typeof plain === "boolean" ? String(plain) : "";
}

/**
 * Returns a function that is called with the elapsed time, as often as possible, and throws once a
 * render that begins now has used `limitMs` of processor time, which does not grow while the machine
 * is suspended or busy with other work. It is read when the limit can have been reached, because it
 * cannot grow faster than the clock. By the clock, a render that works has at most twice the limit on
 * the event loop, and ten times in a thread, which waits for a processor while others work.
 */
export function renderTimeCheck(limitMs: number): (nowMs: number) => void {
  const beganCpuMs = recentThreadCpuMs();
  const beganMs = systemClock.elapsed();
  let nextMs = beganMs + limitMs;
  return (nowMs) => {
    if (nowMs <= nextMs) return;
    const usedMs = threadCpuMs() - beganCpuMs;
    const longestMs = MAX_STRETCH * limitMs;
    const isLate = nowMs - beganMs >= longestMs && usedMs >= limitMs / 10;
    if (usedMs >= limitMs || isLate) throw new LimitError(TOO_SLOW);
    nextMs = Math.max(nowMs, Math.min(nowMs + limitMs - usedMs, beganMs + longestMs));
  };
}

/** Throws if the render has taken longer than its limit. */
export function checkTime({ renderLimit }: Pick<FilterThis["context"], "renderLimit">): void {
  renderLimit.check(systemClock.elapsed());
}

/** Adds the checks of `limitHandler` to a filter. */
export function limitFilter(filter: FilterImplOptions): FilterImplOptions {
  if (typeof filter !== "function") return { ...filter, handler: limitHandler(filter.handler) };
  return limitHandler(filter);
}

/**
 * Checks time and arguments before each call of a filter: Liquid checks the time only between tags.
 */
export function limitHandler(handler: FilterHandler): FilterHandler {
  return function (this: FilterThis, value: unknown, ...args: unknown[]): unknown {
    checkTime(this.context);
    if (Array.isArray(value)) checkItems(value.length, args);
    return handler.apply(this, [value, ...args]);
  };
}

function checkItems(items: number, args: readonly unknown[]): void {
  if (items > MAX_ITEMS) throw new LimitError(`A filter accepts at most ${MAX_ITEMS} items.`);
  let characters = 0;
  for (const arg of args) {
    const plain: unknown = toValue(arg);
    if (typeof plain === "string") characters += plain.length;
  }
  if (items * characters > MAX_ITEM_CHARACTERS) {
    throw new LimitError("The arguments of a filter are too long for so many items.");
  }
}
