/** The numbers of a backtest by day, as a chart and as a table. */

import { Button, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { TimeChart } from "../time-chart.tsx";

type Series = { key: string; label: string; color: string; values: readonly number[] };

type Props = {
  label: string;
  /** Dates in UTC, one for each value of a series. */
  days: readonly string[];
  series: readonly Series[];
  /** Draws one series at a time, because their numbers are of another size. */
  isOneAtATime?: boolean;
};

export function DayChart({ label, days, series, isOneAtATime = false }: Props) {
  const [isTable, setIsTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [only, setOnly] = useState(series[0]?.key ?? "");
  const [range, setRange] = useState<readonly [number, number] | null>(null);
  const times = days.map(midnightOf);
  const [first, last] = range ?? [-Infinity, Infinity];
  const isShown = (_: unknown, i: number) => {
    const time = times[i] ?? 0;
    return time >= first && time <= last;
  };
  return (
    <section className="backtest-part">
      <div className="backtest-head">
        <h2>{label}</h2>
        {isOneAtATime && (
          <SegmentedControl
            size="xs"
            aria-label="Numbers in the chart"
            value={only}
            data={series.map((each) => ({ value: each.key, label: each.label }))}
            onChange={setOnly}
          />
        )}
      </div>
      <TimeChart
        label={label}
        times={times.filter(isShown)}
        interval="DAY"
        series={series.map((each) => ({ ...each, values: each.values.filter(isShown) }))}
        isLastOpen={range === null}
        {...(isOneAtATime ? { only } : { hidden, onHiddenChange: setHidden })}
        isTable={isTable}
        onTableChange={setIsTable}
        onNarrow={(from, until) => setRange([from, until])}
      />
      {range !== null && (
        <Button size="compact-xs" variant="default" onClick={() => setRange(null)}>
          Show all days
        </Button>
      )}
    </section>
  );
}

/** The local midnight of a date, so that the chart names the same date. */
function midnightOf(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date).getTime();
}
