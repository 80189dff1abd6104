/** The result of a backtest of a segment, as a sentence. */

import type { SegmentBacktest } from "../../../modules/workflows/simulation/segment-model.ts";

const number = new Intl.NumberFormat();
const counted = (count: number, one: string, many: string): string =>
  `${number.format(count)} ${count === 1 ? one : many}`;

/** "In the last 30 days, there were 8 entries and 2 exits: 40 members before, 46 now." */
export function backtestSentence({ days, result, status }: SegmentBacktest): string {
  const span = days === 1 ? "Today" : `In the last ${days} days`;
  const begin = status === "RUNNING" ? `So far: ${span.toLowerCase()}` : span;
  const { entered, left, membersBefore, members } = result;
  if (entered === 0 && left === 0) {
    return `${begin}, no contact entered or left: ${counted(members, "member", "members")}.`;
  }
  const be = entered === 1 ? "was" : "were";
  return (
    `${begin}, there ${be} ${counted(entered, "entry", "entries")} and ` +
    `${counted(left, "exit", "exits")}: ${counted(membersBefore, "member", "members")} before, ` +
    `${number.format(members)} now.`
  );
}
