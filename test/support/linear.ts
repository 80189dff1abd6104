/** Tests that parsers take linear time, each with many repeated texts (see growth.ts). */

import { expect, test } from "bun:test";
import { describeGrowth, findGrowth, type Growth, type Pump, type Run } from "./growth.ts";

export type Parser = {
  name: string;
  run: Run;
  /** Longest text that can reach the parser; 256 KiB if it has no own limit. */
  maxCharacters?: number;
  /** Texts before and after the repeated text; by default there are none. */
  frames?: readonly (readonly [prefix: string, tail: string])[];
  /** Texts to repeat in addition to the common ones. */
  pumps?: readonly string[];
  /** True if only `pumps` are repeated, because each run takes long. */
  hasOwnPumpsOnly?: boolean;
};

const DEFAULT_MAX_CHARACTERS = 256 * 1024;
const MAX_SHOWN = 3;
const SEARCHES = 3;

/** Splits lines into texts at each §. */
export function samples(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split("§"));
}

/** Texts to repeat in all frames after the first one, which is tested with all common texts. */
const SEPARATORS: readonly string[] = [
  ..." \t\na0.,;:=-/\"'(<{".split(""),
  ...samples('\\"§a §\u0315\u0300'),
];

/** Spaces of all kinds, separators, quotes, brackets, escapes, letters and marks. */
const COMMON: readonly string[] = [
  ..." \t\n\v\r\0a0.,;:=-_+*|?#!~^$@/\\\"'`()[]{}<>&%".split(""),
  ...samples("\r\n§\u00a0§\u0085§\u2028§\u3000§\ufeff§\u200b§\ud800§\u0301§a\u0301§😀§é§K"),
  ...samples('a § a§a,§a.§a=b;§\\"§""§()§<>§{}§0.'),
  // Two combining marks that normalization reorders.
  "\u0315\u0300",
];

/** Timeout of a test; it is long enough for a busy machine. */
export const LIMIT_MS = 180_000;

/** Ignores the errors of a parser, because a parser that throws has read its text too. */
export function tried(run: Run): Run {
  return async (text) => {
    try {
      await run(text);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  };
}

export function linearTests(parsers: readonly Parser[]): void {
  test.each(parsers.map((parser) => [parser.name, parser] as const))(
    "%s",
    async (_, parser) => {
      expect(await superLinear(parser)).toEqual([]);
    },
    LIMIT_MS,
  );
}

/** Describes the first few texts for which the parser takes more than linear time. */
export async function superLinear(parser: Parser): Promise<string[]> {
  const found: string[] = [];
  for (const pump of pumpsFor(parser)) {
    const growth = await findRepeatedGrowth(parser, pump);
    if (growth !== null) found.push(describeGrowth(pump, growth));
    if (found.length === MAX_SHOWN) break;
  }
  return found;
}

/**
 * Returns null unless every one of several searches finds the growth. One search can be wrong on a
 * busy machine, where other processes use the caches and the memory bandwidth of this thread.
 */
async function findRepeatedGrowth(parser: Parser, pump: Pump): Promise<Growth | null> {
  const maxCharacters = parser.maxCharacters ?? DEFAULT_MAX_CHARACTERS;
  let growth: Growth | null = null;
  for (let search = 1; search <= SEARCHES; search++) {
    growth = await findGrowth(parser.run, pump, maxCharacters);
    if (growth === null) return null;
    Bun.gc(true);
  }
  return growth;
}

function pumpsFor(parser: Parser): Pump[] {
  const { frames = [["", ""]], pumps = [], hasOwnPumpsOnly = false } = parser;
  return frames.flatMap(([prefix, tail], i) => {
    const common = hasOwnPumpsOnly ? [] : i === 0 ? COMMON : SEPARATORS;
    return [...new Set([...common, ...pumps])].map((pump) => ({ prefix, pump, tail }));
  });
}
