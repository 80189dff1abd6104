/** Compares a rate with earlier ones. */

type Difference = { direction: "UP" | "DOWN" | "SAME"; text: string };

const points = new Intl.NumberFormat(undefined, {
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});

/**
 * The difference of a rate from the mean of earlier ones, in percentage points. Null if one of them
 * is not known. Every earlier rate counts the same, of however many mails it is.
 */
export function rateDifference(
  rate: number | null,
  earlier: readonly (number | null)[],
): Difference | null {
  const known = earlier.filter((value) => value !== null);
  if (rate === null || known.length === 0) return null;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const difference = Math.round((rate - mean) * 1000) / 10;
  const text = `${points.format(difference)} points`;
  if (difference === 0) return { direction: "SAME", text: "The same" };
  return { direction: difference > 0 ? "UP" : "DOWN", text };
}
