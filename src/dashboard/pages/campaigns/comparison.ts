/** Compares a campaign with those before it. */

import { mailsThatLeft } from "../overview/figures.ts";
import { type Counts } from "./numbers.ts";

/** The rates that are compared. A rate with `isFault` is better when it is lower. */
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
