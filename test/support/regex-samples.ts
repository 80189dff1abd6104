/**
 * Texts on which a regular expression may need more than linear time: for every repetition in it, a
 * text that leads to the repetition, many times what it repeats, and an end that does not match.
 */

import type { Pump } from "./growth.ts";
import { type Node, parsePattern } from "./regex-syntax.ts";

/** Repetitions of at most so many rounds cannot make the time grow much. */
const SMALL_REPEAT = 16;
/** Ends that most expressions refuse. */
const TAILS = ["", "\u2028", "!", "x y", "\n\n\0"];
const MOST_TEXTS = 12;
const MOST_PUMPS = 90;

export function pumpsOf(source: string): Pump[] {
  // Something in front keeps an alternative with ^ from matching the whole run.
  const pumps = [...pumpsIn(parsePattern(source), ["", "x"])];
  const parts = [...new Set(pumps.map(({ pump }) => pump))].slice(0, MOST_TEXTS);
  // An expression without an anchor begins anew at each character: repeat whole prefixes as well.
  const repeated = pumps.flatMap(({ prefix = "", pump }) => (prefix === "" ? [] : [prefix + pump]));
  const pairs = parts.flatMap((a) => parts.map((b) => a + b));
  const all = [
    ...pumps,
    ...[...repeated, ...pairs, ...textsOf(parsePattern(source))].map((pump) => ({ pump })),
  ].filter(({ pump }) => pump !== "");
  const distinct = new Map(all.map((pump) => [JSON.stringify(pump), pump]));
  return thinned([...distinct.values()], MOST_PUMPS).flatMap((pump) =>
    TAILS.map((tail) => ({ ...pump, tail })),
  );
}

/** Pumps of the repetitions inside a node, behind texts that lead to it. */
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
      if (node.most > SMALL_REPEAT) {
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

/** Some texts that the node matches. */
function textsOf(node: Node): string[] {
  switch (node.kind) {
    case "character":
      return [...node.samples];
    case "empty":
      return [""];
    case "choice":
      return thinned(node.options.flatMap(textsOf), MOST_TEXTS);
    case "sequence":
      return node.items.reduce<string[]>((texts, item) => joined(texts, textsOf(item)), [""]);
    case "repeat": {
      const once = textsOf(node.item);
      const least = Math.min(node.least, 50);
      const some = once.map((text) => text.repeat(Math.max(1, least)));
      return thinned(node.least === 0 ? ["", ...some] : some, MOST_TEXTS);
    }
  }
}

/** Every end after some beginning: a zip, since all pairs would be too many. */
function joined(heads: readonly string[], tails: readonly string[]): string[] {
  const length = Math.max(heads.length, tails.length);
  const texts = Array.from(
    { length },
    (_, i) => (heads[i % heads.length] ?? "") + (tails[i % tails.length] ?? ""),
  );
  return thinned([...new Set(texts)], MOST_TEXTS);
}

function thinned<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from(
    { length: most },
    (_, i) => items[Math.floor((i * items.length) / most)],
  ).flatMap((item) => (item === undefined ? [] : [item]));
}
