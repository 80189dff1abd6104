/** A campaign beside those that were sent before it. */

import { getRouteApi, Link } from "@tanstack/react-router";
import type { Campaign } from "../../../modules/campaigns/model.ts";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { useDeliveriesKnown } from "../../ui/relay.ts";
import { Time, useNow } from "../../ui/time.tsx";
import { rateDifference } from "../../ui/rate-difference.ts";
import { RATES } from "./comparison.ts";
import { countText } from "../overview/figures.ts";
import { type Counts } from "./numbers.ts";
import { useEarlier } from "./use-campaign.ts";

const route = getRouteApi("/user/p/$project/campaigns/$campaign");
/** Most opens and clicks come within this time after a mail. */
const EARLY_MS = 172_800_000;
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

export function ComparisonCard({ campaign, stats }: { campaign: Campaign; stats: CampaignStats }) {
  const earlier = useEarlier(campaign.id);
  const now = useNow();
  const { finishedAt } = campaign;
  const isEarly = finishedAt === null || now - Date.parse(finishedAt) < EARLY_MS;
  return (
    <section className="card" aria-labelledby="earlier">
      <h2 id="earlier">Beside earlier campaigns</h2>
      <Loaded query={earlier} height={160}>
        {(campaigns) =>
          campaigns.length === 0 ? (
            <p className="muted small">No campaign was sent before this one.</p>
          ) : (
            <>
              <Comparison campaign={campaign} stats={stats} earlier={campaigns} />
              {isEarly && (
                <p className="muted small">
                  Opens and clicks of this campaign still come in: most come within two days after a
                  mail. Compare the rates again then.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Comparison(props: {
  campaign: Campaign;
  stats: CampaignStats;
  earlier: readonly CampaignSummary[];
}) {
  const { campaign, stats, earlier } = props;
  const { project } = route.useParams();
  const areDeliveriesKnown = useDeliveriesKnown();
  const isShown = areDeliveriesKnown(stats) || earlier.some(areDeliveriesKnown);
  const rates = RATES.filter(({ key }) => key !== "delivered" || isShown);
  return (
    <div className="campaign-table" tabIndex={0} role="region" aria-label="Rates of the campaigns">
      <table>
        <thead>
          <tr>
            <th scope="col">Campaign</th>
            <th scope="col">Date</th>
            <th scope="col">Sent</th>
            {rates.map(({ key, label }) => (
              <th key={key} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr className="campaign-this">
            <th scope="row">{campaign.name}</th>
            <td>
              <Time at={campaign.startedAt} isPlain />
            </td>
            <td>{countText(stats.sent)}</td>
            <RateCells rates={rates} counts={stats} />
          </tr>
          <tr className="campaign-this">
            <th scope="row" className="muted">
              Difference from the mean of the others
            </th>
            <td />
            <td />
            {rates.map(({ key, of, ...rate }) => (
              <td key={key}>
                <DifferenceText
                  difference={rateDifference(of(stats), earlier.map(of))}
                  isFault={"isFault" in rate}
                />
              </td>
            ))}
          </tr>
          {earlier.map((other) => (
            <tr key={other.id}>
              <th scope="row">
                <Link
                  to="/p/$project/campaigns/$campaign"
                  params={{ project, campaign: other.id }}
                  search={{}}
                >
                  {other.name}
                </Link>
              </th>
              <td>
                <Time at={other.startedAt} isPlain />
              </td>
              <td>{countText(other.sent)}</td>
              <RateCells rates={rates} counts={other} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Rate = (typeof RATES)[number];

function RateCells({ rates, counts }: { rates: readonly Rate[]; counts: Counts }) {
  return rates.map(({ key, of }) => {
    const rate = of(counts);
    return <td key={key}>{rate === null ? "–" : percents.format(rate)}</td>;
  });
}

function DifferenceText(props: {
  difference: ReturnType<typeof rateDifference>;
  isFault: boolean;
}) {
  const { difference, isFault } = props;
  if (difference === null) return "–";
  const isGood = (difference.direction === "UP") !== isFault;
  const tone = difference.direction === "SAME" ? "waiting" : isGood ? "good" : "failed";
  return (
    <span className="change" data-tone={tone}>
      {difference.text}
    </span>
  );
}
