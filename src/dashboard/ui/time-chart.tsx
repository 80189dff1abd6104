/**
 * Numbers over time: lines with one tooltip for all series, a legend that switches series, and the
 * same numbers as a table, because screen readers cannot read a canvas. Dragging narrows the range.
 */

import { SegmentedControl, Skeleton } from "@mantine/core";
import { lazyPart } from "../lazy.tsx";
import { type ChartData, countLabel, pointLabel, Swatch } from "./time-chart-parts.tsx";

type Props = ChartData & {
  hidden: ReadonlySet<string>;
  onHiddenChange: (hidden: ReadonlySet<string>) => void;
  isTable: boolean;
  onTableChange: (isTable: boolean) => void;
  /** Called with the times of the first and the last point that the user dragged over. */
  onNarrow: (firstMs: number, lastMs: number) => void;
};

const HEIGHT_PX = 280;
const ChartCanvas = lazyPart(
  async () => (await import("./time-chart-canvas.tsx")).TimeChartCanvas,
  <Skeleton height={HEIGHT_PX} />,
);

export function TimeChart(props: Props) {
  const { hidden, onHiddenChange, isTable, onTableChange, onNarrow, ...data } = props;
  const shown = data.series.filter(({ key }) => !hidden.has(key));
  function toggle(key: string): void {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    onHiddenChange(next);
  }
  return (
    <div className="chart">
      <div className="chart-head">
        <ul className="chart-legend" aria-label="Series">
          {data.series.map(({ key, label, color }) => (
            <li key={key}>
              <button type="button" aria-pressed={!hidden.has(key)} onClick={() => toggle(key)}>
                <Swatch color={color} />
                {label}
              </button>
            </li>
          ))}
        </ul>
        <SegmentedControl
          aria-label="Form of the numbers"
          value={isTable ? "table" : "chart"}
          data={[
            { value: "chart", label: "Chart" },
            { value: "table", label: "Show as table" },
          ]}
          onChange={(value) => onTableChange(value === "table")}
        />
      </div>
      {isTable ? (
        <ChartTable {...data} series={shown} />
      ) : (
        <ChartCanvas {...data} series={shown} heightPx={HEIGHT_PX} onNarrow={onNarrow} />
      )}
    </div>
  );
}

/** The newest hour or day first. */
function ChartTable(data: ChartData) {
  const { label, times, interval, series } = data;
  const newest = times.map((_time, index) => times.length - 1 - index);
  return (
    <div className="chart-table" tabIndex={0} role="region" aria-label={`${label}, as a table`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{interval === "DAY" ? "Day" : "Hour"}</th>
            {series.map(({ key, label }) => (
              <th key={key} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {newest.map((index) => (
            <tr key={times[index]}>
              <th scope="row">{pointLabel(data, index)}</th>
              {series.map(({ key, values }) => (
                <td key={key}>{countLabel(values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
