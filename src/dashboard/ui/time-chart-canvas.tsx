/** The canvas of TimeChart, in a chunk of its own because of the library of charts. */

import { useComputedColorScheme } from "@mantine/core";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import UPlot from "uplot";
import { COUNT_STEPS, countTop, timeRange } from "./time-chart-axes.ts";
import { type ChartData, countLabel, pointLabel, Swatch } from "./time-chart-parts.tsx";

type Props = ChartData & { heightPx: number; onNarrow: (firstMs: number, lastMs: number) => void };
/** The position of the tooltip: the point, and its distance from the left of the chart. */
type Hover = { index: number; leftPx: number; isRight: boolean };

const LINE_PX = 2;
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
/** Least distance of two labels of an axis. */
const LABEL_PX = { x: 64, y: 40 };
/** A shorter drag is a click. */
const LEAST_DRAG_PX = 8;

export function TimeChartCanvas({ heightPx, onNarrow, ...data }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const scheme = useComputedColorScheme("light");
  const latest = useRef({ data, onNarrow });
  latest.current = { data, onNarrow };
  const shape = JSON.stringify([data.times, data.series.map(({ key }) => key)]);
  const values = JSON.stringify(chartValues(data));

  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const drawn = new UPlot(
      chartOptions(latest.current.data, { element, heightPx, onHover: setHover, onSelect }),
      chartValues(latest.current.data),
      element,
    );
    chart.current = drawn;
    function onSelect(first: number, last: number): void {
      const { times } = latest.current.data;
      const [from, to] = [times[first], times[last]];
      if (from !== undefined && to !== undefined) latest.current.onNarrow(from, to);
    }
    const observer = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: heightPx }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
      chart.current = null;
      setHover(null);
    };
  }, [shape, scheme, heightPx]);

  // New numbers of the same points keep the tooltip.
  useEffect(() => chart.current?.setData(chartValues(latest.current.data)), [values]);

  /** The arrow keys move the tooltip from point to point. */
  function move(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || chart.current === null) return;
    event.preventDefault();
    const last = data.times.length - 1;
    const index = Math.min(last, Math.max(0, (hover?.index ?? last + 1) + step));
    const left = chart.current.valToPos((data.times[index] ?? 0) / 1000, "x");
    chart.current.setCursor({ left, top: 0 });
  }

  return (
    <div className="chart-stage">
      <div
        className="chart-canvas"
        ref={host}
        style={{ height: heightPx }}
        role="application"
        aria-label={`${data.label}. The arrow keys move from point to point.`}
        tabIndex={0}
        onKeyDown={move}
        onBlur={() => setHover(null)}
      />
      {hover !== null && hover.index < data.times.length && (
        <div
          className="chart-tip"
          data-right={hover.isRight || undefined}
          style={{ left: hover.leftPx }}
          role="status"
        >
          <strong>{pointLabel(data, hover.index)}</strong>
          <dl>
            {data.series.map(({ key, label, color, values }) => (
              <div key={key}>
                <dt>
                  <Swatch color={color} />
                  {label}
                </dt>
                <dd>{countLabel(values[hover.index] ?? 0)}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </div>
  );
}

function chartValues({ times, series }: ChartData): UPlot.AlignedData {
  return [times.map((time) => time / 1000), ...series.map(({ values }) => [...values])];
}

type Setting = {
  element: HTMLElement;
  heightPx: number;
  onHover: (hover: Hover | null) => void;
  onSelect: (first: number, last: number) => void;
};

function chartOptions(data: ChartData, setting: Setting): UPlot.Options {
  const { element, heightPx } = setting;
  const style = getComputedStyle(element);
  const colorOf = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: colorOf("--muted"), font: FONT, ticks: { show: false } };
  const grid = { stroke: colorOf("--line"), width: 1 };
  const isSingle = data.times.length === 1;
  return {
    width: element.clientWidth,
    height: heightPx,
    padding: [8, 28, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 8 },
      drag: { x: true, y: false, setScale: false, dist: LEAST_DRAG_PX },
    },
    scales: {
      // Without it, the library shows almost three years around a single point.
      x: { range: () => timeRange(data) },
      y: { range: (_chart, _low, high) => [0, countTop(high)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: LABEL_PX.x,
        values: (_chart, splits) => splits.map((second) => tickLabel(second * 1000, data)),
      },
      {
        ...axis,
        grid,
        size: 44,
        space: LABEL_PX.y,
        incrs: COUNT_STEPS,
        values: (_chart, splits) => splits.map((count) => compact.format(count)),
      },
    ],
    series: [
      {},
      ...data.series.map(({ color }, index) => ({
        stroke: colorOf(color),
        // The area makes the first line visible where the second covers it.
        ...(index === 0 ? { fill: `${colorOf(color)}1f` } : {}),
        width: LINE_PX,
        points: { show: isSingle, size: 7, fill: colorOf(color) },
      })),
    ],
    hooks: chartHooks(setting),
  };
}

function chartHooks({ onHover, onSelect }: Setting): UPlot.Hooks.Arrays {
  return {
    setCursor: [
      ({ cursor, over }) => {
        const { idx, left } = cursor;
        if (typeof idx !== "number" || left === undefined || left < 0) return onHover(null);
        const isRight = left > over.clientWidth / 2;
        return onHover({ index: idx, leftPx: over.offsetLeft + left, isRight });
      },
    ],
    setSelect: [
      (chart) => {
        const { left, width } = chart.select;
        if (width < LEAST_DRAG_PX) return;
        const [first, last] = [chart.posToIdx(left), chart.posToIdx(left + width)];
        chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        onSelect(first, last);
      },
    ],
  };
}

const compact = new Intl.NumberFormat(undefined, { notation: "compact" });
const dayTick = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const hourTick = new Intl.DateTimeFormat(undefined, { hour: "numeric" });

/** Midnight shows its date. Ticks between two days or hours have no label. */
function tickLabel(timeMs: number, { interval }: ChartData): string {
  const at = new Date(timeMs);
  if (at.getMinutes() !== 0) return "";
  if (at.getHours() === 0) return dayTick.format(at);
  return interval === "DAY" ? "" : hourTick.format(at);
}
