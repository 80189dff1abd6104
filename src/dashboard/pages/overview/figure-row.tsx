import { ArrowDown, ArrowUp, Minus } from "lucide-react";
import type { StatsCounts } from "../../../modules/stats/model.ts";
import { NOT_REPORTED, useDeliveriesKnown } from "../../ui/relay.ts";
import { changeOf, countText, FIGURES, mailsThatLeft, shareText } from "./figures.ts";
import { type Period, previousLabel } from "./period.ts";

/** The five figures with their share of the mails, and their change from the period before. */
export function FigureRow(props: { totals: StatsCounts; previous: StatsCounts; period: Period }) {
  const { totals, previous, period } = props;
  const areDeliveriesKnown = useDeliveriesKnown();
  return (
    <dl className="figure-row">
      {FIGURES.map(({ key, label, of }) => {
        if (key === "delivered" && !areDeliveriesKnown(totals)) {
          return (
            <div key={key} className="figure" data-figure={key}>
              <dt>{label}</dt>
              <dd className="figure-count">–</dd>
              <dd className="figure-detail muted">{NOT_REPORTED}</dd>
            </div>
          );
        }
        const isFault = key === "bounced";
        const whole = isFault ? mailsThatLeft(totals) : totals.sent;
        return (
          <div key={key} className="figure" data-figure={key}>
            <dt>{label}</dt>
            <dd className="figure-count">{countText(of(totals))}</dd>
            <dd className="figure-detail">
              <ChangeText
                now={of(totals)}
                before={of(previous)}
                isFault={isFault}
                than={previousLabel(period)}
              />
              {key === "sent" ? (
                of(previous) > 0 && <span className="muted">from {countText(of(previous))}</span>
              ) : (
                <Share part={of(totals)} whole={whole} isFault={isFault} />
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Share({ part, whole, isFault }: { part: number; whole: number; isFault: boolean }) {
  const text = shareText(part, whole);
  if (text === null) return null;
  return (
    <span className="muted">
      {text} of {isFault ? "mails" : "sent"}
    </span>
  );
}

const ICONS = { UP: ArrowUp, DOWN: ArrowDown, SAME: Minus };

function ChangeText(props: { now: number; before: number; isFault: boolean; than: string }) {
  const { now, before, isFault, than } = props;
  const change = changeOf(now, before);
  if (change === null) return <span className="muted">None in {than}</span>;
  const Icon = ICONS[change.direction];
  const isGood = (change.direction === "UP") !== isFault;
  const tone = change.direction === "SAME" ? "waiting" : isGood ? "good" : "failed";
  return (
    <span className="change" data-tone={tone} title={`${countText(before)} in ${than}`}>
      <Icon size={12} aria-hidden />
      {change.text}
      <span className="visually-hidden">
        , compared with {countText(before)} in {than}
      </span>
    </span>
  );
}
