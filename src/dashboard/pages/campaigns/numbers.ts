/** The numbers of campaigns: their shares, their progress, and the outcomes of their mails. */

import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";

export type Counts = Pick<
  CampaignStats,
  | "totalRecipients"
  | "queued"
  | "sent"
  | "delivered"
  | "opened"
  | "clicked"
  | "bounced"
  | "bouncedLater"
  | "complained"
  | "unsubscribed"
>;

const whole = new Intl.NumberFormat();
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const fine = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 });

/** "1 recipient", "2,000 recipients". */
export const counted = (count: number, noun: string): string =>
  `${whole.format(count)} ${noun}${count === 1 ? "" : "s"}`;

/** "12.5%", with two digits below 1 %; "–" of nothing. */
export function percentText(part: number, total: number): string {
  if (total === 0) return "–";
  const share = part / total;
  return (share < 0.01 ? fine : percents).format(share);
}

/** The shares of the recipients to which the parts of the bar are drawn, 0 to 1. */
export function barOf({ totalRecipients, sent, opened, clicked }: Counts) {
  const share = (count: number) =>
    totalRecipients === 0 ? 0 : Math.min(1, count / totalRecipients);
  return { sent: share(sent), opened: share(opened), clicked: share(clicked) };
}

/** The number of mails that are settled: sent, refused or not sent for good. */
export const settledOf = ({ totalRecipients, queued }: Counts): number =>
  Math.max(0, totalRecipients - queued);

type Sample = { atMs: number; done: number };

/** Samples that are older say little about the present speed. */
const SAMPLED_MS = 60_000;
/** The samples must span this time, because a shorter one says little. */
const LEAST_MS = 4_000;

/** The samples of the latest minute and a new one. */
export const withSample = (samples: readonly Sample[], sample: Sample): Sample[] => [
  ...samples.filter(({ atMs, done }) => sample.atMs - atMs <= SAMPLED_MS && done <= sample.done),
  sample,
];

/**
 * Seconds until the waiting mails are sent at the speed of the samples; null if it is not known.
 */
export function secondsLeft(samples: readonly Sample[], waiting: number): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return null;
  const ms = last.atMs - first.atMs;
  const done = last.done - first.done;
  return ms < LEAST_MS || done <= 0 ? null : (waiting * ms) / done / 1000;
}

/** "less than a minute", "about 12 minutes", "about 3 hours", "about 2 days". */
export function durationText(seconds: number): string {
  if (seconds < 60) return "less than a minute";
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${counted(minutes, "minute")}`;
  const hours = Math.round(minutes / 60);
  return hours < 36
    ? `about ${counted(hours, "hour")}`
    : `about ${counted(Math.round(hours / 24), "day")}`;
}

type Step = {
  key: string;
  label: string;
  count: number;
  /** The value of `show` that lists these recipients. */
  show?: string;
};

/**
 * The outcomes of the mails: the recipients, those who got no mail by reason, and those who did.
 */
export function outcomesOf(stats: CampaignStats): { steps: Step[]; sent: number } {
  const { totalRecipients, suppressed, failed, cancelled, queued, sent } = stats;
  const refused = stats.bounced - stats.bouncedLater;
  const steps: Step[] = [
    { key: "recipients", label: "Recipients", count: totalRecipients },
    { key: "suppressed", label: "Suppressed addresses", count: suppressed, show: "suppressed" },
    { key: "refused", label: "Refused by the receiver", count: refused, show: "bounced" },
    { key: "failed", label: "Could not be sent", count: failed, show: "failed" },
    { key: "cancelled", label: "Cancelled", count: cancelled, show: "cancelled" },
    { key: "waiting", label: "Still waiting", count: queued, show: "waiting" },
  ];
  return { steps: steps.filter(({ key, count }) => key === "recipients" || count > 0), sent };
}
