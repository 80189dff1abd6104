/** The report of a campaign: its progress, numbers, chart and links, and the campaigns before it. */

import { TriangleAlert } from "lucide-react";
import type { Campaign } from "../../../modules/campaigns/model.ts";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import { AbCard } from "./ab/ab-card.tsx";
import { AudienceCard, OutcomesCard } from "./audience-card.tsx";
import { ComparisonCard } from "./comparison-card.tsx";
import { HoursCard } from "./hours-card.tsx";
import { ImportedCard } from "./imported-card.tsx";
import { LinksCard } from "./links-card.tsx";
import { useDeliveriesKnown, useWhyUnknown } from "../../ui/relay.ts";
import { countText, mailsThatLeft } from "../overview/figures.ts";
import { percentText } from "./numbers.ts";
import { ProgressCard } from "./progress-card.tsx";
import { reasonOf } from "./reason.ts";
import { RecipientsLink } from "./recipients-link.tsx";
import type { TabProps } from "./tab-props.ts";

export function ReportTab(props: TabProps) {
  const { campaign, stats } = props;
  const { status, startedAt, imported, abTestState } = campaign;
  const isUnderWay = status === "SENDING" || status === "PAUSED";
  if (imported !== null) return <ImportedCard imported={imported} />;
  if (startedAt === null) {
    return (
      <div className="campaign">
        <Reason campaign={campaign} />
        {status !== "CANCELLED" && <AudienceCard id={campaign.id} />}
      </div>
    );
  }
  return (
    <div className="campaign">
      <Reason campaign={campaign} />
      {isUnderWay && (
        <ProgressCard
          stats={stats}
          isPaused={status === "PAUSED"}
          isTest={abTestState !== null && abTestState.phase !== "REST"}
        />
      )}
      <AbCard campaign={campaign} />
      <section className="card" aria-label="Numbers">
        <Figures stats={stats} />
        <HoursCard {...props} startedAt={startedAt} />
      </section>
      <div className="campaign-columns">
        <LinksCard stats={stats} />
        <OutcomesCard stats={stats} />
      </div>
      <ComparisonCard campaign={campaign} stats={stats} />
    </div>
  );
}

function Reason({ campaign }: { campaign: Campaign }) {
  const reason = reasonOf(campaign);
  if (reason === null) return null;
  const { title, text } = reason;
  return (
    <section className="campaign-reason" aria-label="Reason of the status">
      <TriangleAlert size={16} aria-hidden />
      <div>
        <strong>{title}</strong>
        <p>{text}</p>
      </div>
    </section>
  );
}

/** The numbers that a sender looks for first; each leads to its recipients. */
function Figures({ stats }: { stats: CampaignStats }) {
  const { sent, delivered, opened, clicked, bounced, complained, unsubscribed } = stats;
  const areDeliveriesKnown = useDeliveriesKnown()(stats);
  const whyUnknown = useWhyUnknown();
  const ofSent = (count: number) => `${percentText(count, sent)} of sent`;
  const figures: { label: string; count: number | null; detail: string; show?: string }[] = [
    { label: "Sent", count: sent, detail: `of ${countText(stats.totalRecipients)}` },
    areDeliveriesKnown
      ? { label: "Delivered", count: delivered, detail: ofSent(delivered) }
      : { label: "Delivered", count: null, detail: whyUnknown },
    { label: "Opened", count: opened, detail: ofSent(opened), show: "opened" },
    { label: "Clicked", count: clicked, detail: ofSent(clicked), show: "clicked" },
    {
      label: "Bounced",
      count: bounced,
      detail: `${percentText(bounced, mailsThatLeft(stats))} of mails`,
      show: "bounced",
    },
    {
      label: "Complained",
      count: complained,
      detail: ofSent(complained),
      show: "complained",
    },
    {
      label: "Unsubscribed",
      count: unsubscribed,
      detail: ofSent(unsubscribed),
      show: "unsubscribed",
    },
  ];
  return (
    <dl className="campaign-figures">
      {figures.map(({ label, count, detail, show }) => (
        <div key={label} className="figure">
          <dt>{label}</dt>
          <dd className="figure-count">
            {count === null ? (
              "–"
            ) : show === undefined || count === 0 ? (
              countText(count)
            ) : (
              <RecipientsLink show={show}>{countText(count)}</RecipientsLink>
            )}
          </dd>
          <dd className="figure-detail muted">{detail}</dd>
        </div>
      ))}
    </dl>
  );
}
