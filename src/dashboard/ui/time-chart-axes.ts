/** The labels of the axes of a TimeChart. Pure. */

import type { ChartData } from "./time-chart-parts.tsx";

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/**
 * The first and the last second of the axis of time. A single point is in the middle of two hours or
 * days, so that the axis can say when it is.
 */
export function timeRange({
  times,
  interval,
}: Pick<ChartData, "times" | "interval">): [number, number] {
  const first = (times[0] ?? 0) / 1000;
  const last = (times.at(-1) ?? 0) / 1000;
  if (last > first) return [first, last];
  const step = interval === "DAY" ? DAY_S : HOUR_S;
  return [first - step, first + step];
}

/** Steps of the axis of counts: 1, 2, 5, 10, … */
export const COUNT_STEPS = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

/** An axis of counts has at most this many steps. */
const MAX_STEPS = 5;
/** The axis of small counts reaches at least up to here. */
const LEAST_TOP = 4;

/** The top of the axis of counts: a line of the grid that is not below the highest point. */
export function countTop(highest: number | null): number {
  const high = Math.max(LEAST_TOP, highest ?? 0);
  const step = COUNT_STEPS.find((each) => high <= each * MAX_STEPS) ?? high;
  return Math.ceil(high / step) * step;
}
