/** Says in words whether the figures of an A/B test prove a difference. Pure. */

import {
  anyDifferencePValue,
  differencePValue,
  neededTotal,
  rateOf,
  type Proportion,
} from "../../../lib/significance.ts";

/** A difference that chance makes at most so often counts as proven. */
const SIGNIFICANT = 0.05;

type NamedShare = Proportion & { id: string };

type AbVerdict = {
  kind: "BETTER" | "UNCERTAIN" | "NOTHING";
  /** The variant with the highest rate; null if none was sent. */
  bestId: string | null;
  /** The probability of so large a difference by chance; null without two variants to compare. */
  pValue: number | null;
  /** Mails of each variant that would show this difference; null if it is shown, or there is none. */
  neededPerVariant: number | null;
  text: string;
};

/**
 * Compares the best variant with the second one. If there are more than two, a test of all variants
 * together must find a difference as well, because the best of several is often ahead by chance.
 */
export function verdictOf(shares: readonly NamedShare[]): AbVerdict {
  const sent = shares.filter(({ total }) => total > 0);
  const [best, second] = sent.toSorted((a, b) => rateOf(b) - rateOf(a));
  if (best === undefined || second === undefined) {
    const text = "Nothing can be compared: fewer than two variants were sent.";
    return {
      kind: "NOTHING",
      bestId: best?.id ?? null,
      pValue: null,
      neededPerVariant: null,
      text,
    };
  }
  const pValue = Math.max(differencePValue(best, second), anyDifferencePValue(sent));
  if (pValue <= SIGNIFICANT) {
    const text = `${best.id} is better: ${chanceOf(pValue)}.`;
    return { kind: "BETTER", bestId: best.id, pValue, neededPerVariant: null, text };
  }
  const needed = neededTotal(best, second);
  const neededPerVariant = needed === null ? null : Math.max(needed, 2);
  const text = uncertain(best, second, neededPerVariant);
  return { kind: "UNCERTAIN", bestId: best.id, pValue, neededPerVariant, text };
}

/** `a difference this large would come by chance in 3 of 100 tests` */
export function chanceOf(pValue: number): string {
  const often =
    pValue < 0.001
      ? "fewer than 1 of 1,000 tests"
      : pValue < 0.01
        ? `${Math.max(1, Math.round(pValue * 1000))} of 1,000 tests`
        : `${Math.round(pValue * 100)} of 100 tests`;
  return `a difference this large would come by chance in ${often}`;
}

function uncertain(best: NamedShare, second: NamedShare, needed: number | null): string {
  if (rateOf(best) === rateOf(second)) {
    return `No difference can be told: ${best.id} and ${second.id} have the same rate.`;
  }
  const lower = Math.min(best.total, second.total);
  const more = needed === null ? 0 : needed - lower;
  if (more <= 0) return `No difference can be told yet: ${best.id} is ahead, but it may be chance.`;
  const count = more.toLocaleString("en-US");
  return `No difference can be told yet: ${best.id} is ahead, but it may be chance. Send each variant to at least ${count} more.`;
}
