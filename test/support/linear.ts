/** Tests that parsers take linear time: each one against many repeated texts (see growth.ts). */

import { expect, test } from "bun:test";
import { describeGrowth, findGrowth, type Pump, type Run } from "./growth.ts";

export type Parser = {
  name: string;
  run: Run;
  /** Longest text that can reach it; 256 KiB where it has no bound of its own. */
  maxCharacters?: number;
  /** Texts around what is repeated; nothing if left out. */
  frames?: readonly (readonly [prefix: string, tail: string])[];
  /** Texts to repeat besides the common ones. */
  pumps?: readonly string[];
  /** True: `pumps` alone, where each run takes long. */
  hasOwnPumpsOnly?: boolean;
};

const USUAL_BOUND = 256 * 1024;
const MOST_SHOWN = 3;

/** Texts with § between them. */
export function samples(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split("§"));
}

/** What is repeated inside of further frames, where the rest would only repeat the first frame. */
const SEPARATORS: readonly string[] = [
  ..." \t\na0.,;:=-/\"'(<{".split(""),
  ...samples('\\"§a §\u0315\u0300'),
];

/** Spaces of all kinds, separators, quotes, brackets, escapes, letters and marks. */
const COMMON: readonly string[] = [
  ..." \t\n\v\r\0a0.,;:=-_+*|?#!~^$@/\\\"'`()[]{}<>&%".split(""),
  ...samples("\r\n§\u00a0§\u0085§\u2028§\u3000§\ufeff§\u200b§\ud800§\u0301§a\u0301§😀§é§K"),
  ...samples('a § a§a,§a.§a=b;§\\"§""§()§<>§{}§0.'),
  // In canonical order the second mark comes before the first one.
  "\u0315\u0300",
];

/** Says that a test hangs, on a machine with much other work too. */
export const LIMIT_MS = 180_000;

/** A parser that throws has read its text as well. */
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

/** Descriptions of the texts on which the parser takes more than linear time, the first few. */
export async function superLinear(parser: Parser): Promise<string[]> {
  const found: string[] = [];
  for (const pump of pumpsFor(parser)) {
    const growth = await findGrowth(parser.run, pump, parser.maxCharacters ?? USUAL_BOUND);
    if (growth !== null) found.push(describeGrowth(pump, growth));
    if (found.length === MOST_SHOWN) break;
  }
  return found;
}

function pumpsFor(parser: Parser): Pump[] {
  const { frames = [["", ""]], pumps = [], hasOwnPumpsOnly = false } = parser;
  return frames.flatMap(([prefix, tail], i) => {
    const common = hasOwnPumpsOnly ? [] : i === 0 ? COMMON : SEPARATORS;
    return [...new Set([...common, ...pumps])].map((pump) => ({ prefix, pump, tail }));
  });
}
