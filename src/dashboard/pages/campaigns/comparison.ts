/** Compares a campaign with those before it. */

import { mailsThatLeft } from "../overview/figures.ts";
import { type Counts } from "./numbers.ts";

/** The rates that are compared. `isFault`: less is better. */
export const RATES = [
  {
    key: "delivered",
    label: "Delivered",
    of: ({ delivered, sent }: Counts) => share(delivered, sent),
  },
  { key: "opened", label: "Opened", of: ({ opened, sent }: Counts) => share(opened, sent) },
  { key: "clicked", label: "Clicked", of: ({ clicked, sent }: Counts) => share(clicked, sent) },
  {
    key: "bounced",
    label: "Bounced",
    of: (counts: Counts) => share(counts.bounced, mailsThatLeft(counts)),
    isFault: true,
  },
  {
    key: "unsubscribed",
    label: "Unsubscribed",
    of: ({ unsubscribed, sent }: Counts) => share(unsubscribed, sent),
    isFault: true,
  },
] as const;

function share(part: number, total: number): number | null {
  return total === 0 ? null : part / total;
}

type Difference = { direction: "UP" | "DOWN" | "SAME"; text: string };

const points = new Intl.NumberFormat(undefined, {
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});

/**
 * The difference of a rate from the mean rate of the earlier campaigns, in percentage points. Null if
 * one of them is not known. Every earlier campaign counts the same, however large it was.
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
