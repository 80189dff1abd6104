/**
 * Checks that parsers take linear time, each with many repeated texts (see growth.ts). The short form
 * looks quickly at a part of these texts, and measures only those that may take more.
 */

import type { Aim } from "../../../scripts/bench/report.ts";
import {
  describeGrowth,
  findGrowth,
  isClearlyLinear,
  lengthOf,
  type Pump,
  type Run,
} from "../../support/growth.ts";
import type { Form } from "../prove.ts";

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
/** Length of a quick look, for which a quadratic parser takes far more than a millisecond. */
const SHORT_CHARACTERS = 8 * 1024;
/** Longest text that the short form measures after a quick look. */
const MEASURED_CHARACTERS = 64 * 1024;
const MAX_SHOWN = 3;
const SEARCHES = 3;

/** Splits lines into texts at each §. */
export function samples(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split("§"));
}

/** Texts to repeat in each frame. The long form repeats all common texts in the first one. */
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

/** Returns one aim for each parser. */
export async function linearAims(parsers: readonly Parser[], form: Form): Promise<Aim[]> {
  const aims: Aim[] = [];
  for (const parser of parsers) {
    const found = await superLinear(parser, form);
    const measured = found.length === 0 ? "linear time" : found.join("; ");
    aims.push({ name: parser.name, isMet: found.length === 0, measured, wanted: "linear time" });
  }
  return aims;
}

/** Describes the first few texts for which the parser takes more than linear time. */
export async function superLinear(parser: Parser, form: Form): Promise<string[]> {
  const { run, maxCharacters = DEFAULT_MAX_CHARACTERS } = parser;
  const found: string[] = [];
  for (const pump of pumpsFor(parser, form)) {
    const growth = await findRepeatedGrowth(run, pump, { maxCharacters, form });
    if (growth !== null) found.push(growth);
    if (found.length === MAX_SHOWN) break;
  }
  return found;
}

/**
 * Returns null unless several searches find the growth. One search can be wrong on a busy machine,
 * where other processes use the caches and the memory bandwidth of this thread, or while the parser is
 * compiled. After a look that found growth, one of the searches may miss it.
 */
export async function findRepeatedGrowth(
  run: Run,
  pump: Pump,
  { maxCharacters, form }: { maxCharacters: number; form: Form },
): Promise<string | null> {
  if (form === "short") {
    const characters = Math.min(SHORT_CHARACTERS, maxCharacters - lengthOf(pump, 0));
    if (await isClearlyLinear(run, pump, characters)) return null;
  }
  const limit = { short: MEASURED_CHARACTERS, long: Infinity }[form];
  let missesLeft = { short: 1, long: 0 }[form];
  let description: string | null = null;
  for (let search = 1; search <= SEARCHES; search++) {
    const growth = await findGrowth(run, pump, Math.min(limit, maxCharacters));
    if (growth === null && missesLeft-- === 0) return null;
    if (growth === null) continue;
    description = describeGrowth(pump, growth);
    Bun.gc(true);
  }
  return description;
}

function pumpsFor(parser: Parser, form: Form): Pump[] {
  const { frames = [["", ""]], pumps = [], hasOwnPumpsOnly = false } = parser;
  return frames.flatMap(([prefix, tail], i) => {
    const first = form === "long" && i === 0 ? COMMON : SEPARATORS;
    const common = hasOwnPumpsOnly ? [] : first;
    return [...new Set([...common, ...pumps])].map((pump) => ({ prefix, pump, tail }));
  });
}
