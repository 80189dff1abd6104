/** One campaign: a draft in its editor, otherwise its report, its recipients and its email. */

import "./styles.ts";
import { Skeleton, Stack } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Campaign } from "../../../modules/campaigns/model.ts";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import { lazyPart } from "../../lazy.tsx";
import { useMay } from "../../state.ts";
import { BackLabel, Page, PageTabs, TabLink } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Status } from "../../ui/status.tsx";
import { PlannedTime, Time } from "../../ui/time.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { CampaignActions } from "./actions.tsx";
import { Countdown } from "./editor/countdown.tsx";
import { ownZone, zonedText } from "./editor/zone-time.ts";
import { EmailTab } from "./email-tab.tsx";
import { statusWithOrigin } from "./imported.ts";
import { RecipientsTab } from "./recipients-tab.tsx";
import { ReportTab } from "./report-tab.tsx";
import { type CampaignSearch, readCampaignSearch, campaignTabs, campaignTabOf } from "./search.ts";
import { useCampaign, useCampaignStats } from "./use-campaign.ts";

const route = getRouteApi("/user/p/$project/campaigns/$campaign");

/** A draft is written; every other campaign has a report. */
export function CampaignPage() {
  const { project, campaign: id } = route.useParams();
  const { data } = useCampaign(id);
  const mayEdit = useMay("EDITOR");
  // Each draft has an editor of its own, with its own state.
  return mayEdit && data?.status === "DRAFT" ? (
    <DraftEditor key={id} campaign={data} project={project} />
  ) : (
    <CampaignReport />
  );
}

const DraftEditor = lazyPart<{ campaign: Campaign; project: string }>(
  async () => (await import("./editor/campaign-editor.tsx")).CampaignEditor,
  <div aria-busy="true" />,
);

function CampaignReport() {
  const mayEdit = useMay("EDITOR");
  const { project, campaign: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const campaign = useCampaign(id);
  const stats = useCampaignStats(id);
  const isSlow = useDelayed(campaign.isPending);
  const { data } = campaign;
  const tabs = data === undefined ? [] : campaignTabs(data);
  const tab = campaignTabOf(search, tabs);
  const change = (next: CampaignSearch) =>
    void navigate({ search: readCampaignSearch({ ...search, ...next }), replace: true });
  return (
    <Page
      title={data?.name ?? "Campaign"}
      isFixed={tab === "recipients"}
      badge={data !== undefined && <Status value={statusWithOrigin(data)} />}
      back={
        <Link to="/p/$project/campaigns" params={{ project }} className="page-back">
          <BackLabel>Campaigns</BackLabel>
        </Link>
      }
      description={data !== undefined && <Dates campaign={data} />}
      actions={data !== undefined && <CampaignActions campaign={data} stats={stats.data} />}
      tabs={
        data !== undefined && (
          <PageTabs label="Parts of the campaign">
            {tabs.map(({ key, label }) => (
              <TabLink key={key} tab={key} current={tab}>
                {label}
              </TabLink>
            ))}
          </PageTabs>
        )
      }
    >
      {mayEdit && data?.status === "SCHEDULED" && (
        <Countdown key={data.scheduledAt} campaign={data} />
      )}
      {campaign.error !== null && (
        <Problem error={campaign.error} onRetry={() => void campaign.refetch()} />
      )}
      {stats.error !== null && campaign.error === null && (
        <Problem error={stats.error} onRetry={() => void stats.refetch()} />
      )}
      {data === undefined || (stats.data === undefined && stats.error === null) ? (
        isSlow && campaign.error === null && <CampaignSkeleton />
      ) : (
        <Content key={id} {...{ tab, campaign: data, stats: stats.data, search, change }} />
      )}
    </Page>
  );
}

function Content(props: {
  tab: ReturnType<typeof campaignTabOf>;
  campaign: Campaign;
  stats: CampaignStats | undefined;
  search: CampaignSearch;
  change: (next: CampaignSearch) => void;
}) {
  const { tab, campaign, stats, search, change } = props;
  if (tab === "email") return <EmailTab campaign={campaign} search={search} onChange={change} />;
  if (stats === undefined) return null;
  return tab === "recipients" ? (
    <RecipientsTab campaign={campaign} stats={stats} search={search} onChange={change} />
  ) : (
    <ReportTab campaign={campaign} stats={stats} search={search} onChange={change} />
  );
}

/** The zone of campaigns that each contact gets at its own time. */
const RECIPIENT = "RECIPIENT";

/** The time at which the campaign is or was sent. */
function Dates({ campaign }: { campaign: Campaign }) {
  const { status, scheduledAt, startedAt, finishedAt, createdAt, timeZone: zone } = campaign;
  if (status === "SCHEDULED") {
    return (
      <>
        Sending starts <PlannedTime at={scheduledAt} />
        {scheduledAt !== null && zone !== null && zone !== RECIPIENT && zone !== ownZone() && (
          <>, which is {zonedText(Date.parse(scheduledAt), zone)}</>
        )}
      </>
    );
  }
  if (campaign.imported !== null) {
    const { source, sentAt } = campaign.imported;
    return (
      <>
        Sent by {source} {sentAt !== null && <Time at={sentAt} />}
      </>
    );
  }
  if (startedAt === null) {
    return (
      <>
        Created <Time at={createdAt} />, not sent
      </>
    );
  }
  return (
    <>
      Sending started <Time at={startedAt} />
      {finishedAt !== null && (
        <>
          , {status === "CANCELLED" ? "cancelled" : "finished"} <Time at={finishedAt} />
        </>
      )}
    </>
  );
}

function CampaignSkeleton() {
  return (
    <Stack gap="md" aria-busy="true">
      <Skeleton height={72} />
      <Skeleton height={320} />
      <Skeleton height={180} />
    </Stack>
  );
}
