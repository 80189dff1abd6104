/** The start page of a project: its numbers, what needs attention, and the first mail. */

import { Skeleton } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useDeliveriesKnown } from "../../ui/relay.ts";
import { TimeChart } from "../../ui/time-chart.tsx";
import { useNow } from "../../ui/time.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { Attention } from "./attention.tsx";
import { RunningCampaigns } from "./campaigns.tsx";
import { FIGURES } from "./figures.ts";
import { FigureRow } from "./figure-row.tsx";
import { HowToSend } from "./how-to-send.tsx";
import {
  narrowed,
  overviewPeriod,
  type Period,
  periodLabel,
  pointTime,
  previousLabel,
} from "./period.ts";
import { PeriodControl } from "./period-control.tsx";
import { Queue } from "./queue.tsx";
import { Reputation } from "./reputation.tsx";
import { type OverviewSearch, readOverviewSearch } from "./search.ts";
import { type Stats, timeZone, useHasMails, useStats } from "./use-overview.ts";

const route = getRouteApi("/user/p/$project/");

export function OverviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const hasMails = useHasMails();
  const period = overviewPeriod(search, useNow());
  const stats = useStats(period);
  const isSlow = useDelayed(stats.isPending || hasMails === undefined);
  const change = (next: OverviewSearch) =>
    void navigate({ search: readOverviewSearch({ ...search, ...next }) });

  // Numbers stay when old mails are removed.
  const isEmpty = hasMails === false && stats.data !== undefined && !hasNumbers(stats.data);
  if (isEmpty) {
    return (
      <Page title="Overview">
        <Attention />
        <HowToSend />
      </Page>
    );
  }
  return (
    <Page title="Overview" actions={<PeriodControl search={search} onChange={change} />}>
      <Attention />
      <p className="muted small overview-period">
        {periodLabel(period)} ({timeZone}), compared with {previousLabel(period)}
      </p>
      {stats.error !== null && <Problem error={stats.error} onRetry={() => void stats.refetch()} />}
      {stats.data === undefined && isSlow && stats.error === null && <NumbersSkeleton />}
      {stats.data !== undefined && (
        <div aria-busy={stats.isPlaceholderData} className="overview-numbers">
          <Numbers stats={stats.data} period={period} search={search} onChange={change} />
        </div>
      )}
    </Page>
  );
}

type NumbersProps = {
  stats: Stats;
  period: Period;
  search: OverviewSearch;
  onChange: (search: OverviewSearch) => void;
};

function Numbers({ stats, period, search, onChange }: NumbersProps) {
  const { totals, previousTotals, points, interval } = stats;
  const areDeliveriesKnown = useDeliveriesKnown()(totals);
  const known = FIGURES.filter(({ key }) => key !== "delivered" || areDeliveriesKnown);
  const chosen = known.find(({ key }) => key === search.metric) ?? FIGURES[0];
  return (
    <>
      <section className="card overview-card" aria-label="Numbers of the period">
        <FigureRow
          totals={totals}
          previous={previousTotals}
          period={period}
          known={known}
          chosen={chosen}
          onChoose={({ key }) => onChange({ metric: key === FIGURES[0].key ? "" : key, view: "" })}
        />
        <TimeChart
          label={`Mails by ${interval === "DAY" ? "day" : "hour"}`}
          times={points.map(({ start }) => pointTime(start))}
          interval={interval}
          series={known.map(({ key, label, color, of }) => ({
            key,
            label,
            color,
            values: points.map(of),
          }))}
          isLastOpen={Date.parse(stats.to) > Date.now()}
          only={chosen.key}
          isTable={search.view === "table"}
          onTableChange={(isTable) => onChange({ view: isTable ? "table" : "" })}
          onNarrow={(firstMs, lastMs) =>
            onChange({ range: "", ...narrowed(interval, firstMs, lastMs) })
          }
        />
      </section>
      <div className="overview-below">
        <Reputation totals={totals} />
        <Queue />
      </div>
      <RunningCampaigns />
    </>
  );
}

const hasNumbers = ({ totals, previousTotals }: Stats): boolean =>
  [totals, previousTotals].some((counts) => Object.values(counts).some((count) => count > 0));

/** The layout of the figures and of the chart. */
function NumbersSkeleton() {
  return (
    <div className="card overview-card" aria-busy="true">
      <div className="figure-row">
        {FIGURES.map(({ key }) => (
          <Skeleton key={key} height={64} />
        ))}
      </div>
      <Skeleton height={320} />
    </div>
  );
}
