/**
 * Numbers over time: lines with one tooltip for all series, and the same numbers as a table, because
 * screen readers cannot read a canvas. Dragging narrows the range. A legend switches series; without
 * it, the page chooses the one series that is drawn.
 */

import { SegmentedControl, Skeleton } from "@mantine/core";
import { EyeOff } from "lucide-react";
import { lazyPart } from "../lazy.tsx";
import {
  type ChartData,
  type ChartSeries,
  countLabel,
  pointLabel,
  Swatch,
} from "./time-chart-parts.tsx";

type Legend = {
  hidden: ReadonlySet<string>;
  onHiddenChange: (hidden: ReadonlySet<string>) => void;
};
/** The key of the series that is drawn; the table has all of them. */
type Only = { only: string };

type Props = ChartData &
  (Legend | Only) & {
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
  const { label, times, interval, series, isLastOpen, isTable, onTableChange, onNarrow } = props;
  const data = { label, times, interval, isLastOpen };
  const drawn = series.filter(({ key }) =>
    "only" in props ? key === props.only : !props.hidden.has(key),
  );
  return (
    <div className="chart">
      <div className="chart-head">
        {"only" in props ? (
          <OnlySeries drawn={drawn} interval={interval} isTable={isTable} />
        ) : (
          <ChartLegend series={series} hidden={props.hidden} onChange={props.onHiddenChange} />
        )}
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
        <ChartTable {...data} series={"only" in props ? series : drawn} />
      ) : (
        <ChartCanvas {...data} series={drawn} heightPx={HEIGHT_PX} onNarrow={onNarrow} />
      )}
    </div>
  );
}

function ChartLegend(props: {
  series: readonly ChartSeries[];
  hidden: ReadonlySet<string>;
  onChange: (hidden: ReadonlySet<string>) => void;
}) {
  const { series, hidden, onChange } = props;
  function toggle(key: string): void {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    onChange(next);
  }
  return (
    <ul className="chart-legend" aria-label="Series">
      {series.map(({ key, label, color }) => (
        <li key={key}>
          <button type="button" aria-pressed={!hidden.has(key)} onClick={() => toggle(key)}>
            <Swatch color={color} />
            {label}
            {hidden.has(key) && <EyeOff size={12} aria-hidden />}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Names the series that is drawn. */
function OnlySeries(props: {
  drawn: readonly ChartSeries[];
  interval: ChartData["interval"];
  isTable: boolean;
}) {
  const { drawn, interval, isTable } = props;
  const by = interval === "DAY" ? "by day" : "by hour";
  if (isTable) return <p className="chart-only">All figures {by}</p>;
  return drawn.map(({ key, label, color }) => (
    <p key={key} className="chart-only">
      <Swatch color={color} />
      {label} {by}
    </p>
  ));
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
