import { SegmentedControl } from "@mantine/core";
import { TimeChart } from "../../ui/time-chart.tsx";
import { useNow } from "../../ui/time.tsx";
import { hiddenSeries, hideText, hourChart, PART_CHOICES, partNameOf } from "./hours.ts";
import type { TabProps } from "./tab-props.ts";

/** Sent mails, opens and clicks by hour since sending started. Dragging shows a part of them. */
export function HoursCard({
  stats,
  search,
  onChange,
  startedAt,
}: Pick<TabProps, "stats" | "search" | "onChange"> & { startedAt: string }) {
  const nowMs = useNow();
  const chart = hourChart(stats, { startedMs: Date.parse(startedAt), nowMs, search });
  const { interval, times, sent, opens, clicks, isLastOpen } = chart;
  const DAY_MS = 86_400_000;
  return (
    <div className="campaign-hours">
      <div className="campaign-hours-head">
        <h2>Sent mails, opens and clicks by {interval === "DAY" ? "day" : "hour"}</h2>
        <SegmentedControl
          size="xs"
          aria-label="Part of the time"
          value={partNameOf(search)}
          data={PART_CHOICES}
          onChange={(range) => onChange({ range, since: "", until: "" })}
        />
      </div>
      <TimeChart
        label={`Sent mails, opens and clicks by ${interval === "DAY" ? "day" : "hour"}`}
        times={times}
        interval={interval}
        series={[
          { key: "sent", label: "Sent", color: "--chart-sent", values: sent },
          { key: "opens", label: "Opens", color: "--chart-opened", values: opens },
          { key: "clicks", label: "Clicks", color: "--chart-clicked", values: clicks },
        ]}
        isLastOpen={isLastOpen}
        hidden={hiddenSeries(search, chart)}
        onHiddenChange={(hidden) => onChange({ hide: hideText(hidden) })}
        isTable={search.view === "table"}
        onTableChange={(isTable) => onChange({ view: isTable ? "table" : "" })}
        onNarrow={(firstMs, lastMs) =>
          onChange({
            range: "",
            since: new Date(firstMs).toISOString(),
            until: new Date(lastMs + (interval === "DAY" ? DAY_MS - 1 : 0)).toISOString(),
          })
        }
      />
      {stats.machineOpens + stats.machineClicks > 0 && (
        <p className="muted small">
          Opens and clicks by programs, such as privacy proxies and link scanners, are not counted.
        </p>
      )}
    </div>
  );
}
