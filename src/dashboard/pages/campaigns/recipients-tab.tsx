/** The recipients of a campaign by their actions. */

import { Button, Pill } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Users } from "lucide-react";
import type { Recipient } from "../../../modules/campaigns/results-model.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { useList } from "../../ui/use-list.ts";
import { countText } from "../overview/figures.ts";

import { RECIPIENT_COLUMNS, RECIPIENT_CSV, recipientLines } from "./recipient-columns.tsx";
import type { TabProps } from "./tab-props.ts";
import { recipientsQuery } from "./search.ts";
import { useRenewed } from "./use-renewed.ts";

const route = getRouteApi("/user/p/$project/campaigns/$campaign");

/** The title of an empty list, by the choice of recipients. */
const NOBODY: Readonly<Record<string, string>> = {
  opened: "Nobody opened this email yet",
  clicked: "Nobody clicked a link yet",
  "not-opened": "Every recipient opened this email",
  bounced: "No mail of this campaign bounced",
  complained: "Nobody reported this email as spam",
  unsubscribed: "Nobody unsubscribed because of this email",
};

export function RecipientsTab({ campaign, stats, search, onChange }: TabProps) {
  const { project } = route.useParams();
  const navigate = useNavigate();
  const { show, link, variant } = search;
  const path = `/campaigns/${encodeURIComponent(campaign.id)}/recipients`;
  const query = recipientsQuery(search);
  const list = useList<Recipient>("campaign-recipients", path, query);
  const run = useExport({ path, query, columns: RECIPIENT_CSV, noun: "recipients" });
  useRenewed("campaign-recipients");
  const isFiltered = show !== undefined || link !== undefined || variant !== undefined;
  const isOnlyShown = link === undefined && variant === undefined;
  const nobody = isOnlyShown && show !== undefined ? NOBODY[show] : undefined;
  const open = ({ emailId }: Recipient) =>
    void navigate({ to: "/p/$project/emails/$email", params: { project, email: emailId } });
  return (
    <>
      <div className="recipient-filters">
        <Choices
          stats={stats}
          show={show}
          onChange={(next) => onChange({ show: next, link: "" })}
        />
        <ExportButton run={run} isDisabled={list.rows.length === 0} />
      </div>
      {link !== undefined && (
        <p className="recipient-link">
          <span className="muted">Clicked</span>
          <Pill
            withRemoveButton
            removeButtonProps={{
              "aria-label": "Remove the filter of the link",
              "aria-hidden": false,
              tabIndex: 0,
            }}
            onRemove={() => onChange({ link: "" })}
          >
            {link}
          </Pill>
          {list.total !== null && <span className="muted figures">{countText(list.total)}</span>}
        </p>
      )}
      {variant !== undefined && (
        <p className="recipient-link">
          <span className="muted">Got in the test</span>
          <Pill
            withRemoveButton
            removeButtonProps={{
              "aria-label": "Remove the filter of the variant",
              "aria-hidden": false,
              tabIndex: 0,
            }}
            onRemove={() => onChange({ variant: "" })}
          >
            Variant {variant}
          </Pill>
          {list.total !== null && link === undefined && (
            <span className="muted figures">{countText(list.total)}</span>
          )}
        </p>
      )}
      <ExportProgress run={run} />
      <DataTable
        label="Recipients"
        list={list}
        columns={RECIPIENT_COLUMNS}
        rowKey={({ emailId }) => emailId}
        href={({ emailId }) => `/app/p/${project}/emails/${emailId}`}
        onOpen={open}
        phone={recipientLines}
        isFiltered={isFiltered && nobody === undefined}
        onClearFilters={() => onChange({ show: "", link: "", variant: "" })}
        empty={
          <Empty
            icon={Users}
            title={nobody ?? "No recipients yet"}
            text={
              nobody === undefined
                ? "The recipients are listed here as soon as sending starts."
                : "The other recipients are under All."
            }
          />
        }
      />
    </>
  );
}

/** The actions of recipients, with the numbers of recipients. An action of no recipient is left out, unless it is chosen. */
function Choices(props: {
  stats: TabProps["stats"];
  show: string | undefined;
  onChange: (show: string) => void;
}) {
  const { stats, show = "", onChange } = props;
  const choices = [
    { value: "", label: "All", count: stats.totalRecipients },
    { value: "opened", label: "Opened", count: stats.opened },
    { value: "clicked", label: "Clicked", count: stats.clicked },
    { value: "not-opened", label: "Not opened", count: null },
    { value: "bounced", label: "Bounced", count: stats.bounced },
    { value: "complained", label: "Complained", count: stats.complained },
    { value: "unsubscribed", label: "Unsubscribed", count: stats.unsubscribed },
    { value: "failed", label: "Failed", count: stats.failed },
    { value: "suppressed", label: "Suppressed", count: stats.suppressed },
    { value: "cancelled", label: "Cancelled", count: stats.cancelled },
    { value: "waiting", label: "Waiting", count: stats.queued },
  ].filter(({ value, count }) => count !== 0 || value === show || value === "");
  return (
    <div className="recipient-choices" role="group" aria-label="Show recipients who">
      {choices.map(({ value, label, count }) => (
        <Button
          key={value}
          size="compact-sm"
          variant={value === show ? "light" : "default"}
          aria-pressed={value === show}
          onClick={() => onChange(value)}
        >
          {label}
          {count !== null && <span className="recipient-count">{countText(count)}</span>}
        </Button>
      ))}
    </div>
  );
}
