/** The columns of the list of campaigns. */

import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";
import { columnsOf } from "../../ui/csv.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { PlannedTime, Time } from "../../ui/time.tsx";
import { phaseText } from "./ab/ab-figures.ts";
import { audienceText } from "./audience-text.ts";
import { countText } from "../overview/figures.ts";
import { statusWithOrigin } from "./imported.ts";
import { barOf, percentText } from "./numbers.ts";

export const CAMPAIGN_COLUMNS: readonly Column<CampaignSummary>[] = [
  {
    key: "name",
    title: "Campaign",
    width: "19%",
    render: ({ name }) => <bdi title={name}>{name}</bdi>,
  },
  {
    key: "status",
    title: "Status",
    width: "126px",
    render: (campaign) => <Status value={statusWithOrigin(campaign)} />,
  },
  {
    key: "audience",
    title: "Audience",
    render: (campaign) => (
      <span className="muted" title={originOrAudience(campaign)}>
        {originOrAudience(campaign)}
      </span>
    ),
  },
  {
    key: "bar",
    title: "Result",
    width: "80px",
    render: (campaign) => campaign.startedAt !== null && <Bar campaign={campaign} />,
  },
  {
    key: "sent",
    title: "Sent",
    width: "166px",
    isFigure: true,
    render: (campaign) => sentText(campaign) ?? <ForeignCount imported={campaign.imported} />,
  },
  {
    key: "opened",
    title: "Opened",
    width: "77px",
    isFigure: true,
    render: ({ opened, sent }) => sent > 0 && percentText(opened, sent),
  },
  {
    key: "clicked",
    title: "Clicked",
    width: "75px",
    isFigure: true,
    render: ({ clicked, sent }) => sent > 0 && percentText(clicked, sent),
  },
  {
    key: "date",
    title: "Date",
    width: "148px",
    isFigure: true,
    render: (campaign) => <CampaignDate {...campaign} />,
  },
];

export const CAMPAIGN_CSV = columnsOf<CampaignSummary>([
  "id",
  "name",
  "status",
  "statusReason",
  "audienceType",
  "segmentName",
  "createdAt",
  "scheduledAt",
  "startedAt",
  "finishedAt",
  "totalRecipients",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "complained",
  "unsubscribed",
  "imported",
]);

/** The two lines of a row on phones. */
export const campaignLines = (campaign: CampaignSummary) => ({
  first: (
    <span className="line">
      <bdi className="cut" title={campaign.name}>
        {campaign.name}
      </bdi>
      <Status value={statusWithOrigin(campaign)} />
    </span>
  ),
  second: (
    <span className="line">
      <span className="cut">{resultText(campaign) ?? originOrAudience(campaign)}</span>
      <CampaignDate {...campaign} />
    </span>
  ),
});

/**
 * The recipients as one bar: the shares to whom the mail was sent, who opened it and who clicked lie
 * over each other.
 */
function Bar({ campaign }: { campaign: CampaignSummary }) {
  const { sent, opened, clicked } = barOf(campaign);
  const part = (name: string, share: number) => (
    <span className="campaign-bar-part" data-part={name} style={{ width: `${share * 100}%` }} />
  );
  return (
    <span className="campaign-bar" aria-hidden="true">
      {part("sent", sent)}
      {part("opened", opened)}
      {part("clicked", clicked)}
    </span>
  );
}

/** "Imported from listmonk" for a campaign that this server did not send, else its audience. */
function originOrAudience(campaign: CampaignSummary): string {
  const { imported } = campaign;
  if (imported !== null) return `Imported from ${imported.source}`;
  const phase = phaseText(campaign.abTestState);
  return phase === null ? audienceText(campaign) : `${audienceText(campaign)}, ${phase}`;
}

/** The mails that another product has sent or delivered, apart from those of this server. */
function ForeignCount({ imported }: Pick<CampaignSummary, "imported">) {
  const { sent = null, delivered = null } = imported?.counts ?? {};
  const count = sent ?? delivered;
  if (imported === null || count === null) return <span className="muted">–</span>;
  const what = sent === null ? "Delivered, as counted by" : "Counted by";
  return (
    <span className="muted" title={`${what} ${imported.source}`}>
      {countText(count)}
    </span>
  );
}

/** Mails that left: "9,012", or "4,000 of 9,012" while others wait. Null before the start. */
function sentText(campaign: CampaignSummary): string | null {
  const { startedAt, queued, totalRecipients, sent } = campaign;
  if (startedAt === null) return null;
  if (queued === 0) return countText(sent);
  return `${countText(sent)} of ${countText(totalRecipients)}`;
}

/** "9,012 sent, 41% opened, 6% clicked". Null before the start. */
function resultText(campaign: CampaignSummary): string | null {
  const text = sentText(campaign);
  if (text === null) return null;
  const { sent, opened, clicked } = campaign;
  return sent === 0
    ? `${text} sent`
    : `${text} sent, ${percentText(opened, sent)} opened, ${percentText(clicked, sent)} clicked`;
}

/** The next start, the start, or the creation of a campaign that was never sent here. */
function CampaignDate(
  props: Pick<CampaignSummary, "status" | "scheduledAt" | "startedAt" | "createdAt" | "imported">,
) {
  const { status, scheduledAt, startedAt, createdAt, imported } = props;
  if (status === "SCHEDULED") return <PlannedTime at={scheduledAt} isPlain />;
  return (
    <span className={startedAt === null ? "muted" : undefined}>
      <Time at={startedAt ?? imported?.sentAt ?? createdAt} isPlain />
    </span>
  );
}
