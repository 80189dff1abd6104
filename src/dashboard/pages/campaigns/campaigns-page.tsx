/** The campaigns of the project, newest first. */

import "./styles.ts";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Megaphone } from "lucide-react";
import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { Page } from "../../ui/page.tsx";
import { statusWord } from "../../ui/status.tsx";
import { useList } from "../../ui/use-list.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
import { useCreateRequest } from "../../ui/use-create-dialog.ts";
import { campaignSamples } from "./samples.ts";
import { CAMPAIGN_COLUMNS, campaignLines, CAMPAIGN_CSV } from "./columns.tsx";
import { CreateCampaign, useCreateCampaign } from "./editor/create-campaign.tsx";
import { counted } from "./numbers.ts";
import { readCampaignsSearch, summariesQuery } from "./search.ts";

const route = getRouteApi("/user/p/$project/campaigns");

const STATUSES = ["DRAFT", "SCHEDULED", "SENDING", "PAUSED", "SENT", "CANCELLED"];
const FIELDS: readonly FilterField[] = [
  {
    key: "status",
    hint: "Such as sent or paused",
    values: STATUSES.map((value) => ({ value: value.toLowerCase(), label: statusWord(value) })),
  },
];
const PATH = "/campaigns/summaries";

export function CampaignsPage() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = useNavigate();
  const { url } = useAppState();
  const mayEdit = useMay("EDITOR");
  const creation = useCreateCampaign(project);
  useCreateRequest(mayEdit, creation.create);
  useShortcuts({ c: creation.create }, mayEdit);
  const query = summariesQuery(search);
  const list = useList<CampaignSummary>("campaign-summaries", PATH, query);
  const run = useExport({ path: PATH, query, columns: CAMPAIGN_CSV, noun: "campaigns" });
  const isFiltered = search.q !== undefined || search.status !== undefined;
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null && !isFiltered;
  const change = (next: Readonly<Record<string, unknown>>) =>
    void navigate({
      to: "/p/$project/campaigns",
      params: { project },
      search: readCampaignsSearch(next),
    });
  const open = ({ id }: CampaignSummary) =>
    void navigate({ to: "/p/$project/campaigns/$campaign", params: { project, campaign: id } });
  return (
    <Page
      title="Campaigns"
      isFixed
      actions={
        !isEmpty && (
          <>
            <ExportButton run={run} isDisabled={list.rows.length === 0} />
            {mayEdit && <CreateCampaign {...creation} />}
          </>
        )
      }
    >
      {!isEmpty && (
        <FilterBar
          label="Search: a name, status…"
          fields={FIELDS}
          filters={search}
          onChange={change}
        >
          {list.total !== null && (
            <span className="figures">{counted(list.total, "campaign")}</span>
          )}
          <SavedViews page="campaigns" search={search} onChoose={change} />
        </FilterBar>
      )}
      <ExportProgress run={run} />
      <DataTable
        label="Campaigns"
        list={list}
        columns={CAMPAIGN_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/campaigns/${id}`}
        onOpen={open}
        phone={campaignLines}
        isFiltered={isFiltered}
        onClearFilters={() => change({})}
        empty={
          <Empty
            icon={Megaphone}
            title="No campaigns yet"
            text="A campaign is one email to many contacts: all of them, a segment, or those that meet a condition."
            action={mayEdit && <CreateCampaign {...creation} />}
          >
            <Code label="Create a campaign" samples={campaignSamples(url)} />
          </Empty>
        }
      />
    </Page>
  );
}
