/** The data of a TimeChart, and the texts of its points. */

export type ChartSeries = {
  key: string;
  label: string;
  /** CSS variable of its colour, such as --chart-sent. */
  color: string;
  values: readonly number[];
};

export type ChartData = {
  /** Names the chart. */
  label: string;
  /** Milliseconds since the epoch at which the hour or day of each point starts. */
  times: readonly number[];
  interval: "HOUR" | "DAY";
  series: readonly ChartSeries[];
  /** Whether the last hour or day is not over yet. */
  isLastOpen: boolean;
};

const pointDay = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
});
const pointHour = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const whole = new Intl.NumberFormat();

export const countLabel = (count: number): string => whole.format(count);

/** "Sun, Nov 22, 2026"; the last point says that it is not complete. */
export function pointLabel({ times, interval, isLastOpen }: ChartData, index: number): string {
  const text = (interval === "DAY" ? pointDay : pointHour).format(times[index]);
  return isLastOpen && index === times.length - 1 ? `${text} (so far)` : text;
}

/** The colour of a series beside its name. */
export function Swatch({ color }: { color: string }) {
  const value = `var(${color})`;
  return (
    <span
      className="swatch"
      style={{ borderColor: value, backgroundColor: value }}
      aria-hidden="true"
    />
  );
}
