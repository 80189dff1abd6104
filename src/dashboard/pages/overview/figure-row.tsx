import { ArrowDown, ArrowUp, Minus } from "lucide-react";
import type { StatsCounts } from "../../../modules/stats/model.ts";
import { rateDifference } from "../../ui/rate-difference.ts";
import { useWhyUnknown } from "../../ui/relay.ts";
import {
  type Change,
  changeOf,
  countText,
  type Figure,
  FIGURES,
  rateOf,
  rateText,
} from "./figures.ts";
import { type Period, previousLabel } from "./period.ts";

type Counts = { totals: StatsCounts; previous: StatsCounts; period: Period };

/**
 * The five figures. Each has its rate, compared with the rate of the period before: the number of
 * opens, for example, mostly tells how much was sent. A click shows the figure in the chart.
 */
export function FigureRow(
  props: Counts & {
    /** The figures that say something. */
    known: readonly Figure[];
    chosen: Figure;
    onChoose: (figure: Figure) => void;
  },
) {
  const { known, chosen, onChoose, ...counts } = props;
  const whyUnknown = useWhyUnknown();
  return (
    <div className="figure-row" role="group" aria-label="Figures: one is shown in the chart">
      {FIGURES.map((figure) => {
        const { key, label } = figure;
        if (!known.includes(figure)) {
          return (
            <div key={key} className="figure" data-figure={key}>
              <span className="figure-label">{label}</span>
              <span className="figure-count">–</span>
              <span className="figure-detail muted">{whyUnknown}</span>
            </div>
          );
        }
        return (
          <button
            key={key}
            type="button"
            className="figure"
            data-figure={key}
            aria-pressed={figure === chosen}
            onClick={() => onChoose(figure)}
          >
            <span className="figure-label">{label}</span>
            <span className="figure-count">{countText(figure.of(counts.totals))}</span>
            <span className="figure-detail">
              {key === "sent" ? (
                <CountDetail {...counts} figure={figure} />
              ) : (
                <RateDetail {...counts} figure={figure} />
              )}
            </span>
          </button>
        );
      })}
    </div>
  );
}

type DetailProps = Counts & { figure: Figure };

/** The change of a number: "+12.5% from 1,204". */
function CountDetail({ figure: { of }, totals, previous, period }: DetailProps) {
  const before = countText(of(previous));
  const than = previousLabel(period);
  const change = changeOf(of(totals), of(previous));
  if (change === null) return <span className="muted">None in {than}</span>;
  return (
    <>
      <ChangeText change={change} isFault={false} compared={`${before} in ${than}`} />
      <span className="muted">from {before}</span>
    </>
  );
}

/** The change of a rate: "+0.4 points 98.2% of sent". */
function RateDetail({ figure, totals, previous, period }: DetailProps) {
  const isFault = figure.key === "bounced";
  const [rate, before] = [rateOf(figure, totals), rateOf(figure, previous)];
  const than = previousLabel(period);
  const change = rateDifference(rate, [before]);
  if (rate === null) return <span className="muted">No mails</span>;
  return (
    <>
      {change !== null && before !== null && (
        <ChangeText change={change} isFault={isFault} compared={`${rateText(before)} in ${than}`} />
      )}
      <span className="muted">
        {rateText(rate)} of {isFault ? "mails" : "sent"}
      </span>
    </>
  );
}

const ICONS = { UP: ArrowUp, DOWN: ArrowDown, SAME: Minus };

function ChangeText(props: { change: Change; isFault: boolean; compared: string }) {
  const { change, isFault, compared } = props;
  const Icon = ICONS[change.direction];
  const isGood = (change.direction === "UP") !== isFault;
  const tone = change.direction === "SAME" ? "waiting" : isGood ? "good" : "failed";
  return (
    <span className="change" data-tone={tone} title={compared}>
      <Icon size={12} aria-hidden />
      {change.text}
      <span className="visually-hidden">, compared with {compared}</span>
    </span>
  );
}
