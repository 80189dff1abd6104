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

/** How a number changed from the period before: "+12.5%". Null if there was nothing before. */
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
export function shareText(part: number, total: number): string | null {
  if (total === 0) return null;
  const share = part / total;
  return (share < 0.01 ? fine : percents).format(share);
}

type Left = Pick<StatsCounts, "sent" | "bounced" | "bouncedLater">;

/** The mails that left this server: those that were accepted, and those that were refused. */
export const mailsThatLeft = ({ sent, bounced, bouncedLater }: Left): number =>
  sent + bounced - bouncedLater;
