/** Tests of significance for shares: how probable it is that a difference arises by chance. Pure. */

/** `hits` of `total` had success, 0 ≤ hits ≤ total. */
export type Proportion = { hits: number; total: number };

/** Cells with a lower expected count make the normal approximation unreliable. */
const MIN_EXPECTED = 5;

export const rateOf = ({ hits, total }: Proportion): number => (total === 0 ? 0 : hits / total);

/**
 * The probability that two equal shares differ at least as much as these, in either direction: by the
 * two-proportion z-test, or by Fisher's exact test if an expected count is below five. 1 if a total is 0.
 */
export function differencePValue(a: Proportion, b: Proportion): number {
  if (a.total === 0 || b.total === 0) return 1;
  const total = a.total + b.total;
  const hits = a.hits + b.hits;
  const expected = (Math.min(a.total, b.total) * Math.min(hits, total - hits)) / total;
  if (expected < MIN_EXPECTED) return fisherPValue(a, b);
  const pooled = hits / total;
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / a.total + 1 / b.total));
  const z = Math.abs(rateOf(a) - rateOf(b)) / error;
  return complementaryError(z / Math.SQRT2);
}

/**
 * The probability that equal shares differ at least as much as these, by the chi-square test over the
 * table of hits and misses. Two shares are compared by `differencePValue`.
 */
export function anyDifferencePValue(shares: readonly Proportion[]): number {
  const used = shares.filter(({ total }) => total > 0);
  const [first, second] = used;
  if (first === undefined || second === undefined) return 1;
  if (used.length === 2) return differencePValue(first, second);
  const total = sum(used.map((share) => share.total));
  const hits = sum(used.map((share) => share.hits));
  if (hits === 0 || hits === total) return 1;
  const pooled = hits / total;
  const chiSquare = sum(
    used.map((share) => {
      const difference = share.hits - share.total * pooled;
      return difference ** 2 / (share.total * pooled * (1 - pooled));
    }),
  );
  return chiSquareTail(chiSquare, used.length - 1);
}

/** The upper tail of the chi-square distribution with one, two or three degrees of freedom. */
export function chiSquareTail(value: number, degrees: number): number {
  if (value <= 0) return 1;
  const half = Math.sqrt(value / 2);
  if (degrees === 1) return complementaryError(half);
  if (degrees === 2) return Math.exp(-value / 2);
  if (degrees === 3) {
    return complementaryError(half) + Math.sqrt((2 * value) / Math.PI) * Math.exp(-value / 2);
  }
  throw new Error(`no distribution with ${degrees} degrees of freedom`);
}

/** Fisher's exact test, two-sided: the tables that are at most as probable as this one. */
export function fisherPValue(a: Proportion, b: Proportion): number {
  const hits = a.hits + b.hits;
  const lowest = Math.max(0, hits - b.total);
  const highest = Math.min(a.total, hits);
  const logOfAll = logChoose(a.total + b.total, hits);
  const logOf = (k: number) => logChoose(a.total, k) + logChoose(b.total, hits - k) - logOfAll;
  // Equally probable tables may differ in their last digits.
  const limit = logOf(a.hits) + 1e-7;
  let probability = 0;
  for (let k = lowest; k <= highest; k++) {
    const log = logOf(k);
    if (log <= limit) probability += Math.exp(log);
  }
  return Math.min(1, probability);
}

/** Quantiles of the normal distribution: 5 % in both tails together, and 20 % in one tail. */
const Z_SIGNIFICANT = 1.959964;
const Z_POWER = 0.841621;

/**
 * The size that each of two groups needs for a test that finds this difference with a power of 80 % at
 * a significance level of 5 %. Null if the shares are equal.
 */
export function neededTotal(a: Proportion, b: Proportion): number | null {
  const [p, q] = [rateOf(a), rateOf(b)];
  if (p === q) return null;
  const mean = (p + q) / 2;
  const spread =
    Z_SIGNIFICANT * Math.sqrt(2 * mean * (1 - mean)) +
    Z_POWER * Math.sqrt(p * (1 - p) + q * (1 - q));
  return Math.ceil((spread / (p - q)) ** 2);
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, each) => total + each, 0);

const logChoose = (n: number, k: number): number =>
  logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** Below it Stirling's series is inexact. */
const SMALL = 32;

/** The natural logarithm of n!, by Stirling's series for large numbers. */
function logFactorial(n: number): number {
  if (n < SMALL) {
    let product = 1;
    for (let factor = 2; factor <= n; factor++) product *= factor;
    return Math.log(product);
  }
  const series = 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5);
  return n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + series;
}

/** From here on the continued fraction converges quickly. */
const FAR = 2;

/** erfc(x) for x ≥ 0: by the series of erf near zero, and by a continued fraction far from it. */
function complementaryError(x: number): number {
  if (x < FAR) {
    let term = x;
    let total = x;
    for (let n = 1; Math.abs(term) > 1e-17 && n < 100; n++) {
      term *= -(x * x) / n;
      total += term / (2 * n + 1);
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * total;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}
