/** The five figures of the overview, their changes and rates. */

import type { StatsCounts } from "../../../modules/stats/model.ts";

export const FIGURES = [
  { key: "sent", label: "Sent", color: "--chart-sent", of: ({ sent }: StatsCounts) => sent },
  {
    key: "delivered",
    label: "Delivered",
    color: "--chart-delivered",
    of: ({ delivered }: StatsCounts) => delivered,
  },
  {
    key: "opened",
    label: "Opened",
    color: "--chart-opened",
    of: ({ opened }: StatsCounts) => opened,
  },
  {
    key: "clicked",
    label: "Clicked",
    color: "--chart-clicked",
    of: ({ clicked }: StatsCounts) => clicked,
  },
  {
    key: "bounced",
    label: "Bounced + complained",
    color: "--chart-bounced",
    of: ({ bounced, complained }: StatsCounts) => bounced + complained,
  },
] as const;

export type Figure = (typeof FIGURES)[number];

/** Part of the mails: of those that left for bounces, and of those that were sent otherwise. */
export function rateOf({ key, of }: Figure, counts: StatsCounts): number | null {
  if (key === "sent") return null;
  const total = key === "bounced" ? mailsThatLeft(counts) : counts.sent;
  return total === 0 ? null : of(counts) / total;
}

const whole = new Intl.NumberFormat();
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const fine = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 });
const signed = new Intl.NumberFormat(undefined, {
  style: "percent",
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});

export const countText = (count: number): string => whole.format(count);

export type Change = { direction: "UP" | "DOWN" | "SAME"; text: string };
/** Above ten times as much, a percentage says less than the two numbers. */
const LARGEST_CHANGE = 10;

/** The change of a number from the period before: "+12.5%". Null if there was nothing before. */
export function changeOf(now: number, before: number): Change | null {
  if (before === 0) return null;
  const change = now / before - 1;
  const text =
    change > LARGEST_CHANGE ? `over ${signed.format(LARGEST_CHANGE)}` : signed.format(change);
  // Less than 0.05 % is shown as 0 %.
  if (Math.round(change * 1000) === 0) return { direction: "SAME", text };
  return { direction: change > 0 ? "UP" : "DOWN", text };
}

/** "12.5%", with two digits below 1 %; null of nothing. */
export const shareText = (part: number, total: number): string | null =>
  total === 0 ? null : rateText(part / total);

/** The same for a rate from 0 to 1. */
export const rateText = (rate: number): string => (rate < 0.01 ? fine : percents).format(rate);

type Left = Pick<StatsCounts, "sent" | "bounced" | "bouncedLater">;

/** The mails that left this server: those that were accepted, and those that were refused. */
export const mailsThatLeft = ({ sent, bounced, bouncedLater }: Left): number =>
  sent + bounced - bouncedLater;
