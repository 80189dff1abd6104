/**
 * Generates texts for which a regular expression may take more than linear time: for every
 * repetition in it, a prefix that leads to the repetition, the repeated text, and an end that does
 * not match.
 */

import type { Pump } from "../../support/growth.ts";
import { type Node, parsePattern } from "./regex-syntax.ts";

/** Repetitions with a smaller maximum have little influence on the time. */
const SMALL_REPEAT = 16;
/** Ends that do not match most expressions; the first ones most often. */
const TAILS = ["", "!", "\u2028", "x y", "\n\n\0"];
const MAX_TEXTS = 12;

/** Makes at most so many texts, each with so many ends. */
export function pumpsOf(source: string, most: { texts: number; ends: number }): Pump[] {
  // With a prefix, an alternative with ^ cannot match the whole text.
  const pumps = [...pumpsIn(parsePattern(source), ["", "x"])];
  const parts = [...new Set(pumps.map(({ pump }) => pump))].slice(0, MAX_TEXTS);
  // An expression without an anchor starts again at each character, so prefixes are repeated as
  // well.
  const repeated = pumps.flatMap(({ prefix = "", pump }) => (prefix === "" ? [] : [prefix + pump]));
  const pairs = parts.flatMap((a) => parts.map((b) => a + b));
  const all = [
    ...pumps,
    ...[...repeated, ...pairs, ...textsOf(parsePattern(source))].map((pump) => ({ pump })),
  ].filter(({ pump }) => pump !== "");
  const distinct = new Map(all.map((pump) => [JSON.stringify(pump), pump]));
  return thinned([...distinct.values()], most.texts).flatMap((pump) =>
    TAILS.slice(0, most.ends).map((tail) => ({ ...pump, tail })),
  );
}

/** Yields pumps for the repetitions in a node; `prefixes` are texts that match before the node. */
function* pumpsIn(node: Node, prefixes: readonly string[]): Generator<Pump> {
  switch (node.kind) {
    case "character":
      return;
    case "empty":
      if (node.inner !== null) yield* pumpsIn(node.inner, prefixes);
      return;
    case "choice":
      for (const option of node.options) yield* pumpsIn(option, prefixes);
      return;
    case "repeat":
      if (node.max > SMALL_REPEAT) {
        for (const prefix of prefixes) {
          for (const pump of textsOf(node.item)) yield { prefix, pump };
        }
      }
      yield* pumpsIn(node.item, prefixes);
      return;
    case "sequence": {
      let before = prefixes;
      for (const item of node.items) {
        yield* pumpsIn(item, before);
        before = joined(before, textsOf(item));
      }
    }
  }
}

/** Returns some texts that the node matches. */
function textsOf(node: Node): string[] {
  switch (node.kind) {
    case "character":
      return [...node.samples];
    case "empty":
      return [""];
    case "choice":
      return thinned(node.options.flatMap(textsOf), MAX_TEXTS);
    case "sequence":
      return node.items.reduce<string[]>((texts, item) => joined(texts, textsOf(item)), [""]);
    case "repeat": {
      const once = textsOf(node.item);
      const count = Math.min(node.min, 50);
      const some = once.map((text) => text.repeat(Math.max(1, count)));
      return thinned(node.min === 0 ? ["", ...some] : some, MAX_TEXTS);
    }
  }
}

/** Joins each tail to one head, because all pairs would be too many. */
function joined(heads: readonly string[], tails: readonly string[]): string[] {
  const length = Math.max(heads.length, tails.length);
  const texts = Array.from(
    { length },
    (_, i) => (heads[i % heads.length] ?? "") + (tails[i % tails.length] ?? ""),
  );
  return thinned([...new Set(texts)], MAX_TEXTS);
}

function thinned<T>(items: readonly T[], maxItems: number): T[] {
  if (items.length <= maxItems) return [...items];
  return Array.from(
    { length: maxItems },
    (_, i) => items[Math.floor((i * items.length) / maxItems)],
  ).flatMap((item) => (item === undefined ? [] : [item]));
}
