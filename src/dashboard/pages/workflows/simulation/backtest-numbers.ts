/** The numbers of a backtest as its page shows them. */

import type { Backtest } from "../../../../modules/workflows/simulation/backtest-model.ts";
import type { DraftStep } from "../editor/draft.ts";

const number = new Intl.NumberFormat();
const counted = (count: number, one: string, many: string): string =>
  `${number.format(count)} ${count === 1 ? one : many}`;

/** "In the last 30 days, 12 executions would have started, and 20 mails would have been made." */
export function resultSentence({ days, result, status }: Backtest): string {
  const span = days === 1 ? "In the last day" : `In the last ${days} days`;
  if (result.started === 0) {
    return status === "RUNNING"
      ? `${span}, no contact has entered so far.`
      : `${span}, no contact would have entered this workflow.`;
  }
  const mails = result.mails.reduce((sum, { total }) => sum + total, 0);
  const suppressed = result.mails.reduce((sum, each) => sum + each.suppressed, 0);
  const held =
    suppressed === 0 ? "" : `, ${number.format(suppressed)} of them to suppressed addresses`;
  return (
    `${span}, ${counted(result.started, "execution", "executions")} would have started, and ` +
    `${counted(mails, "mail", "mails")} would have been made${held}.`
  );
}

const DAY_MS = 86_400_000;

/** Each day of the period; on a day that the result does not name, nothing happened. */
export function daysOfBacktest({
  from,
  until,
  result,
}: Pick<Backtest, "from" | "until" | "result">) {
  const counts = new Map(result.days.map((each) => [each.day, each]));
  const days: { day: string; started: number; mails: number }[] = [];
  const last = until.slice(0, 10);
  for (let at = Date.parse(from.slice(0, 10)); ; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    const { started = 0, mails = 0 } = counts.get(day) ?? {};
    days.push({ day, started, mails });
    if (day >= last) return days;
  }
}

/** The counts of the steps in the order of the graph; a step that was never entered has zeros. */
export function stepRows(
  { steps: found }: Pick<Backtest["result"], "steps">,
  steps: readonly DraftStep[],
) {
  const counts = new Map(found.map((each) => [each.stepId, each]));
  return steps.map((step) => ({ step, counts: counts.get(step.id) ?? NEVER }));
}

const NEVER = { entered: 0, skipped: 0, failed: 0, active: 0, branches: [] };
